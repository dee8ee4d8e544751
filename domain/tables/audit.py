"""What operators did."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table


class AuditEntry(Table):
    """One act of an operator. Rows are only ever added; triggers refuse everything else."""

    __tablename__ = "audit_entry"
    __table_args__ = (Index("ix_audit_entry_at", "at", "id"), Index("ix_audit_entry_account", "account_id", "at"))

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    operator_id: Mapped[uuid.UUID | None]
    """Account of who did it; none for the command line. No foreign key: the log outlives accounts."""
    action: Mapped[str] = mapped_column(String(64))
    account_id: Mapped[uuid.UUID | None]
    """To whose account it was done."""
    details: Mapped[dict[str, Any]]
