"""The ledger: an append-only list of generations granted, reserved, settled and released.

Two guards stand between a job and a double charge, each enough alone: the compare-and-set on the job's status
(`domain.jobs.jobs`), and the unique indexes on the ledger. Triggers in the database refuse to change or delete a row.
Counters are moved by hand, beside the entries that say why; `check_ledger` recomputes them.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import ColumnElement, case, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from domain.tables import Allowance, DailyUsage, Job, LedgerEntry

ONE_GENERATION = 1  # a job is one generation, a combo too


def add_entry(
    session: Session,
    kind: Literal["grant", "topup", "reserve", "settle", "release"],
    account_id: uuid.UUID,
    allowance_id: uuid.UUID,
    *,
    at: datetime,
    job_id: uuid.UUID | None = None,
    generations: int = ONE_GENERATION,
) -> None:
    """Write that an allowance was opened, or what a job did.

    ``topup`` is a pack that was bought, ``grant`` what a plan gives. The transaction fails if the job has that row, or
    is closed, already.
    """
    movement = {"account_id": account_id, "allowance_id": allowance_id, "job_id": job_id, "generations": generations}
    session.add(LedgerEntry(id=uuid.uuid4(), kind=kind, at=at, **movement))


def entries_of_account(session: Session, *, account_id: uuid.UUID, limit: int) -> Sequence[LedgerEntry]:
    """The account's newest entries, newest first."""
    return session.scalars(
        select(LedgerEntry)
        .where(LedgerEntry.account_id == account_id)
        .order_by(LedgerEntry.at.desc(), LedgerEntry.id)
        .limit(limit)
    ).all()


@dataclass(frozen=True)
class Disagreement:
    """Two places that should say the same of an allowance, a day or a job.

    Attributes:
        counted: What the counters or the job's row say.
        recomputed: What the ledger says; of a day, what its jobs say.
    """

    account_id: uuid.UUID
    subject: str
    counted: str
    recomputed: str


def check_ledger(session: Session) -> list[Disagreement]:
    """Recompute every balance, in a session that only reads and so sees one state of the database throughout."""
    return [*_wrong_allowances(session), *_wrong_days(session), *_wrong_jobs(session), *_lost_reservations(session)]


def _sum(*kinds: str) -> ColumnElement[int]:
    """Generations of the entries of these kinds in a group; 0 for a group without entries."""
    return func.coalesce(func.sum(case((LedgerEntry.kind.in_(kinds), LedgerEntry.generations), else_=0)), 0)


def _count(status: str) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((Job.status == status, 1), else_=0)), 0)


GIVEN, SETTLED, RELEASED = _sum("grant", "topup"), _sum("settle"), _sum("release")
RESERVED = _sum("reserve") - _sum("settle", "release")

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def _wrong_allowances(session: Session) -> list[Disagreement]:
    rows = session.execute(
        select(Allowance, GIVEN, RESERVED, SETTLED)
        .outerjoin(LedgerEntry, LedgerEntry.allowance_id == Allowance.id)
        .group_by(Allowance.id)
        .having(or_(Allowance.generations != GIVEN, Allowance.reserved != RESERVED, Allowance.settled != SETTLED))
    )
    said = "{} given, {} reserved, {} settled"
    return [
        Disagreement(
            each.account_id,
            f"{each.source} allowance {each.id}",
            said.format(each.generations, each.reserved, each.settled),
            said.format(given, reserved, settled),
        )
        for each, given, reserved, settled in rows
    ]


def _wrong_days(session: Session) -> list[Disagreement]:
    """Days of which all jobs are still kept: those after the last day of a job whose row is gone."""
    gone = session.scalar(
        select(func.max(LedgerEntry.at))
        .outerjoin(Job, Job.id == LedgerEntry.job_id)
        .where(LedgerEntry.kind == "reserve", Job.id.is_(None))
    )
    reserved, settled = _count("processing"), _count("completed")
    rows = session.execute(
        select(DailyUsage, reserved, settled)
        .outerjoin(Job, (Job.account_id == DailyUsage.account_id) & (Job.counted_on == DailyUsage.day))
        .where(DailyUsage.day > (gone or LONG_AGO).astimezone(UTC).date())
        .group_by(DailyUsage.account_id, DailyUsage.day)
        .having(or_(reserved != DailyUsage.reserved, settled != DailyUsage.settled))
    )
    return [
        Disagreement(
            each.account_id,
            f"day {each.day}",
            f"{each.reserved} reserved, {each.settled} settled",
            f"{in_progress} in progress, {completed} completed",
        )
        for each, in_progress, completed in rows
    ]


def _wrong_jobs(session: Session) -> list[Disagreement]:
    reserves, ended = (
        _sum("reserve"),
        {name: case((Job.status == name, 1), else_=0) for name in ("completed", "failed")},
    )
    rows = session.execute(
        select(Job.account_id, Job.id, Job.status, reserves, SETTLED, RELEASED)
        .outerjoin(LedgerEntry, LedgerEntry.job_id == Job.id)
        .where(Job.allowance_id.is_not(None))
        .group_by(Job.id)
        .having(or_(reserves != 1, ended["completed"] != SETTLED, ended["failed"] != RELEASED))
    )
    return [
        Disagreement(
            account_id, f"job {job_id}", status, f"{reserved} reserved, {settled} settled, {released} released"
        )
        for account_id, job_id, status, reserved, settled, released in rows
    ]


def _lost_reservations(session: Session) -> list[Disagreement]:
    """Reservations that nobody will ever close: their job is not there."""
    job_id: InstrumentedAttribute[uuid.UUID | None] = LedgerEntry.job_id
    rows = session.execute(
        select(LedgerEntry.account_id, job_id)
        .outerjoin(Job, Job.id == job_id)
        .where(job_id.is_not(None), Job.id.is_(None))
        .group_by(LedgerEntry.account_id, job_id)
        .having(RESERVED != 0)
    )
    return [Disagreement(row.account_id, f"job {row.job_id}", "no such job", "1 reserved") for row in rows]
