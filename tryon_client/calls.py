"""Every request that the API knows, built and not yet sent."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Unpack
from urllib.parse import quote, urlencode

from tryon_client.garments import Garments, Hints, as_garments, wire_fields
from tryon_client.pictures import Picture, as_inline

TRY_ON, COMBO = "/api/v1/tryon", "/api/v1/tryon/combo"
PRODUCTS, USAGE = "/api/v1/products", "/api/v1/usage"
LONGEST_KEY = 255
"""Characters of an ``Idempotency-Key``."""

COPYING_SECONDS = 30
"""How much longer an answer may take for which the service fetches pictures from a shop."""


@dataclass(frozen=True)
class Call:
    """One HTTP request.

    Attributes:
        method: Its method.
        path: Its path, with the query.
        headers: Those beyond what every request carries.
        content: Its body, if it has one. The bytes stay the same over retries.
        held_seconds: How much longer than usual the server may take to answer, because it was asked to.
        pause: Seconds to wait before it is sent.
        paced: Whether it counts against the rate limit that polls have to keep.
        repeatable: Whether sending it twice does no more than sending it once.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = field(default=None, repr=False)
    held_seconds: int = 0
    pause: float = 0.0
    paced: bool = False
    repeatable: bool = True


def start_try_on(person: Picture, garments: Garments, idempotency_key: str | None, **hints: Unpack[Hints]) -> Call:
    """Start a job: with one garment, or a look of two to four.

    Raises:
        ValueError: A picture, the garments or the key cannot be used.
        TypeError: Hints for several garments.
        OSError: A picture's file cannot be read.
    """
    items = as_garments(garments, **hints)
    photo = {"customerPhotoBase64": as_inline(person, "person")}
    if len(items) == 1:
        single = {**photo, **items[0].wire("garment")}
        return replace(_post(TRY_ON, single, idempotency_key), paced=True)
    look = [item.wire(f"garment {number}") for number, item in enumerate(items, 1)]
    return replace(_post(COMBO, {**photo, "garments": look}, idempotency_key), paced=True)


def poll(job_id: str, wait: int | None = None, pause: float = 0.0) -> Call:
    """Ask how a job stands; with ``wait``, the server may hold the answer until it has ended.

    Raises:
        ValueError: No job's id, or a negative wait.
    """
    path = f"{TRY_ON}/{_segment(job_id)}"
    if not wait:
        return Call("GET", path, pause=pause, paced=True)
    if wait < 0:
        raise ValueError("wait is in seconds from now")
    return Call("GET", path, {"Prefer": f"wait={wait}"}, held_seconds=wait, pause=pause, paced=True)


def delete_job(job_id: str) -> Call:
    """Delete a job and its picture."""
    return Call("DELETE", f"{TRY_ON}/{_segment(job_id)}")


def get_usage() -> Call:
    """What the account has used."""
    return Call("GET", USAGE)


def create_product(fields: Mapping[str, object]) -> Call:
    """Register a garment, or change the one that has its ``external_id`` already.

    Only the ``external_id`` makes a second sending harmless.
    """
    wire = wire_fields(fields, "product")
    body = {name: value for name, value in wire.items() if value is not None}
    return replace(_post(PRODUCTS, body, None), held_seconds=COPYING_SECONDS, repeatable="externalId" in body)


def list_products(status: str, limit: int | None, cursor: str | None) -> Call:
    """One page of the catalogue."""
    query = {"status": status, "limit": limit, "cursor": cursor}
    given = urlencode({name: value for name, value in query.items() if value is not None})
    return Call("GET", f"{PRODUCTS}?{given}" if given else PRODUCTS)


def get_product(product_id: str) -> Call:
    """One product."""
    return Call("GET", f"{PRODUCTS}/{_segment(product_id)}")


def update_product(product_id: str, changes: Mapping[str, object]) -> Call:
    """Change what is given; ``None`` empties a field that may be empty."""
    body = _json(wire_fields(changes, "product"))
    path = f"{PRODUCTS}/{_segment(product_id)}"
    return Call("PATCH", path, {"Content-Type": "application/json"}, body, held_seconds=COPYING_SECONDS)


def archive_product(product_id: str) -> Call:
    """Take a product out of the catalogue."""
    return Call("DELETE", f"{PRODUCTS}/{_segment(product_id)}")


def _post(path: str, body: Mapping[str, object], idempotency_key: str | None) -> Call:
    key = idempotency_key if idempotency_key is not None else str(uuid.uuid4())
    if not 1 <= len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise ValueError(f"an idempotency_key has 1 to {LONGEST_KEY} printable ASCII characters")
    return Call("POST", path, {"Content-Type": "application/json", "Idempotency-Key": key}, _json(body))


def _json(body: Mapping[str, object]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def _segment(identifier: str) -> str:
    """An identifier as one part of a path, whatever characters are in it."""
    if not identifier.strip("."):
        raise ValueError(f"{identifier!r} identifies nothing")
    return quote(identifier, safe="")
