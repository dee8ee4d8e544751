"""What the service answers, as types."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from tryon_client.errors import unexpected
from tryon_client.pictures import decode_data_uri

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
    """

    job_id: str
    status: str
    image: bytes | None = field(default=None, repr=False)
    generation_ms: int | None = None
    error: str | None = None

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
        return JobStatus(job_id, status, error=str(body["error"]) if status == FAILED else None)
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
