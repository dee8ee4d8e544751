"""A result as a picture: in the format and size that is asked for, with a key or by a link that works for a while."""

from __future__ import annotations

import hashlib
import hmac
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from api import openapi
from api.body_limit import body_of
from api.json_body import Answer, MayBeLeftOut, parse_body
from api.openapi import JSON_BODY, PAGE_GATE, read_by_hand, refusals, success
from api.parts import ApiParts, Decoders, PageDecoders, Parts
from api.routes import RoutePolicy
from api.tryon.polling import AccountJobs, OwnJobs
from api.tryon.router import SINGLE_PATH
from api.tryon.schemas import JobId, LinkRequest
from domain.errors import TryOnError
from domain.tables import Account, Job
from imaging.decoder_pool import DecoderPool
from imaging.encode import convert_result

PICTURE_PATH = SINGLE_PATH + "/{jobId}/picture"
LINKED_PATH = "/pictures/{jobId}"

MEDIA_TYPES = ("image/jpeg", "image/png", "image/webp")
"""In the order in which they are preferred where a caller takes several as gladly."""

SMALLEST_SIDE = 64

_WEIGHT = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")

SHOWN_ANYWHERE = {
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Content-Security-Policy": "default-src 'none'",
    "Referrer-Policy": "no-referrer",
}
"""Any page may show the picture of a link; what follows from there does not learn the link."""

Size = Annotated[
    MayBeLeftOut[Annotated[int, Field(ge=SMALLEST_SIDE, le=100_000)]],
    Query(description="Longer side in pixels. A picture is never enlarged."),
]

PICTURE_ANSWER: dict[str, Any] = {
    "description": "The picture. Where a trained model drew a part of it, it carries the mark for that.",
    "headers": openapi.headers_of(["ETag", "Vary"]),
    "content": {each: {"schema": {"type": "string", "format": "binary"}} for each in MEDIA_TYPES},
}

router = APIRouter(tags=["try-on"])


@router.get(
    PICTURE_PATH,
    operation_id="getTryOnPicture",
    summary="The picture of a completed job, as JPEG, PNG or WebP",
    response_class=Response,
    responses={
        200: PICTURE_ANSWER,
        304: {"description": "It has not changed.", "headers": openapi.headers_of(["ETag", "Vary"])},
        **refusals(
            *PAGE_GATE,
            *("field_invalid", "job_not_found", "job_not_completed", "job_without_picture", "picture_not_acceptable"),
        ),
    },
)
@RoutePolicy(scope="tryons", publishable=True, rate="requests")
async def get_picture(
    request: Request, *, parts: Parts, decoders: Decoders, own: OwnJobs, jobId: JobId, size: Size = None
) -> Response:
    """Say with `Accept` which format you want; JPEG comes as it is kept."""
    return await picture_answer(request, parts, decoders, own, jobId, media_type=accepted_type(request), size=size)


class Link(Answer):
    """An address of the picture for a browser, which asks for no key."""

    url: str = Field(description="Add `&size=` for a smaller picture. Who has it can see the picture.")
    expires_at: datetime


@router.post(
    PICTURE_PATH + "/link",
    operation_id="linkTryOnPicture",
    summary="A link to the picture that works for some minutes without a key",
    response_description="The link.",
    responses={
        200: success(examples=openapi.LINKS),
        **refusals(*openapi.GATE, *JSON_BODY, "job_not_found", "job_not_completed", "job_without_picture"),
    },
    openapi_extra=read_by_hand(LinkRequest, examples={"five minutes": {"seconds": 300}}, required=False),
)
@RoutePolicy(scope="tryons")
async def link_picture(request: Request, parts: Parts, own: OwnJobs, jobId: JobId) -> Link:
    """It ends with the picture, if that is sooner, and when the job is erased or the account blocked."""
    body = body_of(request)
    asked = parse_body(body, LinkRequest)[0] if body else LinkRequest()
    job = await own.completed(jobId)
    until = datetime.now(UTC) + timedelta(seconds=asked.seconds)
    return link_to(parts, job, min(until, job.expires_at or until))


@router.api_route(LINKED_PATH, methods=["GET", "HEAD"], include_in_schema=False)
async def linked_picture(
    request: Request,
    *,
    parts: Parts,
    decoders: PageDecoders,
    jobId: str,
    until: int = 0,
    signature: str = "",
    format: str = "",  # noqa: A002  # the query's own name
    size: Size = None,
) -> Response:
    """The picture behind a link. The signature is in the query, which no log of ours has."""
    now = datetime.now(UTC)
    signed = parts.digester.accepted(_signed_text(jobId, until, format))
    sent = signature.encode()
    if until <= now.timestamp() or not any(hmac.compare_digest(sent, each.encode()) for each in signed):
        raise TryOnError("job_not_found")
    account_id = await parts.database.read(_open_account, job_id=uuid.UUID(jobId))
    if account_id is None:
        raise TryOnError("job_not_found")
    media_type = f"image/{format}" if format else accepted_type(request)
    answer = await picture_answer(
        request, parts, decoders, AccountJobs(parts, account_id), jobId, media_type=media_type, size=size
    )
    answer.headers.update(SHOWN_ANYWHERE)
    return answer


def link_to(parts: ApiParts, job: Job, until: datetime, format_: str = "") -> Link:
    """A link to a job's picture, in a format of `MEDIA_TYPES` where one is named (``png``), else by ``Accept``."""
    seconds = int(until.timestamp())
    signature = parts.digester.digest(_signed_text(str(job.id), seconds, format_))
    base, more = parts.settings.dashboard.base_url(parts.settings.api), f"&format={format_}" if format_ else ""
    url = f"{base}{LINKED_PATH.format(jobId=job.id)}?until={seconds}&signature={signature}{more}"
    return Link(url=url, expires_at=datetime.fromtimestamp(seconds, UTC))


def _signed_text(job_id: str, until: int, format_: str) -> str:
    return f"the picture of {job_id} until {until} as {format_}"


def _open_account(session: Any, *, job_id: uuid.UUID) -> uuid.UUID | None:
    """The account of this job, unless it is blocked."""
    job = session.get(Job, job_id)
    if job is None or session.get_one(Account, job.account_id).blocked_at is not None:
        return None
    account_id: uuid.UUID = job.account_id
    return account_id


async def picture_answer(
    request: Request,
    parts: ApiParts,
    decoders: DecoderPool,
    own: AccountJobs,
    job_id: str,
    *,
    media_type: str,
    size: int | None,
) -> Response:
    """The picture of a job of this account.

    Raises:
        TryOnError: ``job_not_found``, ``job_not_completed`` or ``job_without_picture``.
        ObjectStoreUnavailableError: It cannot be read just now.
    """
    job = await own.completed(job_id)
    named = hashlib.sha256(f"{job.id} {media_type} {size}".encode()).hexdigest()[:32]
    kept = (media_type, size) == (MEDIA_TYPES[0], None)
    # Weak where it is made for each answer: it is the same picture, but signed at another moment.
    headers = {"ETag": f'"{named}"' if kept else f'W/"{named}"', "Vary": "Accept"}
    known = request.headers.get("If-None-Match", "")
    if f'"{named}"' in known or known.strip() == "*":
        return Response(status_code=304, headers=headers)
    stored = await own.picture(job)
    if kept:
        return Response(stored, media_type=media_type, headers=headers)
    picture = await decoders.in_thread(job.account_id, convert_result, stored, media_type, size, parts.signer)
    return Response(picture, media_type=media_type, headers=headers)


def accepted_type(request: Request) -> str:
    """The media type that fits the header ``Accept`` best (RFC 9110, section 12.5.1).

    Raises:
        TryOnError: ``picture_not_acceptable``.
    """
    ranges = {}
    for each in ",".join(request.headers.getlist("Accept")).split(","):
        named, *parameters = (part.strip().lower() for part in each.split(";"))
        weight = next((part.removeprefix("q=") for part in parameters if part.startswith("q=")), "1")
        if named:
            ranges[named] = float(weight) if _WEIGHT.fullmatch(weight) else 0.0
    if not ranges:
        return MEDIA_TYPES[0]
    weights = {each: ranges.get(each, ranges.get("image/*", ranges.get("*/*", 0.0))) for each in MEDIA_TYPES}
    best = max(MEDIA_TYPES, key=lambda each: weights[each])  # the first of several
    if not weights[best]:
        raise TryOnError("picture_not_acceptable")
    return best
