"""How an account's jobs went lately, in figures. Jobs of test keys are left out: nothing is drawn for them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from domain.jobs.jobs import COMPLETED, FAILED, PROCESSING
from domain.tables import ApiKey, Job, Product


@dataclass(frozen=True)
class Day:
    """Jobs that count under one day (UTC), by what became of them."""

    day: date
    completed: int = 0
    failed: int = 0
    processing: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.completed + self.failed + self.processing


@dataclass(frozen=True)
class Durations:
    """How long completed jobs took, from acceptance to the end.

    Attributes:
        count: Of how many jobs this is said.
        p50: Milliseconds that half of them did not exceed; none of no jobs.
        p95: Milliseconds that 95 of 100 did not exceed.
    """

    count: int
    p50: int | None
    p95: int | None


@dataclass(frozen=True)
class Failure:
    """A job that failed, and why, as in its row."""

    job_id: uuid.UUID
    at: datetime
    error_code: str
    error_advice: str | None


@dataclass(frozen=True)
class FirstSteps:
    """What a new account has done by now."""

    tried: bool
    has_key: bool
    has_product: bool

    @property
    def done(self) -> bool:
        """All of it."""
        return self.tried and self.has_key and self.has_product


def jobs_per_day(session: Session, *, account_id: uuid.UUID, first: date, last: date) -> list[Day]:
    """Every day from ``first`` to ``last``, those without a job too."""
    rows = session.execute(
        select(Job.counted_on, Job.status, func.count().label("jobs"))
        .where(Job.account_id == account_id, Job.counted_on >= first, Job.counted_on <= last)
        .group_by(Job.counted_on, Job.status)
    )
    counts = {(row.counted_on, row.status): row.jobs for row in rows}
    days = [first + timedelta(days=offset) for offset in range((last - first).days + 1)]
    return [Day(day, *(counts.get((day, status), 0) for status in (COMPLETED, FAILED, PROCESSING))) for day in days]


def durations_since(session: Session, *, account_id: uuid.UUID, first: date) -> Durations:
    """Of completed jobs from this day on: the nearest ranks, which are times that a job really took."""
    ranked = (
        select(
            Job.generation_ms,
            func.row_number().over(order_by=Job.generation_ms).label("rank"),
            func.count().over().label("jobs"),
        )
        .where(
            Job.account_id == account_id,
            Job.counted_on >= first,
            Job.status == COMPLETED,
            Job.generation_ms.is_not(None),
        )
        .subquery()
    )
    ranks = [(ranked.c.jobs * percent + 99) // 100 for percent in (50, 95)]
    rows = (
        session.execute(
            select(ranked.c.generation_ms, ranked.c.jobs).where(ranked.c.rank.in_(ranks)).order_by(ranked.c.rank)
        )
    ).all()
    # Of a single job both ranks are the same.
    return Durations(rows[0].jobs, rows[0].generation_ms, rows[-1].generation_ms) if rows else Durations(0, None, None)


def last_failures(session: Session, *, account_id: uuid.UUID, limit: int) -> Sequence[Failure]:
    """The newest jobs that failed, newest first."""
    rows = session.execute(
        select(Job.id, Job.created_at, Job.error_code, Job.error_advice)
        .where(Job.account_id == account_id, Job.status == FAILED, Job.allowance_id.is_not(None))
        .order_by(Job.created_at.desc())
        .limit(limit)
    )
    return [Failure(row.id, row.created_at, row.error_code or "", row.error_advice) for row in rows]


def first_steps(session: Session, *, account_id: uuid.UUID) -> FirstSteps:
    """Whether the account has ever had a job, a key and a product, as far as rows are kept."""
    rows = session.execute(
        select(*(select(table.id).where(table.account_id == account_id).exists() for table in (Job, ApiKey, Product)))
    )
    return FirstSteps(*(bool(each) for each in rows.one()))
