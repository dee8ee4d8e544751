"""The ledger as its owner reads it: each movement with what was left afterwards.

What is left is told of the allowance that moved (a period's volume, or one pack): that stays true when a period ends,
which a sum over all of them would not.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, case, func, not_, or_, select
from sqlalchemy.orm import Session

from domain.tables import Allowance, LedgerEntry

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
        kind: ``grant``, ``topup``, ``reserve``, ``settle`` or ``release``.
        change: Generations that can be spent more, or less, since.
        left: Generations of this allowance that could be spent afterwards.
        source: What the allowance is: ``trial``, ``included`` or ``topup``.
        job_id: Whose generation it was, for the last three kinds.
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
