"""What accounts may spend, worked out from the contract's sentences alone: the code is held against this.

Nothing here knows the code's own arithmetic, so that a mistake cannot agree with itself.
"""

from __future__ import annotations

import calendar
import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

PROCESSING, COMPLETED, FAILED = "processing", "completed", "failed"
CLAIM_LASTS, KEY_LASTS = timedelta(seconds=60), timedelta(hours=24)


@dataclass(frozen=True)
class ModelPlan:
    """What a plan gives; ``trial_days`` only for a trial, which cannot be topped up."""

    included: int
    daily_cap: int
    trial_days: int | None = None


@dataclass
class Pot:
    """A trial, one month's volume, or a pack (which has no end)."""

    source: str
    generations: int
    starts_at: datetime
    ends_at: datetime | None
    reserved: int = 0
    settled: int = 0

    @property
    def left(self) -> int:
        return self.generations - self.reserved - self.settled


@dataclass
class ModelJob:
    """A job and where its generation came from; a test key's job has no pot."""

    pot: Pot | None
    day: date
    status: str = PROCESSING
    forgotten: bool = False
    """Whether its row was deleted for its age; the ledger remembers it."""


@dataclass
class DayCount:
    reserved: int = 0
    settled: int = 0


def months_after(anchor: datetime, months: int) -> datetime:
    """The same day of a later month, or that month's last."""
    year, month = divmod(12 * anchor.year + anchor.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return anchor.replace(year=year, month=month + 1, day=min(anchor.day, last))


@dataclass
class AccountModel:
    """One account's money."""

    plan: ModelPlan
    since: datetime
    blocked: bool = False
    volumes: list[Pot] = field(default_factory=list)
    packs: list[Pot] = field(default_factory=list)
    days: defaultdict[date, DayCount] = field(default_factory=lambda: defaultdict(DayCount))
    jobs: dict[uuid.UUID, ModelJob] = field(default_factory=dict)

    @property
    def pots(self) -> list[Pot]:
        return [*self.volumes, *self.packs]

    @property
    def open_jobs(self) -> list[uuid.UUID]:
        return [job_id for job_id, job in self.jobs.items() if job.status == PROCESSING]

    def period(self, now: datetime) -> tuple[datetime, datetime]:
        if self.plan.trial_days is not None:
            return self.since, self.since + timedelta(days=self.plan.trial_days)
        months = 0
        while months_after(self.since, months + 1) <= now:
            months += 1
        return months_after(self.since, months), months_after(self.since, months + 1)

    def volume(self, now: datetime) -> Pot | None:
        """The opened volume of the period that ``now`` is in."""
        start, _ = self.period(now)
        return next((pot for pot in self.volumes if pot.starts_at == start), None)

    def refusal(self, now: datetime) -> str | None:
        """Why a live POST is refused for money, if it is; an empty purse is told before a full day."""
        _, end = self.period(now)
        opened = self.volume(now)
        volume_left = 0 if end <= now else opened.left if opened else self.plan.included
        if volume_left + sum(pack.left for pack in self.packs) == 0:
            return "volume_exhausted" if self.plan.trial_days is None else "trial_ended"
        today = self.days.get(now.date(), DayCount())
        return "daily_cap_reached" if today.reserved + today.settled >= self.plan.daily_cap else None

    def accept(self, job_id: uuid.UUID, now: datetime, *, test: bool) -> None:
        if test:
            self.jobs[job_id] = ModelJob(None, now.date())
            return
        start, end = self.period(now)
        volume = self.volume(now)
        if volume is None:
            source = "included" if self.plan.trial_days is None else "trial"
            volume = Pot(source, self.plan.included, start, end)
            self.volumes.append(volume)
        pot = next(pot for pot in (volume, *self.packs) if pot.left)
        pot.reserved += 1
        self.days[now.date()].reserved += 1
        self.jobs[job_id] = ModelJob(pot, now.date())

    def end(self, job_id: uuid.UUID, status: str) -> None:
        """Only the first ending counts, and it counts where and when the job was accepted."""
        job = self.jobs[job_id]
        if job.status != PROCESSING:
            return
        job.status = status
        if job.pot is not None:
            for counted in (job.pot, self.days[job.day]):
                counted.reserved -= 1
                counted.settled += status == COMPLETED

    def top_up(self, generations: int, now: datetime) -> None:
        self.packs.append(Pot("topup", generations, now, None))

    def change_plan(self, plan: ModelPlan, now: datetime) -> None:
        """The old period ends with whatever was left of it."""
        for volume in self.volumes:
            if volume.ends_at is not None and volume.ends_at > now:
                volume.ends_at = now
        self.plan, self.since = plan, now


@dataclass
class KeyModel:
    """An ``Idempotency-Key``: who holds it, or which job it led to."""

    body: str
    claimed_at: datetime
    holder: object
    job_id: uuid.UUID | None = None

    def lasts(self, now: datetime) -> bool:
        return now - self.claimed_at < (CLAIM_LASTS if self.job_id is None else KEY_LASTS)
