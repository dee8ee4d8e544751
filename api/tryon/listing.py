"""``GET /api/v1/tryon``: the account's jobs, to be found by what their caller knows of them. Never a picture."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BeforeValidator, Field
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session

from api import openapi
from api.cursor import cursor_at, read_cursor
from api.json_body import Answer, MayBeLeftOut
from api.openapi import GATE, refusals, success
from api.parts import Parts
from api.products.schemas import Cursor
from api.routes import AccountId, RoutePolicy
from api.tryon.router import SINGLE_PATH
from api.tryon.schemas import LONGEST_METADATA, METADATA_NAME, MOST_METADATA
from domain.errors import TryOnError, known_code, sentence_of
from domain.jobs.job_history import JobFilter, JobPage, ListedJob, list_jobs
from domain.jobs.jobs import COMPLETED, FAILED
from domain.products import find_named, public_id

MOST_JOBS = 100

_METADATA = re.compile(rf"metadata\[({METADATA_NAME.pattern})\]")

METADATA_PARAMETER: dict[str, Any] = {
    "name": "metadata",
    "in": "query",
    "required": False,
    "style": "deepObject",
    "explode": True,
    "description": "`metadata[orderId]=4711`: jobs that have this text under this name.",
    "schema": {
        "type": "object",
        "propertyNames": {"pattern": f"^{METADATA_NAME.pattern}$"},
        "additionalProperties": {"type": "string", "maxLength": LONGEST_METADATA, "pattern": "^[^\\u0000]*$"},
    },
}

router = APIRouter(tags=["try-on"])


def _written(value: object) -> object:
    if isinstance(value, str) and value[4:5] != "-":  # pydantic takes a number for a Unix time
        raise PydanticCustomError("moment", "must be a date and time with its offset, such as 2026-03-01T09:30:00Z")
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_written)]


class JobProduct(Answer):
    """A registered garment that the job used."""

    index: int = Field(ge=0, description="Which of the job's garments, from 0.")
    id: str
    revision: int = Field(ge=1)


class JobSummary(Answer):
    """A job without its picture."""

    job_id: uuid.UUID
    status: Literal["processing", "completed", "failed"]
    kind: Literal["single", "combo"]
    mode: Literal["live", "test"]
    created_at: datetime
    finished_at: datetime | None = None
    picture_expires_at: datetime | None = Field(None, description="Until when there is a picture; null without one.")
    erased: bool = Field(description="Whether you had it erased.")
    generation_time_ms: int | None = None
    engine: str | None = None
    error: str | None = Field(None, description="Why it failed, in the words of the poll.")
    error_code: str | None = None
    products: list[JobProduct]
    metadata: dict[str, str] | None = None

    @classmethod
    def of(cls, job: ListedJob, now: datetime) -> JobSummary:
        """From the row as it is ``now``."""
        code = known_code(job.error_code) if job.status == FAILED else None
        there = job.status == COMPLETED and job.result_key is not None
        return cls(
            job_id=job.id,
            status=job.status,
            kind=job.kind,
            mode="test" if job.test else "live",
            created_at=job.created_at,
            finished_at=job.finished_at,
            picture_expires_at=job.expires_at if there and job.expires_at and job.expires_at > now else None,
            erased=job.erased_at is not None,
            generation_time_ms=job.generation_ms,
            engine=job.engine,
            error=None if code is None else sentence_of(code, job.error_advice),
            error_code=code,
            products=[JobProduct(index=each.index, id=each.id, revision=each.revision) for each in job.products],
            metadata=job.metadata,
        )


class JobList(Answer):
    """One page."""

    jobs: list[JobSummary]
    next_cursor: str | None = Field(
        description="For the next page; null after the last one. A page may be short, or empty, before that."
    )


@router.get(
    SINGLE_PATH,
    operation_id="listTryOns",
    summary="The account's jobs, newest first",
    response_description="One page.",
    responses={200: success(examples=openapi.JOB_PAGES), **refusals(*GATE, "field_invalid")},
    openapi_extra={"parameters": [METADATA_PARAMETER]},
)
@RoutePolicy(scope="reading")
async def list_tryons(
    request: Request,
    *,
    parts: Parts,
    account_id: AccountId,
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS, description="Jobs on a page at most.")] = 50,
    cursor: Cursor = None,
    status: Annotated[
        MayBeLeftOut[Literal["processing", "completed", "failed"]], Query(description="Only jobs with this status.")
    ] = None,
    mode: Annotated[MayBeLeftOut[Literal["live", "test"]], Query(description="Only jobs of such keys.")] = None,
    createdAfter: Annotated[  # as the API spells its names
        MayBeLeftOut[Moment], Query(description="Accepted then or later.")
    ] = None,
    createdBefore: Annotated[MayBeLeftOut[Moment], Query(description="Accepted before.")] = None,
    productId: Annotated[
        MayBeLeftOut[str],
        Query(max_length=128, description="Only jobs with this product, by id or externalId."),
    ] = None,
) -> JobList:
    """Follow nextCursor until it is null. Rows are kept for 90 days.

    Status and time are looked up; product and metadata are searched for, some thousand jobs a page.
    """
    wanted = JobFilter(
        status=status,
        since=_in_utc("createdAfter", createdAfter),
        until=_in_utc("createdBefore", createdBefore),
        test=None if mode is None else mode == "test",
        metadata=_metadata_of(request.query_params),
    )
    before = read_cursor(cursor) if cursor else None
    found = await parts.database.read(_page, account_id, wanted, productId, limit=limit, before=before)
    now = datetime.now(UTC)
    return JobList(
        jobs=[JobSummary.of(job, now) for job in found.jobs], next_cursor=cursor_at(found.next) if found.next else None
    )


def _page(
    session: Session, /, account_id: uuid.UUID, wanted: JobFilter, product_id: str | None, **where: Any
) -> JobPage:
    if product_id is not None:
        if "\0" in product_id:  # PostgreSQL does not take it even in a question
            return JobPage([], None)
        named = find_named(session, account_id=account_id, external_id=product_id)
        wanted = replace(wanted, product=public_id(named.id) if named else product_id)
    return list_jobs(session, account_id=account_id, wanted=wanted, **where)


def _metadata_of(query: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, text in query.items():
        if name.startswith("metadata"):
            named = _METADATA.fullmatch(name)
            if named is None or "\0" in text or len(text) > LONGEST_METADATA or len(found) == MOST_METADATA:
                raise TryOnError(
                    "field_invalid", fields={"metadata": "must be asked for as metadata[NAME]=TEXT, as a job has them."}
                )
            found[named[1]] = text
    return found


def _in_utc(name: str, moment: datetime | None) -> datetime | None:
    """The database's driver must not find out that a moment near either end of the calendar is past it in UTC."""
    try:
        return moment and moment.astimezone(UTC)
    except OverflowError:
        raise TryOnError("field_invalid", fields={name: "is too far away."}) from None
