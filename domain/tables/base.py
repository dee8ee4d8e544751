"""The tables, in one place so that migrations see all of them. Queries live in the module of their subject."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    MetaData,
    String,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in UTC on both databases; SQLite has no time zones of its own."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a datetime without a time zone cannot be stored")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Table(DeclarativeBase):
    """Base of every table; constraint names are the same on every database so that migrations can name them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcDateTime(), dict[str, Any]: JSON()}  # noqa: RUF012  # SQLAlchemy's own idiom


class Account(Table):
    """Who pays, and whose jobs and keys these are."""

    __tablename__ = "account"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(320), unique=True)
    plan: Mapped[str] = mapped_column(String(32))
    created_at: Mapped[datetime]
    blocked_at: Mapped[datetime | None]


class ApiKey(Table):
    """An API key, of which only a digest is kept."""

    __tablename__ = "api_key"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    prefix: Mapped[str] = mapped_column(String(16))
    last_four: Mapped[str] = mapped_column(String(4))
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class Job(Table):
    """One accepted try-on. The row is the truth about its outcome; the workflow about its progress."""

    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint("status IN ('processing', 'completed', 'failed')", name="status"),
        # The outbox: jobs that were accepted and not yet handed to Temporal.
        Index(
            "ix_job_unstarted",
            "created_at",
            sqlite_where=text("started_at IS NULL AND status = 'processing'"),
            postgresql_where=text("started_at IS NULL AND status = 'processing'"),
        ),
        Index("ix_job_account_created", "account_id", "created_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    api_key_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("api_key.id"))
    kind: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16))
    workflow_input: Mapped[dict[str, Any]]
    """What the workflow is started with: object references and addresses, never pictures."""
    created_at: Mapped[datetime]
    deadline_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    generation_ms: Mapped[int | None]
    result_key: Mapped[str | None] = mapped_column(String(512))
    engine: Mapped[str | None] = mapped_column(String(32))
    report: Mapped[dict[str, Any] | None]
    """Stage timings, hints applied and not applied, checks: what a person asks about a job afterwards."""
    error_code: Mapped[str | None] = mapped_column(String(64))


class LedgerEntry(Table):
    """What a job did to the account's generations. Rows are only ever added."""

    __tablename__ = "ledger"
    __table_args__ = (
        CheckConstraint("kind IN ('reserve', 'settle', 'release')", name="kind"),
        UniqueConstraint("job_id", "kind"),
        # A reservation is closed once: either settled or released.
        Index(
            "uq_ledger_job_closed",
            "job_id",
            unique=True,
            sqlite_where=text("kind IN ('settle', 'release')"),
            postgresql_where=text("kind IN ('settle', 'release')"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    job_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("job.id"))
    kind: Mapped[str] = mapped_column(String(16))
    generations: Mapped[int]
    at: Mapped[datetime]
