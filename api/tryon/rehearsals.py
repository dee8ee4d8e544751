"""What test keys get: fixed product ids give every outcome on demand, without a model and without a bill.

Anything else that a test key sends is a rehearsal that completes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from api.tryon.reading import ReadRequest
from domain.errors import CATALOGUE, TryOnError
from domain.money.plans import seconds_to_next_day
from workflows.contracts import RehearsalScript

SLOW_SECONDS = 15
"""What a try-on on a busy service takes."""

COMPLETED, SLOW = "test_completed", "test_slow"
FAILED, REFUSED = "test_failed_", "test_refused_"

REFUSALS = ("volume_exhausted", "trial_ended", "daily_cap_reached", "rate_limited", "internal", "storage_unavailable")
"""Answers to a POST that a client cannot bring about by sending something wrong."""

RATE_LIMITED_SECONDS = 15


@dataclass(frozen=True)
class Rehearsal:
    """What is to happen.

    Attributes:
        script: What the workflow does.
        refusal: What the POST is answered with instead, if it is to be refused.
    """

    script: RehearsalScript
    refusal: TryOnError | None = None


@cache
def rehearsal_product_ids() -> Mapping[str, str]:
    """Every fixed product id, with what it does."""
    ids = {
        COMPLETED: "The job completes.",
        SLOW: f"The job completes after {SLOW_SECONDS} seconds.",
    }
    for code, entry in CATALOGUE.items():
        if entry.status is None:
            ids[FAILED + code] = f"The job fails with `{code}`: “{entry.sentence}”"
    for code in REFUSALS:
        ids[REFUSED + code] = f"The POST is answered with {CATALOGUE[code].status} and `{code}`."
    return ids


def rehearsal_of(request: ReadRequest) -> Rehearsal:
    """The outcome that the first fixed product id of the request asks for, or a plain completion."""
    known = rehearsal_product_ids()
    for garment in request.garments:
        product_id = garment.fields.product_id
        if product_id is not None and product_id in known:
            return _rehearsal(product_id)
    return Rehearsal(RehearsalScript())


def _rehearsal(product_id: str) -> Rehearsal:
    if product_id == SLOW:
        return Rehearsal(RehearsalScript(delay_seconds=SLOW_SECONDS))
    if product_id.startswith(FAILED):
        return Rehearsal(RehearsalScript(error_code=product_id.removeprefix(FAILED)))
    if product_id.startswith(REFUSED):
        return Rehearsal(RehearsalScript(), _refusal(product_id.removeprefix(REFUSED)))
    return Rehearsal(RehearsalScript())


def _refusal(code: str) -> TryOnError:
    waits = {"daily_cap_reached": seconds_to_next_day(datetime.now(UTC)), "rate_limited": RATE_LIMITED_SECONDS}
    return TryOnError(code, retry_after=waits.get(code))
