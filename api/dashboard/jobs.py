"""The pages of jobs, and what is said about a job there."""

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

from api.cursor import cursor_after, read_cursor
from api.dashboard.forms import CATEGORIES
from api.dashboard.rendering import day, page, query_with, redirect
from api.dashboard.stages import stage_of
from api.errors import PageRefused
from api.parts import ApiParts, Parts
from api.routes import AccountId
from api.tryon.polling import OwnJobs
from domain.access.keys import TEST
from domain.errors import CATALOGUE, Audience, TryOnError, sentence_of
from domain.jobs import job_history
from domain.jobs.job_history import Booking, JobFilter, JobRecord
from domain.jobs.jobs import COMPLETED, FAILED, PROCESSING
from domain.tables import Job
from runtime.object_store import ObjectStoreUnavailableError
from workflows.contracts import GarmentHints, GarmentSource, RenderReport
from workflows.queues import BULK_PRIORITY, tryon_workflow_id

PAGE_JOBS = 50

HELD_SECONDS = 2
"""How long a page that waits for a job is held before it is told how far the job is."""

UNKNOWN = "No job with this ID in your account. Jobs are listed for 90 days."

STATUSES = {"completed": "Completed", "failed": "Failed", "processing": "In progress"}

KINDS = {"single": "Single", "combo": "Combo"}

MODES = {"live": "Live", "test": "Test"}

FIELDS = ("status", "kind", "error", "mode", "from", "to")

_YEARS = range(2000, 3000)
"""What databases and calendars have no trouble with."""

STAGES = {
    "stage_accepted": "Waiting for a worker",
    "stage_preparing": "Reading the photo and the garments",
    "stage_rendering": "Drawing",
    "stage_rehearsing": "Rehearsing",
    "stage_watermarking": "Watermark and file",
}
"""What the parts of a job are called, in their order."""

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
    """A page of jobs, newest first; a job's whole id leads to it."""
    query = request.query_params
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
async def show_job(request: Request, parts: Parts, record: OwnRecord) -> Response:
    """Everything that is known of a job."""
    job, report, now = record.job, report_of(record.job), datetime.now(UTC)
    return page(
        request,
        "jobs/show.html",
        job=job,
        progress=await _progress(parts, job),
        picture=fate_of_picture(job, now),
        can_delete=can_delete(job, now),
        bill=bill_of(record),
        asked_by=asked_by(record),
        kind=KINDS.get(job.kind, job.kind),
        reason=reason_of(job),
        advice=advice_of(job.error_code or ""),
        garments=garments_of(record),
        report=report,
        stages=stages_of(report) if report else [],
        details=details_of(report) if report else [],
        checks=checks_of(report) if report else [],
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


@router.get("/jobs/{jobId}/result.jpg")
async def job_picture(request: Request, own: OwnJobs, record: OwnRecord, jobId: str) -> Response:
    """The picture while it is kept; to be saved with ``?download=1``."""
    state = await own.state(jobId)
    if not state.picture:
        raise TryOnError("job_not_found")
    shown = "attachment" if request.query_params.get("download") else "inline"
    headers = {
        "Cache-Control": "no-store, private",
        "Content-Disposition": f'{shown}; filename="tryon-{record.job.id.hex[:8]}.jpg"',
    }
    return Response(state.picture, media_type="image/jpeg", headers=headers)


@router.get("/jobs/{jobId}/delete")
async def ask_to_delete(request: Request, record: OwnRecord) -> Response:
    """Ask before something goes for good."""
    if not can_delete(record.job, datetime.now(UTC)):
        return redirect(f"/jobs/{record.job.id}", notice="job_gone_already")
    return page(request, "jobs/delete.html", job=record.job, bill=bill_of(record))


@router.post("/jobs/{jobId}/delete")
async def delete_job(own: OwnJobs, record: OwnRecord, jobId: str) -> Response:
    """Delete what is stored of the job; one in progress is cancelled."""
    if not can_delete(record.job, datetime.now(UTC)):
        return redirect(f"/jobs/{record.job.id}", notice="job_gone_already")
    try:
        await own.delete(jobId)
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
    """What was asked, and what is wrong with it.

    Attributes:
        values: By field, as it was sent.
        errors: Sentences, by field.
        wanted: What is right of it.
    """

    values: dict[str, str]
    errors: dict[str, str]
    wanted: JobFilter

    @property
    def active(self) -> bool:
        """Whether anything was asked."""
        return any(self.values.values())


def read_filter(query: Mapping[str, str], error_codes: Sequence[str]) -> AskedFilter:
    """Read the fields of an address; empty ones ask for nothing.

    Args:
        query: Its query.
        error_codes: Those that may be asked for.
    """
    values = {name: query.get(name, "").strip() for name in FIELDS}
    errors: dict[str, str] = {}
    choices = {"status": STATUSES, "kind": KINDS, "error": error_codes, "mode": MODES}
    for name, known in choices.items():
        if values[name] and values[name] not in known:
            errors[name] = "Choose one from the list."
    first, last = (_day(values, name, errors) for name in ("from", "to"))
    if first and last and last < first:
        errors["to"] = "The last day is before the first."
    chosen = {name: values[name] if values[name] and name not in errors else None for name in choices}
    wanted = JobFilter(
        status=chosen["status"],
        kind=chosen["kind"],
        error_code=chosen["error"],
        since=None if first is None else _midnight(first),
        until=None if last is None else _midnight(last + timedelta(days=1)),
        test=None if chosen["mode"] is None else chosen["mode"] == "test",
    )
    return AskedFilter(values, errors, wanted)


def _day(values: Mapping[str, str], name: str, errors: dict[str, str]) -> date | None:
    if not values[name]:
        return None
    try:
        day = date.fromisoformat(values[name])
    except ValueError:
        day = None
    if day is None or day.year not in _YEARS:
        errors[name] = "Write the day like 2026-03-31."
        return None
    return day


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


@dataclass(frozen=True)
class Share:
    """A stage, what it took, and that as a part of 100 of the longest."""

    label: str
    milliseconds: int
    share: float


@dataclass(frozen=True)
class GarmentLine:
    """A garment as it was asked for.

    Attributes:
        product: Public id of the registered garment that it is.
        revision: As of which of its changes.
        name: Its name now; none if it is not there any more.
        origin: Where its picture came from, if it is none of a product.
        hints: What was said of it, by the names of the fields.
    """

    category: str
    product: str | None
    revision: int | None
    name: str | None
    origin: str
    hints: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Bill:
    """What a job cost, in a word and in a sentence that says why."""

    word: str
    sentence: str


def bill_of(record: JobRecord) -> Bill:
    """Read the ledger's entries."""
    if record.test:
        asked = "it used a test key" if record.key else "it was a rehearsal"
        return Bill("not billed", f"Not billed: {asked}.")
    kinds = {booking.kind: booking for booking in record.bookings}
    if "settle" in kinds:
        return Bill("billed", f"Billed: one try-on from {_source(kinds['settle'])}.")
    if "release" in kinds:
        what = "cancelled try-ons" if record.job.error_code == "cancelled" else "failed try-ons"
        return Bill("not billed", f"Not billed: {what} are free.")
    if "reserve" in kinds:
        of = _source(kinds["reserve"])
        return Bill("reserved", f"Reserved: one try-on from {of}. You get it back if there is no picture.")
    return Bill("not billed", "Not billed: there is no ledger entry for it.")


def _source(booking: Booking) -> str:
    if booking.source == "trial":
        return "the trial"
    if booking.ends_at is None:
        return f"the top-up pack of {day(booking.starts_at)}"
    return f"the try-ons included from {day(booking.starts_at)} to {day(booking.ends_at)}"


def asked_by(record: JobRecord) -> str:
    """Whoever asked for the job."""
    if record.key is not None:
        kind = "Test key" if record.key.mode == TEST else "Key"
        return f"{kind} {record.key.prefix}…{record.key.last_four}"
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


def can_delete(job: Job, now: datetime) -> bool:
    """Whether anything is stored that the owner may delete: what was sent, or what came of it."""
    return job.erased_at is None and (job.expires_at is None or job.expires_at > now)


def garments_of(record: JobRecord) -> list[GarmentLine]:
    """What was asked for; nothing of a job that was deleted."""
    sources = [GarmentSource.model_validate(each) for each in record.job.workflow_input.get("garments", ())]
    return [_garment(source, record) for source in sources]


def _garment(source: GarmentSource, record: JobRecord) -> GarmentLine:
    product = source.product
    address = source.picture_url
    return GarmentLine(
        CATEGORIES[source.category],
        product.id if product else None,
        product.revision if product else None,
        record.product_names.get(product.id) if product else None,
        f"Picture from {urlsplit(address).hostname}" if address else "Picture sent with the request",
        _hints(source.hints),
    )


def _hints(hints: GarmentHints) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in hints.model_dump(by_alias=True, exclude_none=True).items()]


def report_of(job: Job) -> RenderReport | None:
    """What the engine reported; nothing of a job that is open, failed or was deleted."""
    return None if job.status != COMPLETED or job.report is None else RenderReport.model_validate(job.report)


def stages_of(report: RenderReport) -> list[Share]:
    """What each part of the job took."""
    return _shares([(label, report.timings_ms[name]) for name, label in STAGES.items() if name in report.timings_ms])


def details_of(report: RenderReport) -> list[Share]:
    """What the steps inside the segmenter and the engine took."""
    return _shares(
        [(_words(name), spent) for name, spent in report.timings_ms.items() if not name.startswith("stage_")]
    )


def checks_of(report: RenderReport) -> list[tuple[str, str]]:
    """Figures by which the picture was judged, with what they measure."""
    return [(CHECKS.get(name, _words(name)), f"{value:.3g}") for name, value in report.checks.items()]


def hint_name(name: str) -> str:
    """What callers call a hint of a report."""
    return {"kind": "garmentCategory", "back_picture": "garmentBackImageUrl"}.get(name) or to_camel(name)


def reason_of(job: Job) -> str:
    """Why a job failed, in the sentence that a poll tells."""
    return sentence_of(job.error_code or "", job.error_advice)


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _shares(spent: Sequence[tuple[str, int]]) -> list[Share]:
    longest = max((each for _, each in spent), default=0) or 1
    return [Share(label, each, round(100 * each / longest, 1)) for label, each in spent]
