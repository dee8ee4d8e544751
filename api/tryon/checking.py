"""Checking pictures: what a job with them would come to, for nothing.

The body is that of a job, and so are its refusals. No job, no reservation and no ledger entry is made, and the volume
is not asked.
"""

from __future__ import annotations

import uuid
from typing import Any

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from api import openapi
from api.body_limit import body_of
from api.json_body import WireModel, check_media_type, ignored_header, parse_body
from api.openapi import JSON_BODY, PAGE_GATE, PICTURES, VOLUME, read_by_hand, refusals, success
from api.parts import ApiParts, Decoders, Parts
from api.routes import Owner, RoutePolicy
from api.tryon.accepting import (
    FAILED,
    SLOW,
    SLOW_SECONDS,
    ReadRequest,
    Requester,
    read_request,
    refusal_in,
    rehearsal_product_ids,
    rehearsed_outcome,
    store_pictures,
)
from api.tryon.schemas import ComboRequest, SingleRequest, Verdict
from domain.errors import TryOnError
from domain.object_keys import check_prefix
from gateway.calls import RunFailedError, TemporalAwayError
from imaging.decoder_pool import DecoderPool
from intake.job import inspect_pictures, resolve_products
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import IN_COMBO
from workflows.contracts import CheckInput, Finding, RehearsedCheck
from workflows.steps import AWAY

CHECK_PATH = "/api/v1/tryon/check"

OF_PHOTOS = ("person_not_found", "several_people", "pose_not_usable")
OF_GARMENTS = ("garment_url_unreachable", "garment_url_too_large", "garment_url_not_an_image", "garment_not_recognised")
"""Errors of jobs that pictures are to blame for. The others nobody can foresee, and a check does not find them."""

log = structlog.get_logger(__name__)

router = APIRouter(tags=["try-on"])


class _Which(WireModel):
    garments: Any = None


@router.post(
    CHECK_PATH,
    operation_id="checkPictures",
    summary="Check a photo and garments before a try-on, for nothing",
    response_model=Verdict,
    response_description="What the pictures show.",
    responses={
        200: success(sometimes=["X-Ignored-Fields"], examples=openapi.VERDICTS),
        **refusals(*PAGE_GATE, *JSON_BODY, "products_only", "product_not_found", *PICTURES),
    },
    openapi_extra=read_by_hand(SingleRequest, ComboRequest, examples=openapi.SINGLE_REQUESTS | openapi.COMBO_REQUESTS),
)
@RoutePolicy(scope="tryons", publishable=True, rate="requests", pictures=IN_COMBO)
async def check_pictures(request: Request, parts: Parts, decoders: Decoders, owner: Owner) -> JSONResponse:
    """Look at the pictures as a try-on with this body would, and say what to change.

    Send the body of either way to start one. The engine finds the person and the garments and draws nothing, so a
    check is not billed and starts no job, and the pictures are deleted before the answer. It counts as one request.
    A job may still fail for a reason that only its finished picture shows.
    """
    check_media_type(request.headers)
    body = body_of(request)

    def read() -> ReadRequest:
        which, _ = parse_body(body, _Which)
        model = SingleRequest if which.garments is None else ComboRequest
        return read_request(body, model, parts.limits, products_only=owner.publishable)

    asked = await decoders.in_thread(owner.account_id, read)
    verdict = await verdict_on(asked, Requester.by_key(owner), parts, decoders)
    return JSONResponse(verdict.model_dump(mode="json"), headers=ignored_header(asked.ignored_fields))


async def verdict_on(request: ReadRequest, requester: Requester, parts: ApiParts, decoders: DecoderPool) -> Verdict:
    """Have a worker look at the pictures, and wait for that.

    Raises:
        TryOnError: What a job with this request would be refused with, but for its price; ``busy`` if no worker got to
            it in time, ``storage_unavailable`` if Temporal did not answer, or a worker had no answer of the store.
        ObjectStoreUnavailableError: Nothing was checked.
    """
    stand_ins = rehearsal_product_ids() if requester.test else ()
    garments = await parts.database.read(resolve_products, requester.account_id, request.garments, stand_ins=stand_ins)
    media_types = await inspect_pictures(request.pictures, parts.limits, decoders, requester.account_id)
    rehearsal = _rehearsal_of(request) if requester.test else None
    account_id, check_id = str(requester.account_id), str(uuid.uuid4())
    prefix = check_prefix(account_id, check_id)
    try:
        uploads = await store_pictures(
            parts.store, request.pictures, media_types, lambda number: f"{prefix}input-{number}"
        )
        check = CheckInput(
            check_id=check_id,
            account_id=account_id,
            person=uploads[request.person.field],
            garments=[garment.source(index, uploads) for index, garment in enumerate(garments)],
            rehearsal=rehearsal,
        )
        found = await parts.temporal.check_pictures(check, parts.settings.api.check_timeout_seconds)
    except BaseException as error:
        await _forget(parts, prefix)  # a run deletes it too; whether one has begun need not be known
        if isinstance(error, TimeoutError) or (isinstance(error, RunFailedError) and error.code is None):
            raise TryOnError("busy") from error
        if isinstance(error, TemporalAwayError):
            raise TryOnError("storage_unavailable") from error
        if isinstance(error, RunFailedError):
            raise TryOnError("storage_unavailable" if error.code == AWAY else "internal") from error
        raise
    return Verdict.of(found.findings, len(garments))


def _rehearsal_of(request: ReadRequest) -> RehearsedCheck:
    """What a test key's check finds.

    Raises:
        TryOnError: It is to be refused.
    """
    outcome = rehearsed_outcome(request)
    refusal = refusal_in(outcome)
    if refusal is not None and refusal.code not in VOLUME:
        raise refusal
    code = outcome.removeprefix(FAILED)
    named = next((index for index, each in enumerate(request.garments) if each.product_id == outcome), None)
    where = {**dict.fromkeys(OF_PHOTOS), **dict.fromkeys(OF_GARMENTS, named)}
    findings = [Finding(code=code, garment=where[code])] if code in where else []
    return RehearsedCheck(findings=findings, delay_seconds=SLOW_SECONDS if outcome == SLOW else 0)


async def _forget(parts: ApiParts, prefix: str) -> None:
    """Delete what was uploaded."""
    try:
        await parts.store.delete_prefix(prefix)
    except ObjectStoreUnavailableError:
        log.warning("pictures of a check are left to the purge", prefix=prefix)
