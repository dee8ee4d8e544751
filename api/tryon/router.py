"""The three routes of the contract: transport only."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.background import BackgroundTask

from api.gate import OWNER
from api.openapi import error_answers, json_body
from api.parts import ApiParts
from api.tryon.reading import inspect_pictures, read_request
from api.tryon.schemas import Accepted, ComboRequest, Completed, Failed, SingleRequest, StillProcessing
from api.tryon.service import JobState, TryOnService
from domain import jobs
from domain.errors import TryOnError
from imaging.data_uri import encode_data_uri_bytes

SINGLE_PATH, COMBO_PATH = "/api/v1/tryon", "/api/v1/tryon/combo"
RETRY_AFTER_SECONDS = 2
"""The contract's poll interval."""

router = APIRouter(tags=["try-on"])


async def _accept(request: Request, model: type[SingleRequest | ComboRequest]) -> JSONResponse:
    parts: ApiParts = request.app.state.parts
    media_type = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise TryOnError("content_type_not_json")
    body = await request.body()
    async with request.app.state.image_slots:
        read = await asyncio.to_thread(read_request, body, model, parts.limits)
        if any(garment.fields.product_id is not None for garment in read.garments):
            raise TryOnError("product_not_found")
        facts = await asyncio.to_thread(inspect_pictures, read, parts.limits)
    service = TryOnService(parts)
    accepted = await service.accept(request.scope["state"][OWNER], read, facts)
    headers = {"Location": f"{SINGLE_PATH}/{accepted.job_id}"}
    if read.ignored_fields:
        headers["X-Ignored-Fields"] = header_list(read.ignored_fields)
    answer = {"jobId": str(accepted.job_id), "status": jobs.PROCESSING}
    return JSONResponse(answer, 202, headers=headers, background=BackgroundTask(service.note_started, accepted))


def header_list(names: list[str], longest: int = 1000) -> str:
    """Names as one header value: printable ASCII only, and not without end."""
    text = ", ".join(name.encode("ascii", "replace").decode() for name in names)
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:longest]


@router.post(
    SINGLE_PATH,
    operation_id="createTryOn",
    summary="Start a try-on with one garment",
    status_code=202,
    response_description="Accepted; poll the job.",
    response_model=Accepted,
    responses=error_answers(400, 401, 403, 404, 413, 422, 500, 503),
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
    responses=error_answers(400, 401, 403, 404, 413, 422, 500, 503),
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
    responses=error_answers(401, 403, 404, 500, 503),
)
async def get_tryon(request: Request, jobId: str) -> Response:  # the contract's own spelling
    """Poll every 2 to 3 seconds until the status is completed or failed."""
    parts: ApiParts = request.app.state.parts
    state = await TryOnService(parts).state(request.scope["state"][OWNER], jobId)
    if state.status == jobs.COMPLETED:
        return Response(completed_body(state), media_type="application/json")
    body: dict[str, Any] = {"status": state.status}
    if state.status == jobs.FAILED:
        body["error"] = state.error
        return JSONResponse(body)
    return JSONResponse(body, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def completed_body(state: JobState) -> bytes:
    """The answer with the picture, put together as bytes: base64 needs no escaping and no second copy."""
    return b'{"status":"completed","resultImageBase64":"%b","generationTimeMs":%d}' % (
        encode_data_uri_bytes(state.picture),
        state.generation_ms,
    )
