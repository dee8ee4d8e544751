"""The routes of the contract, and erasing a job: transport only."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.background import BackgroundTask

from api import openapi
from api.body_limit import body_of
from api.json_body import check_media_type, ignored_header
from api.openapi import GATE, JSON_BODY, PAGE_GATE, PICTURES, SENDING, read_by_hand, refusals, success
from api.parts import ApiParts, Decoders, Parts
from api.routes import Owner, RoutePolicy
from api.tryon.accepting import JobAcceptor, ReadRequest, Requester, RequestKey, TryOnRequest, read_request
from api.tryon.polling import JobState, OwnJobs, wait_preferred
from api.tryon.schemas import Accepted, ComboRequest, JobId, Poll, SingleRequest
from domain.access.keys import KeyOwner
from domain.jobs import jobs
from imaging.data_uri import encode_data_uri_bytes
from imaging.decoder_pool import DecoderPool
from runtime.settings import IN_COMBO, IN_SINGLE

SINGLE_PATH, COMBO_PATH = "/api/v1/tryon", "/api/v1/tryon/combo"

IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED = "Idempotency-Key", "Idempotent-Replayed"

START: dict[str, Any] = {
    "status_code": 202,
    "response_description": "Accepted; poll the job.",
    "response_model": Accepted,
    "responses": {
        202: success(
            always=["Location"],
            sometimes=["X-Ignored-Fields", "Idempotent-Replayed"],
            examples=openapi.ACCEPTED,
            links={
                "poll": {"operationId": "getTryOn", "parameters": {"jobId": "$response.body#/jobId"}},
                "erase": {"operationId": "eraseTryOn", "parameters": {"jobId": "$response.body#/jobId"}},
            },
        ),
        **refusals(
            *PAGE_GATE,
            *JSON_BODY,
            "products_only",
            *openapi.IDEMPOTENCY,
            "product_not_found",
            *PICTURES,
            *openapi.VOLUME,
        ),
    },
}
"""What both ways to start a job say of themselves."""

router = APIRouter(tags=["try-on"])


async def _accept(
    request: Request, parts: ApiParts, decoders: DecoderPool, owner: KeyOwner, model: type[TryOnRequest]
) -> JSONResponse:
    check_media_type(request.headers)
    body, sent_key, path = body_of(request), request.headers.get(IDEMPOTENCY_KEY), request.scope["path"]

    def read() -> tuple[ReadRequest, RequestKey | None]:
        asked = read_request(body, model, parts.limits, products_only=owner.publishable)
        return asked, RequestKey.read(sent_key, owner, path, body)

    asked, key = await decoders.in_thread(owner.account_id, read)
    acceptor = JobAcceptor(parts, decoders)
    accepted = await acceptor.accept(Requester.by_key(owner), asked, key)
    headers = {"Location": f"{SINGLE_PATH}/{accepted.job_id}", **ignored_header(asked.ignored_fields)}
    if accepted.replayed:
        headers[IDEMPOTENT_REPLAYED] = "true"
    answer = {"jobId": str(accepted.job_id), "status": jobs.PROCESSING}
    return JSONResponse(answer, 202, headers=headers, background=BackgroundTask(acceptor.note_started, accepted))


@router.post(
    SINGLE_PATH,
    operation_id="createTryOn",
    summary="Start a try-on with one garment",
    openapi_extra=read_by_hand(SingleRequest, examples=openapi.SINGLE_REQUESTS, headers=[openapi.IDEMPOTENCY_KEY]),
    **START,
)
@RoutePolicy(scope="tryons", publishable=True, rate="requests", pictures=IN_SINGLE)
async def create_tryon(request: Request, parts: Parts, decoders: Decoders, owner: Owner) -> Response:
    """Accept the job and answer at once; poll it for the picture."""
    return await _accept(request, parts, decoders, owner, SingleRequest)


@router.post(
    COMBO_PATH,
    operation_id="createComboTryOn",
    summary="Start a try-on with two to four garments",
    openapi_extra=read_by_hand(ComboRequest, examples=openapi.COMBO_REQUESTS, headers=[openapi.IDEMPOTENCY_KEY]),
    **START,
)
@RoutePolicy(scope="tryons", publishable=True, rate="requests", pictures=IN_COMBO)
async def create_combo(request: Request, parts: Parts, decoders: Decoders, owner: Owner) -> Response:
    """Accept the job and answer at once; poll it for the picture."""
    return await _accept(request, parts, decoders, owner, ComboRequest)


@router.get(
    SINGLE_PATH + "/{jobId}",
    operation_id="getTryOn",
    summary="How a job stands, and its picture once there is one",
    response_model=Poll,
    response_description="How the job stands.",
    responses={
        200: success(sometimes=["Retry-After", "Preference-Applied", "X-Error-Code"], examples=openapi.POLLS),
        **refusals(*PAGE_GATE, "job_not_found"),
    },
    openapi_extra=read_by_hand(headers=[openapi.PREFER]),
)
@RoutePolicy(scope="tryons", publishable=True, rate="requests")
async def get_tryon(request: Request, parts: Parts, own: OwnJobs, jobId: JobId) -> Response:  # the contract's spelling
    """Poll every 2 to 3 seconds, or as `Retry-After` says, until the status is completed or failed.

    Or send `Prefer: wait=30` and be answered when the job ends, or after that many seconds, for the price of one
    request.
    """
    wait = wait_preferred(request.headers.getlist("Prefer"), parts.settings.jobs.longest_wait_seconds)
    state = await own.state(jobId, wait)
    headers = {"Preference-Applied": f"wait={wait}"} if wait else {}
    if state.status == jobs.COMPLETED:
        return Response(completed_body(state), media_type="application/json", headers=headers)
    body: dict[str, Any] = {"status": state.status}
    if state.status == jobs.FAILED:
        body["error"] = state.error
        return JSONResponse(body, headers={**headers, "X-Error-Code": state.error_code})
    return JSONResponse(body, headers={"Retry-After": str(state.retry_after), **headers})


@router.delete(
    SINGLE_PATH + "/{jobId}",
    operation_id="eraseTryOn",
    summary="Erase a job: its picture, its inputs, and where they came from",
    status_code=204,
    response_description="Erased; polls are 404 from now on.",
    responses={204: success(), **refusals(*GATE, *SENDING, "job_not_found")},
)
@RoutePolicy(scope="tryons")
async def erase_tryon(own: OwnJobs, jobId: JobId) -> Response:  # the contract's spelling
    """A job in progress is cancelled and not billed. A completed one stays billed."""
    await own.delete(jobId)
    return Response(status_code=204)


def completed_body(state: JobState) -> bytes:
    """The answer with the picture, put together as bytes: base64 needs no escaping and no second copy."""
    return b'{"status":"completed","resultImageBase64":"%b","generationTimeMs":%d}' % (
        encode_data_uri_bytes(state.picture),
        state.generation_ms,
    )
