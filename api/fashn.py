"""What programs written for FASHN's API call: ``/v1/run``, ``/v1/status/{id}`` and ``/v1/credits``.

Their library works with nothing but another address and key. A call is put into the words of this service and goes the
way of any other: the same checks, volume, ledger and rate. What has no counterpart here is refused with a sentence
where a program would be misled, and otherwise named in ``X-Ignored-Fields``. See ``docs/coming-from-fashn.md``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, cast

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session
from starlette.background import BackgroundTask

from api.body_limit import body_of
from api.errors import error_response
from api.json_body import PictureReader, WireModel, check_media_type, ignored_fields, ignored_header, parse_body
from api.parts import Decoders, Parts
from api.routes import AccountId, Owner, RoutePolicy
from api.tryon.accepting import JobAcceptor, ReadRequest, Requester, RequestKey
from api.tryon.pictures import link_to
from api.tryon.polling import JobState, OwnJobs
from api.tryon.router import IDEMPOTENCY_KEY
from api.tryon.schemas import AnyPicture, InlinePicture
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.money.quota import what_is_left
from domain.tables import Account
from imaging.encode import convert_result
from imaging.limits import ImageLimits
from intake.job import Picture, SentGarment
from runtime.settings import IN_SINGLE
from workflows.contracts import Category, GarmentHints

MODEL = "tryon-v1.6"

CATEGORIES: Mapping[str, Category] = {"tops": "upper_body", "bottoms": "lower_body", "one-pieces": "full_body"}

PRODUCT = "product:"
"""Before a registered product's id or externalId, where FASHN takes a garment's picture."""

HELD_SECONDS = 25
"""How long a question after a job is held. FASHN's library asks every second, which would use up a key's rate in
twenty; it waits 60 seconds for an answer."""

NAMES = {401: "UnauthorizedAccess", 402: "OutOfCredits", 403: "UnauthorizedAccess", 404: "NotFound"}
"""FASHN's names of refusals, by our status; other 4xx are ``BadRequest``."""

FAILURES = {
    "person_not_found": "PoseError",
    "several_people": "PoseError",
    "pose_not_usable": "PoseError",
    "garment_not_recognised": "InputValidationError",
    "garment_url_unreachable": "ImageLoadError",
    "garment_url_too_large": "ImageLoadError",
    "garment_url_not_an_image": "ImageLoadError",
    "result_not_usable": "PipelineError",
}
"""FASHN's names of what may be wrong with a job, by our code; everything else is ``InternalServerError``."""

ENDS = {"timed_out": "time_out", "cancelled": "canceled"}
"""Its words for how a job ended other than by failing, by our code."""

NO_WEBHOOK = "is not taken from a request; ask for the status."

_ID = re.compile(r"(.+)-(png|jpeg)(-base64)?")

router = APIRouter(include_in_schema=False)


def refused(error: TryOnError) -> JSONResponse:
    """A refusal in FASHN's shape; its library repeats a 429 unless it is told that this is of no use."""
    ours = error_response(error)
    name = NAMES.get(ours.status_code, "InternalServerError" if ours.status_code >= 500 else "BadRequest")
    status, headers = ours.status_code, {name: value for name, value in ours.headers.items() if "content" not in name}
    if error.code == "rate_limited":
        name = "RateLimitExceeded"
    elif status in (402, 429):
        name, status = "OutOfCredits", 429
        headers["x-should-retry"] = "false"
    return JSONResponse({"error": name, "message": error.entry.remedy or error.sentence}, status, headers=headers)


class _Model(WireModel):
    model_config = ConfigDict(alias_generator=None)


class Inputs(_Model):
    """Those of `MODEL` that mean something here; the others are ignored, and named in the answer."""

    model_image: InlinePicture
    garment_image: AnyPicture
    category: str | None = Field(None, validate_default=True)
    num_samples: int = 1
    output_format: Literal["png", "jpeg"] = "png"
    return_base64: bool = False

    @field_validator("category")
    @classmethod
    def _known(cls, value: str | None, info: ValidationInfo) -> str | None:
        of_product = str(info.data.get("garment_image", "")).startswith(PRODUCT)
        if value not in CATEGORIES and not (of_product and value in (None, "auto")):
            raise PydanticCustomError("category", "must be tops, bottoms or one-pieces; it is not found out here")
        return value

    @field_validator("num_samples")
    @classmethod
    def _one(cls, value: int) -> int:
        if value != 1:
            raise PydanticCustomError("num_samples", "must be 1: a job makes one picture")
        return value


class Run(_Model):
    """Body of ``POST /v1/run``."""

    model_name: str
    inputs: Inputs

    @field_validator("model_name")
    @classmethod
    def _served(cls, value: str) -> str:
        if value != MODEL:
            raise PydanticCustomError("model_name", f"only {MODEL} is served here")
        return value


def read_run(body: bytes, limits: ImageLimits) -> tuple[ReadRequest, str]:
    """Put a request into the words of a try-on.

    Returns:
        The request, and the ending of the prediction's id: it says what the output is to be, since FASHN's says it
        when a job is started and ours when the picture is fetched.

    Raises:
        TryOnError: ``json_invalid``, ``field_invalid``, ``malformed_data_uri``, ``garment_url_refused``.
    """
    run, inline = parse_body(body, Run)
    inputs, person, garment = run.inputs, "inputs.model_image", "inputs.garment_image"
    of_product = inputs.garment_image.startswith(PRODUCT)
    named = {person: inputs.model_image} | ({} if of_product else {garment: inputs.garment_image})
    pictures = PictureReader(limits, inline).pictures(named)
    sent = SentGarment(
        inputs.garment_image.removeprefix(PRODUCT) if of_product else None,
        CATEGORIES.get(inputs.category or ""),
        GarmentHints(),
        pictures.get(garment),
        None,
    )
    ignored = [*ignored_fields(run), *ignored_fields(inputs, "inputs.")]
    ending = f"-{inputs.output_format}{'-base64' if inputs.return_base64 else ''}"
    return ReadRequest(cast("Picture", pictures[person]), [sent], ignored), ending


@router.post("/v1/run")
@RoutePolicy(scope="tryons", rate="requests", pictures=IN_SINGLE, refused=refused)
async def run(request: Request, parts: Parts, decoders: Decoders, owner: Owner) -> JSONResponse:
    """Accept a job, as ``POST /api/v1/tryon`` does."""
    check_media_type(request.headers)
    if "webhook_url" in request.query_params:
        raise TryOnError("field_invalid", fields={"webhook_url": NO_WEBHOOK})
    body, sent_key, path = body_of(request), request.headers.get(IDEMPOTENCY_KEY), request.scope["path"]

    def read() -> tuple[tuple[ReadRequest, str], RequestKey | None]:
        return read_run(body, parts.limits), RequestKey.read(sent_key, owner, path, body)

    (asked, ending), key = await decoders.in_thread(owner.account_id, read)
    acceptor = JobAcceptor(parts, decoders)
    accepted = await acceptor.accept(Requester.by_key(owner), asked, key)
    return JSONResponse(
        {"id": f"{accepted.job_id}{ending}", "error": None},
        headers=ignored_header(asked.ignored_fields),
        background=BackgroundTask(acceptor.note_started, accepted),
    )


@router.get("/v1/status/{predictionId}")
@RoutePolicy(scope="tryons", rate="requests", refused=refused)
async def status(parts: Parts, decoders: Decoders, own: OwnJobs, predictionId: str) -> Response:
    """How a job stands, once it has ended or after some seconds."""
    named = _ID.fullmatch(predictionId)
    if named is None:
        raise TryOnError("job_not_found")
    job_id, picture_format, in_base64 = named.groups()
    state = await own.state(job_id, min(HELD_SECONDS, parts.settings.jobs.longest_wait_seconds))
    if state.status != jobs.COMPLETED:
        return JSONResponse({"id": predictionId, "output": None, **_standing(state)})
    job, media_type = await own.completed(job_id), f"image/{picture_format}"
    if in_base64:
        picture = state.picture
        if picture_format != "jpeg":
            picture = await decoders.in_thread(job.account_id, convert_result, picture, media_type, None, parts.signer)
        output = f"data:{media_type};base64,{base64.b64encode(picture).decode()}"
    else:
        output = link_to(parts, job, job.expires_at or datetime.now(UTC), picture_format).url
    answer = {"id": predictionId, "status": "completed", "error": None, "output": [output]}
    return JSONResponse(answer, headers={"x-fashn-credits-used": "1"})


def _standing(state: JobState) -> dict[str, Any]:
    if state.status != jobs.FAILED:
        return {"status": "processing", "error": None}
    error = {"name": FAILURES.get(state.error_code, "InternalServerError"), "message": state.error}
    return {"status": ENDS.get(state.error_code, "failed"), "error": error}


@router.get("/v1/credits")
@RoutePolicy(scope="reading", refused=refused)
async def credit_balance(parts: Parts, account_id: AccountId) -> dict[str, dict[str, int]]:
    """What is left: of the plan's volume, and in packs."""

    def look(session: Session) -> tuple[int, int]:
        account = session.get_one(Account, account_id)
        return what_is_left(session, parts.plans, account=account, now=datetime.now(UTC))

    included, packs = await parts.database.read(look)
    return {"credits": {"total": included + packs, "subscription": included, "on_demand": packs}}
