"""What accounts asked to buy."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table


class Payment(Table):
    """One purchase: a top-up pack, or a plan. It is closed once, and a pack is credited in that transaction."""

    __tablename__ = "payment"
    __table_args__ = (
        CheckConstraint("kind IN ('topup', 'plan')", name="kind"),
        CheckConstraint("status IN ('open', 'paid', 'rejected')", name="status"),
        UniqueConstraint("provider", "reference"),
        Index("ix_payment_account_created", "account_id", "created_at"),
        Index("ix_payment_status_created", "status", "created_at"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    kind: Mapped[str] = mapped_column(String(16))
    generations: Mapped[int | None]
    """Size of the pack; none for a plan."""
    plan: Mapped[str | None] = mapped_column(String(32))
    price_cents: Mapped[int]
    """US cents, as they were shown when it was ordered."""
    provider: Mapped[str] = mapped_column(String(16))
    reference: Mapped[str | None] = mapped_column(String(255))
    """What the provider calls it."""
    status: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    closed_by: Mapped[uuid.UUID | None]
    """Account of the operator who decided, or of the owner who withdrew it; none where the provider or the command line
    did."""
    note: Mapped[str | None] = mapped_column(String(200))
    """Why it was rejected, for the owner."""
    allowance_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("allowance.id"))
    """The pack that was credited."""
