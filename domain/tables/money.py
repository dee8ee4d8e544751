"""What accounts may spend, and the ledger of what they spent."""

from __future__ import annotations

import uuid
from datetime import date, datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table

_CLOSING = text("kind IN ('settle', 'release')")
_PERIODIC = text("source IN ('trial', 'included')")


class Allowance(Table):
    """A number of generations an account may spend: a trial, one period's included volume, or a top-up pack.

    The counters move by conditional updates only; the checks stand behind those.
    """

    __tablename__ = "allowance"
    __table_args__ = (
        CheckConstraint("source IN ('trial', 'included', 'topup')", name="source"),
        CheckConstraint("reserved >= 0 AND settled >= 0", name="counters"),
        CheckConstraint("reserved + settled <= generations", name="not_overspent"),
        Index("ix_allowance_account_id", "account_id"),
        # A period's volume is opened once, by whichever request comes first in it.
        Index(
            "uq_allowance_period",
            "account_id",
            "source",
            "starts_at",
            unique=True,
            sqlite_where=_PERIODIC,
            postgresql_where=_PERIODIC,
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    source: Mapped[str] = mapped_column(String(16))
    generations: Mapped[int]
    reserved: Mapped[int]
    """Generations of jobs in progress."""
    settled: Mapped[int]
    """Generations of completed jobs."""
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime | None]
    """None for a top-up pack: it does not expire."""
    price_cents: Mapped[int]
    """What was asked for it, in US cents."""

    @property
    def left(self) -> int:
        """Generations that can still be reserved."""
        return self.generations - self.reserved - self.settled


class DailyUsage(Table):
    """How many generations an account started on one day (UTC) and did not get back."""

    __tablename__ = "daily_usage"
    __table_args__ = (CheckConstraint("reserved >= 0 AND settled >= 0", name="counters"),)

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    reserved: Mapped[int]
    settled: Mapped[int]


class LedgerEntry(Table):
    """One movement of generations. Rows are only ever added; triggers refuse everything else."""

    __tablename__ = "ledger"
    __table_args__ = (
        CheckConstraint("kind IN ('grant', 'topup', 'reserve', 'settle', 'release')", name="kind"),
        UniqueConstraint("job_id", "kind"),
        # An account's entries in the order they are shown.
        Index("ix_ledger_account_at", "account_id", "at"),
        # A reservation is closed once: either settled or released.
        Index("uq_ledger_job_closed", "job_id", unique=True, sqlite_where=_CLOSING, postgresql_where=_CLOSING),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    allowance_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("allowance.id"), index=True)
    job_id: Mapped[uuid.UUID | None]
    """No foreign key: the ledger outlives the jobs' rows."""
    kind: Mapped[str] = mapped_column(String(16))
    generations: Mapped[int]
    at: Mapped[datetime]
