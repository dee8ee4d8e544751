"""Jobs, and the keys under which clients repeat a request safely."""

from __future__ import annotations

import uuid
from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table

_OPEN = text("status = 'processing'")
_WITH_RESULT = text("result_key IS NOT NULL")
_UNSTARTED = text("started_at IS NULL AND status = 'processing'")


class Job(Table):
    """One accepted try-on. The row is the truth about its outcome; the workflow about its progress."""

    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint("status IN ('processing', 'completed', 'failed')", name="status"),
        # The outbox: jobs that were accepted and not yet handed to Temporal.
        Index("ix_job_unstarted", "created_at", sqlite_where=_UNSTARTED, postgresql_where=_UNSTARTED),
        Index("ix_job_account_created", "account_id", "created_at"),
        # What the sweeps look for among the rows of ninety days.
        Index("ix_job_open", "created_at", sqlite_where=_OPEN, postgresql_where=_OPEN),
        Index("ix_job_with_result", "expires_at", sqlite_where=_WITH_RESULT, postgresql_where=_WITH_RESULT),
        Index("ix_job_finished", "finished_at"),
        # What the dashboard counts, without a look at the rows: jobs that cost something, by the day they count under.
        Index("ix_job_account_day", "account_id", "counted_on", "status", "generation_ms"),
        # Its lists of one outcome, and why jobs failed.
        Index("ix_job_account_status", "account_id", "status", "created_at", "error_code"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    api_key_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("api_key.id"))
    """Which key asked for it; none for an item of a backfill."""
    allowance_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("allowance.id"))
    """What the job's generation is taken from; none for a job of a test key, which costs nothing."""
    counted_on: Mapped[date | None]
    """The day (UTC) under whose cap it was accepted; none for a job of a test key."""
    kind: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16))
    workflow_input: Mapped[dict[str, Any]]
    """What the workflow is started with: object references and addresses, never pictures."""
    products: Mapped[list[dict[str, Any]] | None]
    """Products that the request named: garment index, product id and revision."""
    created_at: Mapped[datetime]
    deadline_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    erased_at: Mapped[datetime | None]
    """When the caller had it erased."""
    generation_ms: Mapped[int | None]
    result_key: Mapped[str | None] = mapped_column(String(512))
    engine: Mapped[str | None] = mapped_column(String(32))
    report: Mapped[dict[str, Any] | None]
    """Stage timings, hints applied and not applied, checks: what a person asks about a job afterwards."""
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_advice: Mapped[str | None] = mapped_column(String(200))
    """What the end user is told to do about it, where the step that failed knew better than the error catalogue."""


class IdempotencyKey(Table):
    """A client's own name for one POST. A row without a job is a claim: its request is being accepted."""

    __tablename__ = "idempotency_key"

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    """SHA-256 over everything that makes the request this one."""
    claim: Mapped[uuid.UUID]
    """Who is accepting the request; only the holder may complete or give up the row."""
    claimed_at: Mapped[datetime] = mapped_column(index=True)
    job_id: Mapped[uuid.UUID | None]
