"""What the service answers: successes as types, refusals as errors, and headers as numbers."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx

from tryon_client.calls import decode_data_uri
from tryon_client.errors import (
    AccountBlocked,
    AuthenticationFailed,
    Conflict,
    DailyCapReached,
    IdempotencyConflict,
    InvalidRequest,
    NotFound,
    PaymentRequired,
    RateLimited,
    ServiceUnavailable,
    TryOnApiError,
    UnexpectedAnswer,
)

COMPLETED, FAILED = "completed", "failed"


@dataclass(frozen=True)
class Job:
    """A try-on that was accepted.

    Attributes:
        job_id: What to ask for it by.
        replayed: Whether an earlier request with the same ``Idempotency-Key`` had started it.
    """

    job_id: str
    replayed: bool = False


@dataclass(frozen=True)
class JobStatus:
    """How a job stands.

    Attributes:
        job_id: The job.
        status: ``processing``, ``completed`` or ``failed``.
        image: The picture, a JPEG file, once it is completed.
        generation_ms: How long it took, once it is completed.
        error: Why it failed, for the shopper.
        code: The service's own code for why it failed.
    """

    job_id: str
    status: str
    image: bytes | None = field(default=None, repr=False)
    generation_ms: int | None = None
    error: str | None = None
    code: str | None = None

    @property
    def finished(self) -> bool:
        return self.status in {COMPLETED, FAILED}


@dataclass(frozen=True)
class Result:
    """The picture.

    Attributes:
        job_id: The job that made it.
        image: A JPEG file. The service deletes its own copy after an hour.
        generation_ms: How long it took.
    """

    job_id: str
    image: bytes = field(repr=False)
    generation_ms: int

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file; returns where."""
        target = Path(path)
        target.write_bytes(self.image)
        return target


@dataclass(frozen=True)
class Usage:
    """What the account has used and may still use.

    Attributes:
        plan: Its plan.
        period_start: When the period began.
        period_end: When the included volume is renewed.
        included: Generations in this period.
        used: Those that were completed.
        reserved: Those in progress.
        top_up_remaining: What is left of packs.
        daily_cap: How many may be started in a day, if that is limited.
        daily_used: How many were, today (UTC).
        trial_ends_at: For an account on trial.
    """

    plan: str
    period_start: datetime
    period_end: datetime
    included: int | None
    used: int
    reserved: int
    top_up_remaining: int
    daily_cap: int | None
    daily_used: int
    trial_ends_at: datetime | None


@dataclass(frozen=True)
class Product:
    """A registered garment.

    Attributes:
        id: What a try-on names it by.
        external_id: The shop's own number for it.
        status: ``active`` or ``archived``.
        revision: Counts its changes.
    """

    id: str
    external_id: str | None
    name: str
    category: str
    garment_category: str | None
    garment_state: str | None
    tuck_state: str | None
    size: str | None
    has_back_image: bool
    status: str
    revision: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class ProductPage:
    """Some products, and where the next ones begin."""

    products: list[Product]
    next_cursor: str | None


def read_job(response: httpx.Response) -> Job:
    """The answer of a POST that started a job, or had started one."""
    body = _body(response)
    try:
        return Job(str(body["jobId"]), response.headers.get("Idempotent-Replayed", "").lower() == "true")
    except KeyError:
        raise unexpected(response) from None


def read_status(response: httpx.Response, job_id: str) -> JobStatus:
    """The answer of a poll. A status that this client has never heard of counts as still in progress."""
    body = _body(response)
    try:
        status = str(body["status"])
        if status == COMPLETED:
            image = decode_data_uri(body["resultImageBase64"])
            return JobStatus(job_id, status, image=image, generation_ms=int(body["generationTimeMs"]))
        if status == FAILED:
            return JobStatus(job_id, status, error=str(body["error"]), code=response.headers.get("X-Error-Code"))
        return JobStatus(job_id, status)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise unexpected(response) from None


def read_usage(response: httpx.Response) -> Usage:
    """The answer of ``GET /api/v1/usage``."""
    body = _body(response)
    try:
        return Usage(
            plan=body["plan"],
            period_start=datetime.fromisoformat(body["period"]["start"]),
            period_end=datetime.fromisoformat(body["period"]["end"]),
            included=body["included"],
            used=body["used"],
            reserved=body["reserved"],
            top_up_remaining=body["topUpRemaining"],
            daily_cap=body["dailyCap"],
            daily_used=body["dailyUsed"],
            trial_ends_at=_moment(body["trialEndsAt"]),
        )
    except (KeyError, TypeError, ValueError):
        raise unexpected(response) from None


def read_product(response: httpx.Response) -> Product:
    """The answer that is one product."""
    try:
        return _product(_body(response))
    except (KeyError, TypeError, ValueError):
        raise unexpected(response) from None


def read_product_page(response: httpx.Response) -> ProductPage:
    """One page of the catalogue."""
    body = _body(response)
    try:
        return ProductPage([_product(item) for item in body["products"]], body["nextCursor"])
    except (KeyError, TypeError, ValueError):
        raise unexpected(response) from None


def _product(body: dict[str, Any]) -> Product:
    return Product(
        id=body["id"],
        external_id=body["externalId"],
        name=body["name"],
        category=body["category"],
        garment_category=body["garmentCategory"],
        garment_state=body["garmentState"],
        tuck_state=body["tuckState"],
        size=body["size"],
        has_back_image=body["hasBackImage"],
        status=body["status"],
        revision=body["revision"],
        created_at=datetime.fromisoformat(body["createdAt"]),
        updated_at=datetime.fromisoformat(body["updatedAt"]),
    )


def _body(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise unexpected(response)
    return body


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None


BY_CODE: dict[tuple[int, str | None], type[TryOnApiError]] = {
    (409, "idempotency_in_progress"): IdempotencyConflict,
    (429, "daily_cap_reached"): DailyCapReached,
}

BY_STATUS: dict[int, type[TryOnApiError]] = {
    400: InvalidRequest,
    401: AuthenticationFailed,
    402: PaymentRequired,
    403: AccountBlocked,
    404: NotFound,
    408: InvalidRequest,
    409: Conflict,
    413: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
    431: InvalidRequest,
}


def api_error(response: httpx.Response) -> TryOnApiError:
    """The error that an answer stands for."""
    status, code = response.status_code, response.headers.get("X-Error-Code")
    kind = BY_CODE.get((status, code)) or BY_STATUS.get(status)
    kind = kind or (ServiceUnavailable if status >= 500 else TryOnApiError)
    return kind(
        status,
        code,
        _sentence(response),
        response.headers.get("X-Request-Id"),
        retry_after_seconds(response.headers),
    )


def unexpected(response: httpx.Response) -> UnexpectedAnswer:
    """The error for a success whose body makes no sense."""
    sentence = "The answer does not read as the API describes it."
    return UnexpectedAnswer(response.status_code, None, sentence, response.headers.get("X-Request-Id"))


def _sentence(response: httpx.Response) -> str:
    """The body's ``error``; a proxy's page has none."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("error"), str):
        sentence: str = body["error"]
        return sentence
    return f"The answer had the status {response.status_code} and no explanation."


POLICY = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^",;\s]+)((?:\s*;\s*[a-z]+=[^,;]*)*)\s*(?:,|$)')
"""One policy of ``RateLimit`` or ``RateLimit-Policy``: its name, in quotes anything at all, and its parameters."""


@dataclass(frozen=True)
class RateLimit:
    """What an answer says about the key's request rate.

    Attributes:
        left: How many requests may still be sent.
        seconds: When there will be more.
        quota: How many requests there are in a window, if that was said.
        window: Its seconds, if that was said.
    """

    left: int
    seconds: int
    quota: int | None = None
    window: int | None = None


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


def rate_limit(headers: httpx.Headers) -> RateLimit | None:
    """The policy that leaves least, of those that tell both numbers; what cannot be read is left out."""
    quotas = _policies(headers.get("RateLimit-Policy", ""))
    limits = [
        RateLimit(told["r"], told["t"], quotas.get(name, {}).get("q"), quotas.get(name, {}).get("w"))
        for name, told in _policies(headers.get("RateLimit", "")).items()
        if told.keys() >= {"r", "t"}
    ]
    return min(limits, key=lambda limit: (limit.left, -limit.seconds), default=None)


def _policies(text: str) -> dict[str, dict[str, int]]:
    """The whole numbers of each policy, by its name."""
    return {
        name: {key: int(number) for key, number in re.findall(r";\s*([a-z])=(\d{1,9})(?![\d.])", rest, re.ASCII)}
        for name, rest in POLICY.findall(text)
    }


def was_held(headers: httpx.Headers) -> bool:
    """Whether the server honoured ``Prefer: wait`` (RFC 7240)."""
    applied = headers.get("Preference-Applied", "")
    return any(part.partition("=")[0].strip().lower() == "wait" for part in re.split(r"[,;]", applied))
