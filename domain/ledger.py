"""What jobs cost: an append-only list of generations reserved, settled and released.

Two guards stand between a job and a double charge, each enough alone: the compare-and-set on the job's status
(`domain.jobs`), and the unique indexes on the ledger.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from domain.tables import LedgerEntry

ONE_GENERATION = 1
"""A job is one generation, a combo too."""


def add_entry(
    session: AsyncSession,
    *,
    account_id: uuid.UUID,
    job_id: uuid.UUID,
    kind: Literal["reserve", "settle", "release"],
    at: datetime,
) -> None:
    """Write one row; the transaction fails if the job has that row, or is closed, already."""
    session.add(
        LedgerEntry(id=uuid.uuid4(), account_id=account_id, job_id=job_id, kind=kind, generations=ONE_GENERATION, at=at)
    )


async def entries_of_job(session: AsyncSession, *, job_id: uuid.UUID) -> list[str]:
    """Kinds of the entries of one job, oldest first."""
    rows = await session.scalars(
        select(LedgerEntry.kind).where(LedgerEntry.job_id == job_id).order_by(LedgerEntry.at, LedgerEntry.kind)
    )
    return list(rows)
