"""The pages of jobs, and what is said about a job there and in the playground."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic.alias_generators import to_camel
from sqlalchemy.orm import Session

from api.cursor import cursor_at, read_cursor
from api.dashboard.forms import CATEGORIES
from api.dashboard.rendering import day, page, query_with, redirect
from api.errors import PageRefused
from api.parts import ApiParts, PageDecoders, Parts
from api.routes import AccountId
from api.tryon.pictures import MEDIA_TYPES, picture_answer
from api.tryon.polling import OwnJobs
from domain.access.keys import TEST
from domain.errors import CATALOGUE, Audience, TryOnError, sentence_of
from domain.jobs import job_history
from domain.jobs.job_history import MOST_SEARCHED, Booking, JobFilter, JobRecord
from domain.jobs.jobs import COMPLETED, FAILED, PROCESSING, can_delete
from domain.tables import Job
from engines.pace import progress_words
from gateway.calls import TemporalAwayError
from gateway.temporal import Progress, TemporalGateway
from runtime.object_store import ObjectStoreUnavailableError
from workflows import steps
from workflows.contracts import Drawing, GarmentSource, RenderReport
from workflows.queues import BULK_PRIORITY, tryon_workflow_id

PAGE_JOBS = 50

HELD_SECONDS = 2
"""How long a page that waits for a job is held before it is told how far the job is."""

UNKNOWN = "No job with this ID in your account. Jobs are listed for 90 days."

SEVERAL = "Several job IDs begin like this. Enter more of it."

STATUSES = {"completed": "Completed", "failed": "Failed", "processing": "In progress"}

KINDS = {"single": "Single", "combo": "Combo"}

MODES = {"live": "Live", "test": "Test"}

ENDINGS = dict(zip(("jpg", "png", "webp"), MEDIA_TYPES, strict=True))
"""What a picture may be saved as: how its file ends, and its media type."""

_YEARS = range(2000, 3000)
"""What databases and calendars have no trouble with."""

TIMINGS = {
    "stage_accepted": "Waiting for a worker",
    "stage_preparing": "Reading the photo and the garments",
    "stage_rendering": "Drawing",
    "stage_rehearsing": "Rehearsing",
    "stage_watermarking": "Watermark and file",
}
"""What the parts of a job are called when it is over, in their order."""

QUEUE, PHOTO, GARMENT, DRAWING, FINISHING = "queue", "photo", "garment", "drawing", "finishing"
STAGES = {
    QUEUE: "In the queue",
    PHOTO: "Looking at the photo",
    GARMENT: "Fetching the garment",
    DRAWING: "Drawing",
    FINISHING: "Finishing",
}
"""In the order in which a job goes through them."""

AWAY = "Waiting for a part of the service that is away"

_OF_STEP = {
    steps.SEGMENT_PERSON.name: PHOTO,  # before garments: they are fetched beside it, and it usually takes longer
    steps.FETCH_GARMENT.name: GARMENT,
    steps.RENDER.name: DRAWING,
    steps.REHEARSE.name: DRAWING,
    steps.WATERMARK.name: FINISHING,
    steps.SETTLE.name: FINISHING,
}

CHECKS = {
    "contrast": "Contrast of the picture",
    "changed": "Change where old clothes were",
    "changed_share": "Share of the picture that changed",
    "outside": "Share that changed away from the garments",
    "shift": "Shift of the picture",
    "cast": "Tint of the picture",
    "face": "Likeness of the face",
    "people_off_by": "People too many or too few",
    "pose": "Movement of the joints",
    "colours": "Colours of the garment that are seen",
}
"""What the figures measure; others go by their own names."""

_ADVICE = {
    Audience.SHOPPER: "Use another picture: the same one will fail again.",
    Audience.CALLER: "Fix the request before you retry; the same request will fail again.",
    Audience.OPERATOR: "The same request may succeed if you retry it.",
}

_REPEAT = "Retry it, or use another picture."

router = APIRouter()


async def _own_record(parts: Parts, account_id: AccountId, jobId: str) -> JobRecord:
    record = await parts.database.read(_find, account_id, jobId)
    if record is None:
        raise PageRefused(404, UNKNOWN)
    return record


OwnRecord = Annotated[JobRecord, Depends(_own_record)]
"""A route's argument: what is known of the account's job that its address names."""


@router.get("/jobs")
async def list_jobs(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """A page of jobs, newest first; a job's id leads to it, or so much of its beginning that it is the only one."""
    query = request.query_params
    searched = query.get("job", "").strip()
    before = _place(query.get("before", ""))
    alike = await parts.database.read(_alike, account_id, searched) if searched else ()
    if len(alike) == 1:
        return redirect(f"/jobs/{alike[0]}")
    codes = await parts.database.read(job_history.list_error_codes, account_id=account_id)
    asked = read_filter(query, codes)
    found = await parts.database.read(
        job_history.list_jobs, account_id=account_id, limit=PAGE_JOBS, wanted=asked.wanted, before=before
    )
    return page(
        request,
        "jobs/list.html",
        404 if searched else 422 if asked.errors else 200,
        jobs=found.jobs,
        asked=asked,
        options=_options(codes),
        kinds=KINDS,
        searched=searched,
        search_error=(SEVERAL if alike else UNKNOWN) if searched else "",
        looked_through=MOST_SEARCHED,
        older=query_with(query, "/jobs", before=cursor_at(found.next), job=None) if found.next else None,
        newest=query_with(query, "/jobs", before=None, job=None) if before else None,
    )


@router.get("/jobs/{jobId}")
async def show_job(request: Request, parts: Parts, record: OwnRecord) -> Response:
    """Everything that is known of a job."""
    job, report, now = record.job, report_of(record.job), datetime.now(UTC)
    return page(
        request,
        "jobs/show.html",
        job=job,
        progress=await _progress(parts, job),
        picture=fate_of_picture(job, now),
        can_delete=can_delete(job, copied=record.copied, now=now),
        bill=bill_of(record),
        asked_by=asked_by(record),
        kind=KINDS.get(job.kind, job.kind),
        reason=sentence_of(job.error_code or "", job.error_advice),
        advice=advice_of(job.error_code or ""),
        garments=[GarmentSource.model_validate(each) for each in job.workflow_input.get("garments", ())],
        names=record.product_names,
        categories=CATEGORIES,
        host_of=lambda address: urlsplit(address).hostname,
        report=report,
        stages=shares(report, TIMINGS) if report else [],
        details=shares(report) if report else [],
        checks=[(CHECKS.get(name, words_for(name)), value) for name, value in report.checks.items()] if report else [],
        hint_name=hint_name,
        run_url=parts.settings.temporal.run_url(tryon_workflow_id(str(job.id))),
    )


@router.get("/jobs/{jobId}/state")
async def job_state(parts: Parts, account_id: AccountId, own: OwnJobs, record: OwnRecord, jobId: str) -> Response:
    """For the page of an open job: how it stands, as soon as it has ended or after a moment."""
    if record.job.status == PROCESSING:
        await own.state(jobId, HELD_SECONDS)
        record = await _own_record(parts, account_id, jobId)
    return JSONResponse({"status": record.job.status, "words": await _progress(parts, record.job)})


@router.get("/jobs/{jobId}/result.{ending}")
async def job_picture(
    request: Request, *, parts: Parts, decoders: PageDecoders, own: OwnJobs, record: OwnRecord, jobId: str, ending: str
) -> Response:
    """The picture while it is kept, in one of `ENDINGS`; to be saved with ``?download=1``."""
    if ending not in ENDINGS:
        raise PageRefused(404, "The picture can be had as .jpg, .png or .webp.")
    answer = await picture_answer(request, parts, decoders, own, jobId, media_type=ENDINGS[ending], size=None)
    shown = "attachment" if request.query_params.get("download") else "inline"
    answer.headers["Cache-Control"] = "no-store, private"
    answer.headers["Content-Disposition"] = f'{shown}; filename="tryon-{record.job.id.hex[:8]}.{ending}"'
    return answer


@router.get("/jobs/{jobId}/delete")
async def ask_to_delete(request: Request, record: OwnRecord) -> Response:
    """Ask before something goes for good."""
    if not can_delete(record.job, copied=record.copied, now=datetime.now(UTC)):
        return redirect(f"/jobs/{record.job.id}", notice="job_gone_already")
    return page(request, "jobs/delete.html", job=record.job)


@router.post("/jobs/{jobId}/delete")
async def delete_job(own: OwnJobs, record: OwnRecord, jobId: str) -> Response:
    """Delete what is stored of the job; one in progress is cancelled."""
    try:
        await own.delete(jobId)
    except TryOnError:
        return redirect(f"/jobs/{record.job.id}", notice="job_gone_already")
    except ObjectStoreUnavailableError:
        # Nobody can fetch it any more, and the purge deletes it.
        return redirect(f"/jobs/{record.job.id}", notice="job_deleted_soon")
    return redirect(f"/jobs/{record.job.id}", notice="job_deleted")


async def _progress(parts: ApiParts, job: Job) -> str | None:
    """What is being done for an open job just now."""
    if job.status != PROCESSING:
        return None
    garments = len(job.workflow_input.get("garments", ()))
    return (await stage_of(parts.temporal, str(job.id), garments)).words


def _find(session: Session, account_id: uuid.UUID, text: str) -> JobRecord | None:
    try:
        job_id = uuid.UUID(text)
    except ValueError:
        return None
    return job_history.find_record(session, account_id=account_id, job_id=job_id)


def _alike(session: Session, account_id: uuid.UUID, text: str) -> Sequence[uuid.UUID]:
    try:
        return job_history.with_prefix(session, account_id=account_id, prefix=text, limit=2)
    except ValueError:
        return ()


def _place(cursor: str) -> tuple[datetime, uuid.UUID] | None:
    try:
        return read_cursor(cursor) if cursor else None
    except TryOnError:
        raise PageRefused(400, "There is no such page of the list. Go back to the newest jobs.") from None


def _options(codes: list[str]) -> dict[str, list[tuple[str, str]]]:
    choices = {"status": STATUSES, "kind": KINDS, "mode": MODES, "error": {code: code for code in codes}}
    return {name: [("", "Any"), *labels.items()] for name, labels in choices.items()}


@dataclass(frozen=True)
class AskedFilter:
    """What was sent in each field, a sentence for each that is wrong, and what is right of it."""

    values: dict[str, str]
    errors: dict[str, str]
    wanted: JobFilter

    @property
    def active(self) -> bool:
        """Whether anything was asked."""
        return any(self.values.values())


def read_filter(query: Mapping[str, str], error_codes: Sequence[str]) -> AskedFilter:
    """Read the fields of an address; empty ones ask for nothing, and so do those that are wrong."""
    choices = {"status": STATUSES, "kind": KINDS, "error": error_codes, "mode": MODES}
    values = {name: query.get(name, "").strip() for name in (*choices, "from", "to")}
    errors = {
        name: "Choose one from the list."
        for name, known in choices.items()
        if values[name] and values[name] not in known
    }
    chosen = {name: values[name] or None if name not in errors else None for name in choices}
    days = {name: _midnight(values[name]) for name in ("from", "to")}
    errors |= {name: "Write the day like 2026-03-31." for name, day in days.items() if values[name] and day is None}
    first, last = days["from"], days["to"]
    if first and last and last < first:
        errors["to"] = "The last day is before the first."
    wanted = JobFilter(
        status=chosen["status"],
        kind=chosen["kind"],
        error_code=chosen["error"],
        since=first,
        until=last and last + timedelta(days=1),
        test=None if chosen["mode"] is None else chosen["mode"] == "test",
    )
    return AskedFilter(values, errors, wanted)


def _midnight(text: str) -> datetime | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime.combine(day, time(), UTC) if day.year in _YEARS else None


def bill_of(record: JobRecord) -> str:
    """What the job cost and why, as the ledger has it."""
    kinds = {booking.kind: booking for booking in record.bookings}
    if record.test:
        return f"Not billed: {'it used a test key' if record.key else 'it was a rehearsal'}."
    if "settle" in kinds:
        return f"Billed: one try-on from {_source(kinds['settle'])}."
    if "release" in kinds:
        what = "cancelled try-ons" if record.job.error_code == "cancelled" else "failed try-ons"
        return f"Not billed: {what} are free."
    if "reserve" in kinds:
        return f"Reserved: one try-on from {_source(kinds['reserve'])}. You get it back if there is no picture."
    return "Not billed: there is no ledger entry for it."


def _source(booking: Booking) -> str:
    if booking.source == "trial":
        return "the trial"
    if booking.ends_at is None:
        return f"the top-up pack of {day(booking.starts_at)}"
    return f"the try-ons included from {day(booking.starts_at)} to {day(booking.ends_at)}"


def asked_by(record: JobRecord) -> str:
    """Who asked for the job."""
    if record.key is not None:
        kind = "Test key" if record.key.mode == TEST else "Key"
        named = f", {record.key.name}" if record.key.name else ""
        return f"{kind} {record.key.prefix}…{record.key.last_four}{named}"
    if record.backfill_id is not None:
        return f"Backfill {record.backfill_id}"
    if record.job.workflow_input.get("priority") == BULK_PRIORITY:
        return "A backfill"
    return "Playground"


def advice_of(code: str) -> str:
    """What can be done about a failure, besides what its sentence says."""
    entry = CATALOGUE.get(code, CATALOGUE["generation_failed"])
    return _REPEAT if entry.retryable and entry.audience is Audience.SHOPPER else _ADVICE[entry.audience]


def fate_of_picture(job: Job, now: datetime) -> str:
    """``kept``, ``coming``, ``deleted`` when it was time, ``erased`` by the owner, or ``none`` where nothing came."""
    if job.erased_at is not None:
        return "erased"
    if job.status == PROCESSING:
        return "coming"
    if job.status == FAILED:
        return "none"
    return "kept" if job.result_key and job.expires_at and job.expires_at > now else "deleted"


def report_of(job: Job) -> RenderReport | None:
    """What the engine reported; nothing of a job that is open, failed or was deleted."""
    return None if job.status != COMPLETED or job.report is None else RenderReport.model_validate(job.report)


def hint_name(name: str) -> str:
    """What callers call a hint of a report."""
    return {"kind": "garmentCategory", "back_picture": "garmentBackImageUrl"}.get(name) or to_camel(name)


def words_for(name: str) -> str:
    """A name of an engine's for people."""
    return name.replace("_", " ").capitalize()


def shares(report: RenderReport, labels: Mapping[str, str] | None = None) -> list[tuple[str, int, float]]:
    """Label and milliseconds of each part of a job, and its length as a part of 100 of the longest.

    Without labels it is about the steps inside the segmenter and the engine.
    """
    if labels is None:
        labels = {name: words_for(name) for name in report.timings_ms if not name.startswith("stage_")}
    spent = [(label, report.timings_ms[name]) for name, label in labels.items() if name in report.timings_ms]
    longest = max((each for _, each in spent), default=0) or 1
    return [(label, each, round(100 * each / longest, 1)) for label, each in spent]


@dataclass(frozen=True)
class Stage:
    """Where an open job is.

    Attributes:
        name: One of `STAGES`.
        garment: Which garment is being fetched, from 1; None when none is.
        drawing: How far the network is, while one draws.
        waits: Whether it can only wait for a part of the service that is away.
    """

    name: str
    garment: int | None = None
    drawing: Drawing | None = None
    waits: bool = False

    @property
    def words(self) -> str:
        """For people."""
        words, drawing = AWAY if self.waits else STAGES[self.name], self.drawing
        return f"{words}: {progress_words(drawing.step, drawing.steps, drawing.seconds_left)}" if drawing else words


async def stage_of(temporal: TemporalGateway, job_id: str, garments: int) -> Stage:
    """Where the run of an open job is; in the queue, if that cannot be learned in time."""
    try:
        return stage_in(await temporal.progress_of_job(job_id), garments)
    except TemporalAwayError:
        return Stage(QUEUE)


def stage_in(progress: Progress, garments: int) -> Stage:
    """The stage that the steps under way come to."""
    name = next((stage for step, stage in _OF_STEP.items() if progress.pending.get(step)), None)
    if name is None:  # before the first step, between two, or in those that run beside the workflow
        name = {"": QUEUE, "accepted": QUEUE, "rendering": FINISHING}.get(progress.stage, DRAWING)
        return Stage(name, waits=progress.waits and progress.stage != "rehearsing")
    fetching = progress.pending.get(steps.FETCH_GARMENT.name, 0)
    return Stage(name, max(1, garments - fetching + 1) if name == GARMENT else None, progress.drawing)
