"""Jobs in words: which ones a list shows, what came of one, what it cost, who asked, and what it was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlsplit

from pydantic.alias_generators import to_camel

from api.dashboard.forms import CATEGORIES
from api.dashboard.rendering import day
from domain.access.keys import TEST
from domain.errors import CATALOGUE, Audience, sentence_of
from domain.jobs.job_history import Booking, JobFilter, JobRecord
from domain.jobs.jobs import COMPLETED, FAILED, PROCESSING
from domain.tables import Job
from workflows.contracts import GarmentHints, GarmentSource, RenderReport
from workflows.queues import BULK_PRIORITY

STATUSES = {"completed": "Completed", "failed": "Failed", "processing": "In progress"}

KINDS = {"single": "Single", "combo": "Combo"}

MODES = {"live": "Live", "test": "Test"}

FIELDS = ("status", "kind", "error", "mode", "from", "to")

_YEARS = range(2000, 3000)
"""What databases and calendars have no trouble with."""


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
