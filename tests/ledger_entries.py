"""What tests ask of the ledger."""

from __future__ import annotations

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from domain.tables import LedgerEntry


def entries_of_job(session: Session, *, job_id: uuid.UUID) -> list[str]:
    """Kinds of the entries of one job, oldest first."""
    query = select(LedgerEntry.kind).where(LedgerEntry.job_id == job_id).order_by(LedgerEntry.at, LedgerEntry.kind)
    return list(session.scalars(query))
