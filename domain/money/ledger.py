"""The ledger: an append-only list of generations granted, reserved, settled and released.

Two guards stand between a job and a double charge, each enough alone: the compare-and-set on the job's status
(`domain.jobs.jobs`), and the unique indexes on the ledger. Triggers in the database refuse to change or delete a row.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from domain.tables import Allowance, LedgerEntry

ONE_GENERATION = 1
"""A job is one generation, a combo too."""


def add_job_entry(
    session: Session,
    *,
    account_id: uuid.UUID,
    allowance_id: uuid.UUID,
    job_id: uuid.UUID,
    kind: Literal["reserve", "settle", "release"],
    at: datetime,
) -> None:
    """Write what a job did; the transaction fails if the job has that row, or is closed, already."""
    session.add(
        LedgerEntry(
            id=uuid.uuid4(),
            account_id=account_id,
            allowance_id=allowance_id,
            job_id=job_id,
            kind=kind,
            generations=ONE_GENERATION,
            at=at,
        )
    )


def add_allowance_entry(session: Session, allowance: Allowance, *, at: datetime) -> None:
    """Write that an allowance was opened: ``topup`` for a pack that was bought, ``grant`` for what a plan gives."""
    session.add(
        LedgerEntry(
            id=uuid.uuid4(),
            account_id=allowance.account_id,
            allowance_id=allowance.id,
            kind="topup" if allowance.source == "topup" else "grant",
            generations=allowance.generations,
            at=at,
        )
    )


def entries_of_job(session: Session, *, job_id: uuid.UUID) -> list[str]:
    """Kinds of the entries of one job, oldest first."""
    rows = session.scalars(
        select(LedgerEntry.kind).where(LedgerEntry.job_id == job_id).order_by(LedgerEntry.at, LedgerEntry.kind)
    )
    return list(rows)


def entries_of_account(session: Session, *, account_id: uuid.UUID, limit: int) -> Sequence[LedgerEntry]:
    """The account's newest entries, newest first."""
    return (
        session.scalars(
            select(LedgerEntry)
            .where(LedgerEntry.account_id == account_id)
            .order_by(LedgerEntry.at.desc(), LedgerEntry.id)
            .limit(limit)
        )
    ).all()
