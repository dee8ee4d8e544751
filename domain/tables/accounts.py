"""Accounts, their keys and their settings."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table

_BEING_ERASED = text("erased_at IS NOT NULL AND erasure_finished_at IS NULL")


class Account(Table):
    """Who pays, and whose jobs and keys these are."""

    __tablename__ = "account"
    __table_args__ = (
        # Erasures that somebody has to go on with.
        Index("ix_account_being_erased", "erased_at", sqlite_where=_BEING_ERASED, postgresql_where=_BEING_ERASED),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(320), unique=True)
    plan: Mapped[str] = mapped_column(String(32))
    plan_started_at: Mapped[datetime]
    """When the account took its plan: what monthly periods are counted from."""
    custom_included: Mapped[int | None]
    """Included generations of this account alone, instead of the plan's; likewise the three below."""
    custom_daily_cap: Mapped[int | None]
    custom_monthly_cents: Mapped[int | None]
    custom_extra_cents: Mapped[int | None]
    created_at: Mapped[datetime]
    blocked_at: Mapped[datetime | None]
    blocked_reason: Mapped[str | None] = mapped_column(String(200))
    result_ttl_seconds: Mapped[int | None]
    """How long the owner wants results to be kept, within the service's own setting; none takes that."""
    erased_at: Mapped[datetime | None]
    """When the owner had the account erased. The row stays for the ledger and tells nothing about anybody."""
    erasure_finished_at: Mapped[datetime | None]
    """When the last of what it had stored was gone."""


class ApiKey(Table):
    """An API key, of which only a digest is kept."""

    __tablename__ = "api_key"
    __table_args__ = (CheckConstraint("mode IN ('live', 'test')", name="mode"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    mode: Mapped[str] = mapped_column(String(8))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    prefix: Mapped[str] = mapped_column(String(16))
    last_four: Mapped[str] = mapped_column(String(4))
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Watermark(Table):
    """An account's logo and whether results carry it. There is a row once a logo has been fetched."""

    __tablename__ = "watermark"

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    enabled: Mapped[bool]
    logo_url: Mapped[str] = mapped_column(String(2048))
    logo: Mapped[dict[str, Any]]
    """Reference to the kept copy in the object store."""
    fetched_at: Mapped[datetime]
