"""What Schemathesis has to know beyond the document: texts that its formats stand for, but no schema can describe.

It loads this module by the name in ``schemathesis.toml``. Every strategy gives texts that the service takes, so that
a request made of them is one that has to be accepted.
"""

from __future__ import annotations

import base64
import itertools
import os
import uuid
from datetime import UTC, datetime
from typing import Any

import schemathesis
from hypothesis import strategies as st

from tests.pictures import data_uri, encoded, photo

PICTURES = [
    data_uri(encoded(photo(256, 300))),
    data_uri(encoded(photo(400, 256, seed=1), "PNG"), "image/png"),
    data_uri(encoded(photo(300, 300, seed=2), "WEBP"), "IMAGE/WebP"),
    data_uri(encoded(photo(256, 1024, seed=3).convert("L")), "image/jpg"),
]
ADDRESSES = [
    "https://shop.example/shirt.jpg",
    "https://shop.example:443/a/b?c=d&e=%20#front",
    "HTTPS://bücher.example/kleid.webp",
]

schemathesis.openapi.format("picture-data-uri", st.sampled_from(PICTURES))
schemathesis.openapi.format("public-https-url", st.sampled_from(ADDRESSES))

fresh = itertools.count(os.getpid() % 10_000 * 10_000)
"""Another run calls the same service with the same keys."""


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """No Idempotency-Key twice: with another body it is refused, rightly, and no schema says "never used before"."""
    key = (case.headers or {}).get("Idempotency-Key")
    if key is not None and case.meta is not None and case.meta.generation.mode.is_positive:
        number = f"{next(fresh):08}"
        case.headers["Idempotency-Key"] = key[: -len(number)] + number


def cursor(created_at: datetime, product_id: uuid.UUID) -> str:
    """As `api.cursor` makes them, for a product that need not exist."""
    return base64.urlsafe_b64encode(f"{created_at.isoformat()} {product_id.hex}".encode()).decode()


schemathesis.openapi.format("product-cursor", st.builds(cursor, st.datetimes(timezones=st.just(UTC)), st.uuids()))
