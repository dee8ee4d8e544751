"""The routes of the contract, and erasing a job: transport only."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.background import BackgroundTask

from api.gate import OWNER
from api.json_body import check_media_type, ignored_header
from api.openapi import error_answers, json_body
from api.parts import ApiParts
from api.tryon.accepting import JobAcceptor, RequestKey
from api.tryon.polling import JobReader, JobState, wait_preferred
from api.tryon.reading import read_request
from api.tryon.schemas import Accepted, ComboRequest, Completed, Failed, SingleRequest, StillProcessing
from domain import jobs
from imaging.data_uri import encode_data_uri_bytes

SINGLE_PATH, COMBO_PATH = "/api/v1/tryon", "/api/v1/tryon/combo"
RETRY_AFTER_SECONDS = 2
"""The contract's poll interval."""

IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED = "Idempotency-Key", "Idempotent-Replayed"

router = APIRouter(tags=["try-on"])


async def _accept(request: Request, model: type[SingleRequest | ComboRequest]) -> JSONResponse:
    parts: ApiParts = request.app.state.parts
    slots: asyncio.Semaphore = request.app.state.image_slots
    check_media_type(request.headers)
    body = await request.body()
    async with slots:
        read = await asyncio.to_thread(read_request, body, model, parts.limits)
        key = await asyncio.to_thread(RequestKey.read, request.headers.get(IDEMPOTENCY_KEY), request.url.path, body)
    acceptor = JobAcceptor(parts, slots)
    accepted = await acceptor.accept(request.scope["state"][OWNER], read, key)
    headers = {"Location": f"{SINGLE_PATH}/{accepted.job_id}", **ignored_header(read.ignored_fields)}
    if accepted.replayed:
        headers[IDEMPOTENT_REPLAYED] = "true"
    answer = {"jobId": str(accepted.job_id), "status": jobs.PROCESSING}
    return JSONResponse(answer, 202, headers=headers, background=BackgroundTask(acceptor.note_started, accepted))


@router.post(
    SINGLE_PATH,
    operation_id="createTryOn",
    summary="Start a try-on with one garment",
    status_code=202,
    response_description="Accepted; poll the job.",
    response_model=Accepted,
    responses=error_answers(400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503),
    openapi_extra=json_body(SingleRequest),
)
async def create_tryon(request: Request) -> Response:
    """Accept the job and answer at once; poll it for the picture."""
    return await _accept(request, SingleRequest)


@router.post(
    COMBO_PATH,
    operation_id="createComboTryOn",
    summary="Start a try-on with two to four garments",
    status_code=202,
    response_description="Accepted; poll the job.",
    response_model=Accepted,
    responses=error_answers(400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503),
    openapi_extra=json_body(ComboRequest),
)
async def create_combo(request: Request) -> Response:
    """Accept the job and answer at once; poll it for the picture."""
    return await _accept(request, ComboRequest)


@router.get(
    SINGLE_PATH + "/{jobId}",
    operation_id="getTryOn",
    summary="How a job stands, and its picture once there is one",
    response_model=StillProcessing | Completed | Failed,
    response_description="How the job stands.",
    responses=error_answers(401, 403, 404, 429, 500, 503),
)
async def get_tryon(request: Request, jobId: str) -> Response:  # the contract's own spelling
    """Poll every 2 to 3 seconds until the status is completed or failed; or send `Prefer: wait=30` and be answered
    when the job ends, or after that many seconds, for the price of one request.
    """  # noqa: D205  # one sentence of the reference
    parts: ApiParts = request.app.state.parts
    wait = wait_preferred(request.headers.getlist("Prefer"), parts.settings.jobs.longest_wait_seconds)
    state = await JobReader(parts, request.scope["state"][OWNER]).state(jobId, wait)
    headers = {"Preference-Applied": f"wait={wait}"} if wait else {}
    if state.status == jobs.COMPLETED:
        return Response(completed_body(state), media_type="application/json", headers=headers)
    body: dict[str, Any] = {"status": state.status}
    if state.status == jobs.FAILED:
        body["error"] = state.error
        return JSONResponse(body, headers={**headers, "X-Error-Code": state.error_code})
    return JSONResponse(body, headers={"Retry-After": str(RETRY_AFTER_SECONDS), **headers})


@router.delete(
    SINGLE_PATH + "/{jobId}",
    operation_id="eraseTryOn",
    summary="Erase a job: its picture, its inputs, and where they came from",
    status_code=204,
    response_description="Erased; polls are 404 from now on.",
    responses=error_answers(401, 403, 404, 429, 500, 503),
)
async def erase_tryon(request: Request, jobId: str) -> Response:  # the contract's own spelling
    """A job in progress is cancelled and not billed. A completed one stays billed."""
    parts: ApiParts = request.app.state.parts
    await JobReader(parts, request.scope["state"][OWNER]).erase(jobId)
    return Response(status_code=204)


def completed_body(state: JobState) -> bytes:
    """The answer with the picture, put together as bytes: base64 needs no escaping and no second copy."""
    return b'{"status":"completed","resultImageBase64":"%b","generationTimeMs":%d}' % (
        encode_data_uri_bytes(state.picture),
        state.generation_ms,
    )
