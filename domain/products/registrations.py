"""One registration: one request to add or change a product, from its pictures' upload to its row.

A registration's pictures lie in a folder of its own, so that two changes of one product at the same time, or one
step that runs twice, never write over a picture that a row or a job refers to.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

_STAMP = "%Y%m%dT%H%M%SZ"
_REGISTRATION = re.compile(r"(\d{8}T\d{6}Z)-([0-9a-f]{32})")


def new_registration_id(now: datetime | None = None) -> str:
    """When it began, in UTC and to the second, and 32 hexadecimal digits that are nobody else's."""
    return f"{(now or datetime.now(UTC)).astimezone(UTC):{_STAMP}}-{uuid.uuid4().hex}"


def began_at(registration_id: str) -> datetime | None:
    """When a registration began; ``None`` for a text that is none."""
    match = _REGISTRATION.fullmatch(registration_id)
    try:
        return datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC) if match else None
    except ValueError:
        return None


def product_id_of(registration_id: str) -> uuid.UUID:
    """The id of the product that a registration adds, if it adds one: the same however often a step is repeated.

    Raises:
        ValueError: It is no registration's id.
    """
    match = _REGISTRATION.fullmatch(registration_id)
    if match is None:
        raise ValueError(f"{registration_id!r} is no registration")
    return uuid.UUID(match[2])
