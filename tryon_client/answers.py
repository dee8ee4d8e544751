"""What the service answers: successes as types, refusals as errors, and headers as numbers."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tryon_client.errors import (
    AccountBlocked,
    AuthenticationFailed,
    Conflict,
    DailyCapReached,
    IdempotencyConflict,
    InvalidRequest,
    NotAllowed,
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
        job_id: The id to ask for it by.
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
class Finding:
    """Something that a picture shows.

    Attributes:
        code: Of a problem, the service's own code with which a job would fail; of advice, one of its own.
        severity: ``problem``, with which there would be no picture, or ``advice``, for a better one.
        message: A sentence for the shopper.
    """

    code: str
    severity: str
    message: str


@dataclass(frozen=True)
class PictureVerdict:
    """What was found in the photo, or in a garment's pictures.

    Attributes:
        ok: Whether there is no problem.
        findings: Problems first.
    """

    ok: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Verdict:
    """Whether a try-on with these pictures can complete.

    Attributes:
        ok: Whether nothing was found that keeps it from that.
        photo: What was found in the photo.
        garments: The same of each garment, in their order.
    """

    ok: bool
    photo: PictureVerdict
    garments: tuple[PictureVerdict, ...]


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
        id: The ``product_id`` of try-ons with it.
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
class ListedJob:
    """A job in the account's list, without its picture.

    Attributes:
        kind: ``single``, or ``combo`` with two to four garments.
        mode: ``live`` or ``test``.
        picture_expires_at: Until when there is a picture; ``None`` without one.
        erased: Whether it was deleted.
        error: Why it failed, for the shopper.
        error_code: The service's own code for that.
        products: The registered garments that it used: ``index``, ``id`` and ``revision`` of each.
        metadata: What it was started with.
    """

    job_id: str
    status: str
    kind: str
    mode: str
    created_at: datetime
    finished_at: datetime | None
    picture_expires_at: datetime | None
    erased: bool
    generation_time_ms: int | None
    engine: str | None
    error: str | None
    error_code: str | None
    products: list[dict[str, Any]]
    metadata: dict[str, str] | None


@dataclass(frozen=True)
class PictureLink:
    """An address of a picture that asks for no key; who has it can see the picture until ``expires_at``."""

    url: str
    expires_at: datetime


Record = TypeVar("Record", Usage, Product, ListedJob, PictureLink)


def read_job(response: httpx.Response) -> Job:
    """The answer to the POST that starts a job."""
    replayed = response.headers.get("Idempotent-Replayed", "").lower() == "true"
    return Job(str(response.json()["jobId"]), replayed)


def read_status(response: httpx.Response, job_id: str) -> JobStatus:
    """The answer to a poll. A status that this client does not know counts as still in progress."""
    body = response.json()
    status = str(body["status"])
    if status == COMPLETED:
        image = decode_data_uri(body["resultImageBase64"])
        return JobStatus(job_id, status, image=image, generation_ms=int(body["generationTimeMs"]))
    if status == FAILED:
        return JobStatus(job_id, status, error=str(body["error"]), code=response.headers.get("X-Error-Code"))
    return JobStatus(job_id, status)


def read_verdict(response: httpx.Response) -> Verdict:
    """The answer to a check of pictures."""

    def of_picture(body: Mapping[str, Any]) -> PictureVerdict:
        found = (Finding(str(each["code"]), str(each["severity"]), str(each["message"])) for each in body["findings"])
        return PictureVerdict(bool(body["ok"]), tuple(found))

    body = response.json()
    return Verdict(bool(body["ok"]), of_picture(body["photo"]), tuple(map(of_picture, body["garments"])))


def read_usage(response: httpx.Response) -> Usage:
    """The answer to ``GET /api/v1/usage``."""
    body = response.json()
    return _record(Usage, {**body, "periodStart": body["period"]["start"], "periodEnd": body["period"]["end"]})


def read_product(response: httpx.Response) -> Product:
    """An answer that is one product."""
    return _record(Product, response.json())


def read_products(response: httpx.Response) -> tuple[list[Product], str | None]:
    """One page of the catalogue, and the cursor of the next page if there is one."""
    body = response.json()
    return [_record(Product, item) for item in body["products"]], body["nextCursor"]


def read_jobs(response: httpx.Response) -> tuple[list[ListedJob], str | None]:
    """One page of the account's jobs, and the cursor of the next page if there is one."""
    body = response.json()
    return [_record(ListedJob, item) for item in body["jobs"]], body["nextCursor"]


def read_picture(response: httpx.Response) -> bytes:
    """A picture file."""
    return response.content


def read_link(response: httpx.Response) -> PictureLink:
    """The answer to the POST that makes a link."""
    return _record(PictureLink, response.json())


def read_nothing(_response: httpx.Response) -> None:
    """The answer to a deletion."""


def _record(kind: type[Record], body: Mapping[str, Any]) -> Record:
    """A record whose fields have the same names on the wire, in camelCase."""
    values: dict[str, Any] = {}
    for each in fields(kind):
        value = body[camel_case(each.name)]
        is_moment = str(each.type).startswith("datetime") and value is not None
        values[each.name] = datetime.fromisoformat(value) if is_moment else value
    return kind(**values)


def camel_case(name: str) -> str:
    """The wire's spelling of a name: ``garmentCategory`` for ``garment_category``."""
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def decode_data_uri(uri: str) -> bytes:
    """The bytes in a base64 ``data:`` URI.

    Raises:
        ValueError: It is not one.
    """
    head, comma, payload = uri.partition(",")
    if not comma or not head.lower().endswith(";base64"):
        raise ValueError("not a base64 data: URI")
    try:
        return base64.b64decode("".join(payload.split()), validate=True)
    except ValueError:
        raise ValueError("the base64 of the data: URI is broken") from None


BY_CODE: dict[tuple[int, str | None], type[TryOnApiError]] = {
    (403, "account_blocked"): AccountBlocked,
    (409, "idempotency_in_progress"): IdempotencyConflict,
    (429, "daily_cap_reached"): DailyCapReached,
    (429, "key_daily_cap_reached"): DailyCapReached,
}

BY_STATUS: dict[int, type[TryOnApiError]] = {
    400: InvalidRequest,
    401: AuthenticationFailed,
    402: PaymentRequired,
    403: NotAllowed,
    404: NotFound,
    406: InvalidRequest,
    408: InvalidRequest,
    409: Conflict,
    413: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
    431: InvalidRequest,
}


def api_error(response: httpx.Response) -> TryOnApiError:
    """A refusal as an error."""
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
    """The error for a 2xx answer whose body cannot be read."""
    sentence = "The answer does not read as the API describes it."
    return UnexpectedAnswer(response.status_code, None, sentence, response.headers.get("X-Request-Id"))


def _sentence(response: httpx.Response) -> str:
    """The body's ``error``; a proxy's page has none."""
    try:
        body = response.json()
    except ValueError:
        body = None
    sentence = body.get("error") if isinstance(body, dict) else None
    return (
        sentence
        if isinstance(sentence, str)
        else f"The answer had the status {response.status_code} and no explanation."
    )


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
    """The policy that leaves the fewest requests; policies without both numbers are ignored."""
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
