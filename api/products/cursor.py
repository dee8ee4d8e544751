"""Where a page of products ended, as a text that callers hand back and need not understand."""

from __future__ import annotations

import base64
import uuid
from datetime import UTC, datetime

from domain.errors import TryOnError
from domain.tables import Product


def cursor_after(product: Product) -> str:
    """The cursor of the page that follows this product."""
    return base64.urlsafe_b64encode(f"{product.created_at.isoformat()} {product.id.hex}".encode()).decode()


def read_cursor(cursor: str) -> tuple[datetime, uuid.UUID]:
    """When the last product of the page before was added, and its id.

    Raises:
        TryOnError: ``field_invalid``.
    """
    try:
        created_at, _, product_id = base64.urlsafe_b64decode(cursor).decode().partition(" ")
        moment = datetime.fromisoformat(created_at)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        # In UTC, a moment near either end of the calendar may be past it: the database's driver must not find that out.
        return moment.astimezone(UTC), uuid.UUID(product_id)
    except (ValueError, OverflowError):
        raise TryOnError("field_invalid", "cursor: must be the nextCursor of a page before.") from None
