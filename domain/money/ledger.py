"""The ledger: an append-only list of generations granted, reserved, settled and released.

Two guards stand between a job and a double charge, each enough alone: the compare-and-set on the job's status
(`domain.jobs.jobs`), and the unique indexes on the ledger. Triggers in the database refuse to change or delete a row.
Counters are moved by hand, beside the entries that say why; `check_ledger` recomputes them.

Its owner reads each movement with what was left afterwards of the allowance that moved (a period's volume, or one
pack): that stays true when a period ends, which a sum over all of them would not.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import ColumnElement, Select, and_, case, func, not_, or_, select
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
    session.add(
        LedgerEntry(
            id=uuid.uuid4(),
            account_id=account_id,
            allowance_id=allowance_id,
            job_id=job_id,
            kind=kind,
            generations=generations,
            at=at,
        )
    )


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
    """What counters or a job's row say of an allowance, a day or a job, and what the ledger or a day's jobs say."""

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
    reserves = _sum("reserve")
    completed, failed = (case((Job.status == status, 1), else_=0) for status in ("completed", "failed"))
    rows = session.execute(
        select(Job.account_id, Job.id, Job.status, reserves, SETTLED, RELEASED)
        .outerjoin(LedgerEntry, LedgerEntry.job_id == Job.id)
        .where(Job.allowance_id.is_not(None))
        .group_by(Job.id)
        .having(or_(reserves != 1, completed != SETTLED, failed != RELEASED))
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


Place = tuple[datetime, int, uuid.UUID]  # where an entry stands among those of its account

_step = case((LedgerEntry.kind.in_(("grant", "topup")), 0), (LedgerEntry.kind == "reserve", 1), else_=2)
"""The order of entries of one moment: what opens an allowance comes before what is taken from it."""

_change = case(
    (LedgerEntry.kind.in_(("grant", "topup", "release")), LedgerEntry.generations),
    (LedgerEntry.kind == "reserve", -LedgerEntry.generations),
    else_=0,
)
"""What an entry adds to what can still be reserved of its allowance."""


@dataclass(frozen=True)
class Movement:
    """One entry.

    Attributes:
        change: Generations that can be spent more, or less, since.
        left: Generations of this allowance that could be spent afterwards.
        source: What the allowance is: ``trial``, ``included`` or ``topup``.
    """

    place: Place
    kind: str
    change: int
    left: int
    source: str
    allowance_id: uuid.UUID
    job_id: uuid.UUID | None

    @property
    def at(self) -> datetime:
        """When it was written."""
        return self.place[0]


def page_of_account(
    session: Session, *, account_id: uuid.UUID, limit: int, after: Place | None = None
) -> list[Movement]:
    """Movements of an account, newest first, from the one after ``after``.

    What was left is counted back from what is left now, so that a first page looks at no older entry.
    """
    query = _entries(account_id).order_by(LedgerEntry.at.desc(), _step.desc(), LedgerEntry.id.desc()).limit(limit)
    if after is not None:
        query = query.where(_before(after))
    rows = session.execute(query).all()
    if not rows:
        return []
    left = _left_after(session, account_id, {row.LedgerEntry.allowance_id for row in rows}, after)
    movements = []
    for entry, step, change, source in rows:
        movements.append(_movement(entry, step, change, left[entry.allowance_id], source))
        left[entry.allowance_id] -= change
    return movements


def read_from_the_first(
    session: Session, *, account_id: uuid.UUID, limit: int, left: dict[uuid.UUID, int], after: Place | None = None
) -> list[Movement]:
    """Movements of an account, oldest first, from the one after ``after``.

    ``left`` is what is left of each allowance so far: empty at first, and carried from page to page. Another
    transaction for each page will do, since entries are only ever added.
    """
    query = _entries(account_id).order_by(LedgerEntry.at, _step, LedgerEntry.id).limit(limit)
    if after is not None:
        query = query.where(LedgerEntry.at >= after[0], not_(_before(after)), LedgerEntry.id != after[2])
    movements = []
    for entry, step, change, source in session.execute(query):
        left[entry.allowance_id] = left.get(entry.allowance_id, 0) + change
        movements.append(_movement(entry, step, change, left[entry.allowance_id], source))
    return movements


def _entries(account_id: uuid.UUID) -> Select[LedgerEntry, int, int, str]:
    return (
        select(LedgerEntry, _step.label("step"), _change.label("change"), Allowance.source)
        .join(Allowance, Allowance.id == LedgerEntry.allowance_id)
        .where(LedgerEntry.account_id == account_id)
    )


def _left_after(
    session: Session, account_id: uuid.UUID, allowance_ids: set[uuid.UUID], after: Place | None
) -> dict[uuid.UUID, int]:
    """What was left of these allowances at a place: what is left now, less what moved since."""
    allowances = session.scalars(select(Allowance).where(Allowance.id.in_(allowance_ids)))
    left = {each.id: each.left for each in allowances}
    if after is not None:
        moved = session.execute(
            select(LedgerEntry.allowance_id, func.sum(_change))
            .where(LedgerEntry.account_id == account_id, LedgerEntry.at >= after[0], not_(_before(after)))
            .group_by(LedgerEntry.allowance_id)
        )
        for allowance_id, change in moved:
            if allowance_id in left:
                left[allowance_id] -= int(change)
    return left


def _before(place: Place) -> ColumnElement[bool]:
    """Entries older than the one there. The first comparison is what an index can be searched by."""
    at, step, entry_id = place
    return and_(
        LedgerEntry.at <= at,
        or_(LedgerEntry.at < at, _step < step, and_(_step == step, LedgerEntry.id < entry_id)),
    )


def _movement(entry: LedgerEntry, step: int, change: int, left: int, source: str) -> Movement:
    return Movement((entry.at, step, entry.id), entry.kind, change, left, source, entry.allowance_id, entry.job_id)
