"""What answers say in their headers about when to ask again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Remaining:
    """One policy of a ``RateLimit`` header.

    Attributes:
        requests: How many may still be sent.
        seconds: When there will be more.
    """

    requests: int
    seconds: int


def retry_after_seconds(headers: httpx.Headers) -> float | None:
    """``Retry-After`` in seconds from now, whether it is a number or a date (RFC 9110, 10.2.3)."""
    text = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}", text, re.ASCII):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


def remaining_requests(headers: httpx.Headers) -> list[Remaining]:
    """The policies of the ``RateLimit`` header that tell both numbers; what cannot be read is left out."""
    policies = []
    # The name of a policy may hold anything, commas and semicolons too.
    for policy in QUOTED.sub("", headers.get("RateLimit", "")).split(","):
        numbers = dict(re.findall(r";\s*([rt])=(\d{1,9})(?![\d.])", policy, re.ASCII))
        if numbers.keys() == {"r", "t"}:
            policies.append(Remaining(int(numbers["r"]), int(numbers["t"])))
    return policies


def was_held(headers: httpx.Headers) -> bool:
    """Whether the server honoured ``Prefer: wait`` (RFC 7240)."""
    applied = headers.get("Preference-Applied", "")
    return any(part.partition("=")[0].strip().lower() == "wait" for part in re.split(r"[,;]", applied))
