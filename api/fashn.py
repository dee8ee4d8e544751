"""What programs written for FASHN's API call: ``/v1/run``, ``/v1/status/{id}`` and ``/v1/credits``.

Its own client library works with nothing but another base address. A call is put into the words of this service and
goes the way of any other: the same checks, quota, ledger and rate. What has no counterpart here is refused with a
sentence where a program would be misled, and otherwise named in ``X-Ignored-Fields``. See
``docs/coming-from-fashn.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict
from starlette.background import BackgroundTask

from api.body_limit import body_of
from api.errors import error_response
from api.json_body import PictureReader, WireModel, check_media_type, ignored_fields, ignored_header, parse_body
from api.parts import Decoders, Parts
from api.routes import AccountId, Owner, RoutePolicy
from api.tryon.accepting import JobAcceptor, ReadRequest, Requester, RequestKey
from api.tryon.polling import JobState, OwnJobs
from api.tryon.router import IDEMPOTENCY_KEY
from api.tryon.schemas import JobId
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.money.quota import usage_of
from imaging.data_uri import encode_data_uri_bytes, is_data_uri
from imaging.limits import ImageLimits
from intake.job import Picture, SentGarment
from runtime.settings import IN_SINGLE
from workflows.contracts import Category, GarmentHints

MODEL = "tryon-v1.6"
CATEGORIES: Mapping[Any, Category] = {"tops": "upper_body", "bottoms": "lower_body", "one-pieces": "full_body"}

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


class _Inputs(WireModel):
    """Judged by hand: the names are not spelled as ours are."""

    model_config = ConfigDict(alias_generator=None, extra="allow")

    model_image: Any = None
    garment_image: Any = None
    category: Any = None
    num_samples: Any = None
    return_base64: Any = None


class _Run(WireModel):
    model_config = ConfigDict(alias_generator=None, extra="allow")

    model_name: Any = None
    inputs: _Inputs
    webhook_url: Any = None


def read_run(body: bytes, limits: ImageLimits) -> ReadRequest:
    """Put a request into the words of a try-on.

    Raises:
        TryOnError: ``json_invalid``, ``field_invalid``, ``malformed_data_uri``, ``garment_url_refused``.
    """
    run, inline = parse_body(body, _Run)
    asked = run.inputs
    person, garment = "inputs.model_image", "inputs.garment_image"
    wrong = {
        "model_name": (run.model_name != MODEL, f"only {MODEL} is served here."),
        "webhook_url": (run.webhook_url is not None, "is not served here; ask for the status."),
        person: (
            not isinstance(asked.model_image, str) or not is_data_uri(asked.model_image),
            "send the photo itself as a data: URI; an address or a saved model is not fetched here.",
        ),
        garment: (not isinstance(asked.garment_image, str), "must be a data: URI or an https:// address."),
        "inputs.category": (
            asked.category not in [*CATEGORIES],
            "must be tops, bottoms or one-pieces; the category is not found out here.",
        ),
        "inputs.num_samples": (asked.num_samples not in (None, 1), "a job makes one picture."),
        "inputs.return_base64": (
            asked.return_base64 is False,
            "pictures have no address here; leave it out or send true for a data: URI.",
        ),
    }
    if complaints := {name: said for name, (is_wrong, said) in wrong.items() if is_wrong}:
        raise TryOnError("field_invalid", fields=complaints)
    pictures = PictureReader(limits, inline).pictures({person: asked.model_image, garment: asked.garment_image})
    photo = pictures[person]
    if not isinstance(photo, Picture):
        raise TypeError(person)  # it is a data: URI
    sent = SentGarment(None, CATEGORIES[asked.category], GarmentHints(), pictures[garment], None)
    return ReadRequest(photo, [sent], [*ignored_fields(run), *ignored_fields(asked, "inputs.")])


@router.post("/v1/run")
@RoutePolicy(rate="requests", pictures=IN_SINGLE, refused=refused)
async def run(request: Request, parts: Parts, decoders: Decoders, owner: Owner) -> JSONResponse:
    """Accept a job, as ``POST /api/v1/tryon`` does."""
    check_media_type(request.headers)
    if "webhook_url" in request.query_params:
        raise TryOnError("field_invalid", fields={"webhook_url": "is not served here; ask for the status."})
    body, sent_key, path = body_of(request), request.headers.get(IDEMPOTENCY_KEY), request.scope["path"]

    def read() -> tuple[ReadRequest, RequestKey | None]:
        return read_run(body, parts.limits), RequestKey.read(sent_key, owner.mode, path, body)

    asked, key = await decoders.in_thread(owner.account_id, read)
    acceptor = JobAcceptor(parts, decoders)
    accepted = await acceptor.accept(Requester.by_key(owner), asked, key)
    return JSONResponse(
        {"id": str(accepted.job_id), "error": None},
        headers=ignored_header(asked.ignored_fields),
        background=BackgroundTask(acceptor.note_started, accepted),
    )


@router.get("/v1/status/{jobId}")
@RoutePolicy(rate="requests", refused=refused)
async def status(parts: Parts, own: OwnJobs, jobId: JobId) -> Response:  # as other routes spell it
    """How a job stands, once it has ended or after some seconds."""
    held = min(HELD_SECONDS, parts.settings.jobs.longest_wait_seconds)
    state = await own.state(jobId, held)
    if state.status == jobs.COMPLETED:
        picture = encode_data_uri_bytes(state.picture)
        body = b'{"id":"%b","status":"completed","error":null,"output":["%b"]}' % (jobId.encode(), picture)
        return Response(body, media_type="application/json", headers={"x-fashn-credits-used": "1"})
    return JSONResponse({"id": jobId, "output": None, **_standing(state)})


def _standing(state: JobState) -> dict[str, Any]:
    if state.status != jobs.FAILED:
        return {"status": "processing", "error": None}
    error = {"name": FAILURES.get(state.error_code, "InternalServerError"), "message": state.error}
    return {"status": ENDS.get(state.error_code, "failed"), "error": error}


@router.get("/v1/credits")
@RoutePolicy(refused=refused)
async def credit_balance(parts: Parts, account_id: AccountId) -> dict[str, dict[str, int]]:
    """What is left: of the plan's volume, and in packs."""
    usage = await parts.database.read(usage_of, parts.plans, account_id=account_id, now=datetime.now(UTC))
    included = max(0, usage.included - usage.used - usage.reserved)
    packs = usage.topup_remaining
    return {"credits": {"total": included + packs, "subscription": included, "on_demand": packs}}
