"""The form, starting a job from it, and how the job stands: transport only."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.background import BackgroundTask

from api.dashboard import samples
from api.dashboard.forms import HINTS, RULES, Form, read_form, wants_json
from api.dashboard.jobs import in_words
from api.dashboard.playground.fields import (
    PRODUCT,
    SOURCES,
    Attempt,
    AttemptRefused,
    in_garment,
    is_filled,
    standing_of,
)
from api.dashboard.rendering import page, redirect, static_url
from api.dashboard.stages import STAGES, stage_of
from api.dashboard.visitor import visitor_of
from api.parts import ApiParts, parts_of
from api.rate_limit.limiter import whole_seconds
from api.routes import policy
from api.tryon.accepting import AcceptedJob, JobAcceptor, Requester, read_request
from api.tryon.polling import AccountJobs
from api.tryon.schemas import JobId
from domain import products
from domain.access.rates import RatePolicy
from domain.errors import TryOnError
from domain.jobs import job_history, jobs
from domain.tables import Job, Product
from engines.garment_kinds import GarmentKind
from imaging.decoder_pool import DecoderPool
from runtime.settings.service import IN_COMBO
from workflows.contracts import MAX_GARMENTS

RUNS = RatePolicy("playground", requests=20, window_seconds=300)
"""How often one account may press the button: as often as a key may call, and apart from every key's own budget."""

PRODUCTS_OFFERED = 100

router = APIRouter()


@router.get("/playground")
async def show(request: Request, productId: str = "", personSource: str = "") -> Response:  # as the form names them
    """The form: empty, or with a product and the sample portrait chosen."""
    form = Form()
    form.add("personSource", personSource)
    if productId:
        form.add(in_garment(0, "source"), "product")
        form.add(in_garment(0, PRODUCT), productId)
    return await _form_page(request, form)


@router.post("/playground/run")
@policy(pictures=IN_COMBO)
async def run(request: Request) -> Response:
    """Start the job that the form describes, through the very checks, quota and ledger of the API."""
    form = await read_form(request)
    try:
        acceptor, accepted = await _accept(request, form)
    except AttemptRefused as refused:
        return await _refused(request, form, refused)
    answer: Response
    if wants_json(request):
        answer = JSONResponse({"jobId": str(accepted.job_id)}, 202)
    else:
        answer = redirect(f"/jobs/{accepted.job_id}")
    answer.background = BackgroundTask(acceptor.note_started, accepted)
    return answer


@router.get("/playground/jobs/{jobId}/state")
async def state(request: Request, jobId: JobId) -> Response:  # spelled as in the contract
    """How a job stands, for the script that waits for it."""
    parts, account_id = parts_of(request), visitor_of(request).account_id
    standing = await AccountJobs(parts, account_id).state(jobId)
    answer: dict[str, Any] = {"status": standing.status}
    if standing.status == jobs.PROCESSING:
        answer |= await _under_way(parts, account_id, jobId)
    else:
        answer |= await _means(parts, account_id)
    if standing.status == jobs.COMPLETED:
        answer["generationTimeMs"] = standing.generation_ms
        answer["hintsNotFollowed"] = await _hints_not_followed(parts, account_id, jobId)
    if standing.status == jobs.FAILED:
        answer["error"] = standing.error
    return JSONResponse(answer)


async def _accept(request: Request, form: Form) -> tuple[JobAcceptor, AcceptedJob]:
    parts, account_id = parts_of(request), visitor_of(request).account_id
    decoders: DecoderPool = request.app.state.decoders
    attempt = Attempt.read(form)
    rate = await parts.rate_limiter.log.hit(account_id, RUNS)
    try:
        if not rate.admitted:
            raise TryOnError("rate_limited", retry_after=whole_seconds(rate))
        read = await decoders.in_thread(account_id, lambda: read_request(attempt.body(), attempt.model, parts.limits))
        acceptor = JobAcceptor(parts, decoders)
        return acceptor, await acceptor.accept(Requester(account_id), read, None)
    except TryOnError as error:
        raise attempt.locate(error) from None


async def _refused(request: Request, form: Form, refused: AttemptRefused) -> Response:
    headers = {} if refused.retry_after is None else {"Retry-After": str(refused.retry_after)}
    if wants_json(request):
        answer = {"error": " ".join(refused.errors.values()), "fields": refused.errors}
        return JSONResponse(answer, refused.status, headers=headers)
    shown = await _form_page(request, form, refused.status, refused.errors)
    shown.headers.update(headers)
    return shown


async def _form_page(request: Request, form: Form, status: int = 200, errors: dict[str, str] | None = None) -> Response:
    parts, account_id = parts_of(request), visitor_of(request).account_id
    standing = await parts.database.read(standing_of, parts.plans, account_id=account_id, now=datetime.now(UTC))
    newest = await parts.database.read(products.list_products, account_id=account_id, limit=PRODUCTS_OFFERED)
    under_way = await parts.database.read(job_history.newest_open_of_owner, account_id=account_id)
    offered = _told_apart(newest)
    chosen = form.text(in_garment(0, PRODUCT))
    if chosen and chosen not in offered:
        form.add(in_garment(0, f"{PRODUCT}.other"), chosen)
    return page(
        request,
        "playground/form.html",
        status,
        form=form,
        errors=errors or {},
        standing=standing,
        under_way=under_way,
        products=list(offered.items()),
        samples=[(garment.name, garment.label) for garment in samples.SAMPLES.values()],
        sample_details=json.dumps(
            {garment.name: [static_url(garment.file), garment.category] for garment in samples.SAMPLES.values()}
        ),
        portrait=samples.file_of(samples.PORTRAIT),
        sources=SOURCES,
        stages=STAGES,
        kinds=[kind.value for kind in GarmentKind],
        hints=HINTS,
        rules=RULES,
        in_garment=in_garment,
        garment_places=range(MAX_GARMENTS),
        filled_places=[place for place in range(MAX_GARMENTS) if is_filled(form, place)],
        largest=parts.limits.max_bytes,
        base_url=parts.settings.dashboard.base_url(parts.settings.api),
    )


async def _job(parts: ApiParts, account_id: uuid.UUID, job_id: str) -> Job:
    identifier = uuid.UUID(job_id)
    job = await parts.database.read(jobs.find_job, job_id=identifier, account_id=account_id)
    if job is None:
        raise TryOnError("job_not_found")
    return job


async def _under_way(parts: ApiParts, account_id: uuid.UUID, job_id: str) -> dict[str, Any]:
    job = await _job(parts, account_id, job_id)
    garments = len(job.workflow_input.get("garments", ()))
    stage = await stage_of(parts.temporal, str(job.id), garments)
    return {
        "stage": stage.name,
        "words": stage.words,
        "garment": stage.garment,
        "garments": garments,
        "elapsedMs": round((datetime.now(UTC) - job.created_at).total_seconds() * 1000),
    }


async def _hints_not_followed(parts: ApiParts, account_id: uuid.UUID, job_id: str) -> list[str]:
    """By the names of the fields."""
    report = in_words.report_of(await _job(parts, account_id, job_id))
    return [in_words.hint_name(name) for name in report.hints_not_applied] if report else []


async def _means(parts: ApiParts, account_id: uuid.UUID) -> dict[str, Any]:
    standing = await parts.database.read(standing_of, parts.plans, account_id=account_id, now=datetime.now(UTC))
    return {"means": standing.sentence, "refusal": standing.refusal}


def _told_apart(found: Sequence[Product]) -> dict[str, str]:
    """What each product is called in a list, by public id: those of one name by something more."""
    times = Counter(product.name for product in found)
    labels = {}
    for product in found:
        public_id = products.public_id(product.id)
        more = product.external_id or f"…{public_id[-6:]}"
        labels[public_id] = product.name if times[product.name] == 1 else f"{product.name} ({more})"
    return labels
