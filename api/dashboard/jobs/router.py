"""The pages of jobs: transport only."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy.orm import Session

from api.cursor import cursor_after, read_cursor
from api.dashboard.forms import PageRefused, read_form
from api.dashboard.jobs import in_words
from api.dashboard.jobs.in_words import KINDS, MODES, STATUSES, read_filter
from api.dashboard.rendering import page, query_with, redirect
from api.dashboard.stages import stage_of
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from api.tryon.polling import AccountJobs
from domain.errors import TryOnError
from domain.jobs import job_history
from domain.jobs.job_history import JobRecord
from domain.jobs.jobs import PROCESSING
from domain.tables import Job
from runtime.object_store import ObjectStoreUnavailableError
from workflows.queues import tryon_workflow_id

PAGE_JOBS = 50
HELD_SECONDS = 2
"""How long a page that waits for a job is held before it is told how far the job is."""

UNKNOWN = "No job with this ID in your account. Jobs are listed for 90 days."

router = APIRouter()


@router.get("/jobs")
async def list_jobs(request: Request) -> Response:
    """A page of jobs, newest first; a job's whole id leads to it."""
    parts, account_id, query = parts_of(request), visitor_of(request).account_id, request.query_params
    searched = query.get("job", "").strip()
    before = _place(query.get("before", ""))
    if searched and await parts.database.read(_find, account_id, searched) is not None:
        return redirect(f"/jobs/{searched}")
    codes = await parts.database.read(job_history.list_error_codes, account_id=account_id)
    asked = read_filter(query, codes)
    found = await parts.database.read(
        job_history.list_jobs, account_id=account_id, limit=PAGE_JOBS + 1, wanted=asked.wanted, before=before
    )
    jobs = found[:PAGE_JOBS]
    return page(
        request,
        "jobs/list.html",
        404 if searched else 422 if asked.errors else 200,
        jobs=jobs,
        asked=asked,
        options=_options(codes),
        kinds=KINDS,
        searched=searched,
        search_error=UNKNOWN if searched else "",
        older=query_with(query, before=cursor_after(jobs[-1]), job=None) if len(found) > PAGE_JOBS else None,
        newest=query_with(query, before=None, job=None) if before else None,
    )


@router.get("/jobs/{jobId}")
async def show_job(request: Request, jobId: str) -> Response:
    """Everything that is known of a job."""
    parts, now = parts_of(request), datetime.now(UTC)
    record = await _record(request, jobId)
    job, report = record.job, in_words.report_of(record.job)
    return page(
        request,
        "jobs/show.html",
        job=job,
        progress=await _progress(request, job),
        picture=in_words.fate_of_picture(job, now),
        can_delete=in_words.can_delete(job, now),
        bill=in_words.bill_of(record),
        asked_by=in_words.asked_by(record),
        kind=KINDS.get(job.kind, job.kind),
        reason=in_words.reason_of(job),
        advice=in_words.advice_of(job.error_code or ""),
        garments=in_words.garments_of(record),
        report=report,
        stages=in_words.stages_of(report) if report else [],
        details=in_words.details_of(report) if report else [],
        checks=in_words.checks_of(report) if report else [],
        hint_name=in_words.hint_name,
        run_url=parts.settings.temporal.run_url(tryon_workflow_id(str(job.id))),
    )


@router.get("/jobs/{jobId}/state")
async def job_state(request: Request, jobId: str) -> Response:
    """For the page of an open job: how it stands, as soon as it has ended or after a moment."""
    record = await _record(request, jobId)
    if record.job.status == PROCESSING:
        await _account_jobs(request).state(jobId, HELD_SECONDS)
        record = await _record(request, jobId)
    return JSONResponse({"status": record.job.status, "words": await _progress(request, record.job)})


@router.get("/jobs/{jobId}/result.jpg")
async def job_picture(request: Request, jobId: str) -> Response:
    """The picture while it is kept; to be saved with ``?download=1``."""
    record = await _record(request, jobId)
    state = await _account_jobs(request).state(jobId)
    if not state.picture:
        raise TryOnError("job_not_found")
    shown = "attachment" if request.query_params.get("download") else "inline"
    headers = {
        "Cache-Control": "no-store, private",
        "Content-Disposition": f'{shown}; filename="tryon-{record.job.id.hex[:8]}.jpg"',
    }
    return Response(state.picture, media_type="image/jpeg", headers=headers)


@router.get("/jobs/{jobId}/delete")
async def ask_to_delete(request: Request, jobId: str) -> Response:
    """Ask before something goes for good."""
    record = await _record(request, jobId)
    if not in_words.can_delete(record.job, datetime.now(UTC)):
        return redirect(f"/jobs/{record.job.id}", notice="job_gone_already")
    return page(request, "jobs/delete.html", job=record.job, bill=in_words.bill_of(record))


@router.post("/jobs/{jobId}/delete")
async def delete_job(request: Request, jobId: str) -> Response:
    """Delete what is stored of the job; one in progress is cancelled."""
    await read_form(request)
    record = await _record(request, jobId)
    if not in_words.can_delete(record.job, datetime.now(UTC)):
        return redirect(f"/jobs/{record.job.id}", notice="job_gone_already")
    try:
        await _account_jobs(request).delete(jobId)
    except ObjectStoreUnavailableError:
        # Nobody can fetch it any more, and the purge deletes it.
        return redirect(f"/jobs/{record.job.id}", notice="job_deleted_soon")
    return redirect(f"/jobs/{record.job.id}", notice="job_deleted")


async def _progress(request: Request, job: Job) -> str | None:
    """What is being done for an open job just now."""
    if job.status != PROCESSING:
        return None
    garments = len(job.workflow_input.get("garments", ()))
    return (await stage_of(parts_of(request).temporal, str(job.id), garments)).words


def _account_jobs(request: Request) -> AccountJobs:
    return AccountJobs(parts_of(request), visitor_of(request).account_id)


async def _record(request: Request, job_id: str) -> JobRecord:
    record = await parts_of(request).database.read(_find, visitor_of(request).account_id, job_id)
    if record is None:
        raise PageRefused(404, UNKNOWN)
    return record


def _find(session: Session, account_id: uuid.UUID, text: str) -> JobRecord | None:
    try:
        job_id = uuid.UUID(text)
    except ValueError:
        return None
    return job_history.find_record(session, account_id=account_id, job_id=job_id)


def _place(cursor: str) -> tuple[datetime, uuid.UUID] | None:
    try:
        return read_cursor(cursor) if cursor else None
    except TryOnError:
        raise PageRefused(400, "There is no such page of the list. Go back to the newest jobs.") from None


def _options(codes: list[str]) -> dict[str, list[tuple[str, str]]]:
    choices = {"status": STATUSES, "kind": KINDS, "mode": MODES, "error": {code: code for code in codes}}
    return {name: [("", "Any"), *labels.items()] for name, labels in choices.items()}
