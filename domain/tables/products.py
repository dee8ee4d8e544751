"""Registered garments."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table


class Product(Table):
    """A garment of an account's catalogue, with pictures of its own in the object store."""

    __tablename__ = "product"
    __table_args__ = (
        CheckConstraint("status IN ('active', 'archived')", name="status"),
        CheckConstraint("category IN ('upper_body', 'lower_body', 'full_body')", name="category"),
        UniqueConstraint("account_id", "external_id"),
        Index("ix_product_account_created", "account_id", "created_at", "id"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"))
    external_id: Mapped[str | None] = mapped_column(String(128))
    """The caller's own name for it, such as a SKU."""
    name: Mapped[str] = mapped_column(String(200))
    category: Mapped[str] = mapped_column(String(16))
    garment_category: Mapped[str | None] = mapped_column(String(64))
    front: Mapped[dict[str, Any]]
    """Reference to the front picture in the object store."""
    back: Mapped[dict[str, Any] | None]
    garment_state: Mapped[str | None] = mapped_column(String(8))
    tuck_state: Mapped[str | None] = mapped_column(String(8))
    size: Mapped[str | None] = mapped_column(String(32))
    status: Mapped[str] = mapped_column(String(16))
    revision: Mapped[int]
    """Counts up with every change; a job notes the one it used."""
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
