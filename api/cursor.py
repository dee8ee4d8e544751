"""Where a page of a list ended that is sorted by age, as a text that callers hand back and need not understand."""

from __future__ import annotations

import base64
import uuid
from datetime import UTC, datetime
from typing import Protocol

from domain.errors import TryOnError
from domain.tables import Place


class Aged(Protocol):
    """A line of such a list."""

    @property
    def id(self) -> uuid.UUID: ...
    @property
    def created_at(self) -> datetime: ...


def cursor_after(last: Aged) -> str:
    """The cursor of the page that follows this line."""
    return cursor_at((last.created_at, last.id))


def cursor_at(place: Place) -> str:
    """The cursor of the page that begins after this place."""
    moment, row_id = place
    return base64.urlsafe_b64encode(f"{moment.isoformat()} {row_id.hex}".encode()).decode()


def read_cursor(cursor: str) -> Place:
    """When the last line of the page before was added, and its id.

    Raises:
        TryOnError: ``field_invalid``.
    """
    try:
        text, _, identifier = base64.urlsafe_b64decode(cursor).decode().partition(" ")
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        # In UTC, a moment near either end of the calendar may be past it: the database's driver must not find that out.
        return moment.astimezone(UTC), uuid.UUID(identifier)
    except (ValueError, OverflowError):
        raise TryOnError("field_invalid", fields={"cursor": "must be the nextCursor of an earlier page."}) from None
