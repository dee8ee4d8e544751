"""What became of the items of backfills."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table


class BackfillItem(Table):
    """One item by its account's own name for it. A backfill that meets a name again skips what is done."""

    __tablename__ = "backfill_item"
    __table_args__ = (
        Index("ix_backfill_item_job", "job_id"),
        Index("ix_backfill_item_touched", "touched_at"),
    )

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    job_id: Mapped[uuid.UUID]
    """The newest job that was accepted for it. Job rows go after a while, so nothing ties the two tables."""
    backfill_id: Mapped[str] = mapped_column(String(64))
    """The backfill that had this job accepted."""
    result_key: Mapped[str | None] = mapped_column(String(512))
    """Where the backfill keeps the picture; none until it does."""
    touched_at: Mapped[datetime]
