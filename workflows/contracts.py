"""Every model that crosses Temporal.

Pictures travel as `ObjectRef`, never as bytes, and every field is bounded: a test walks these models and fails on
one that could grow beyond what a history should hold.

Field names are camelCase on the wire and may be given in snake_case too, so that JSON typed into a command line
works either way. New fields need defaults: old histories are replayed with them.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal, Self, TypeAlias, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from engines import hints
from workflows.queues import INTERACTIVE_PRIORITY

Identifier = Annotated[str, Field(min_length=1, max_length=64)]
Url = Annotated[str, Field(max_length=2048)]
Hint = Annotated[str, Field(max_length=64)]
LONGEST_SENTENCE = 200
Sentence = Annotated[str, Field(max_length=LONGEST_SENTENCE)]
Category: TypeAlias = hints.CategoryName
MAX_GARMENTS = 4
FRONT, BACK = "garmentImageUrl", "garmentBackImageUrl"  # what requests and files call the pictures of a garment


Other = TypeVar("Other", bound="Contract")


class Contract(BaseModel):
    """Base of every model here."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True, frozen=True
    )

    def part(self, model: type[Other], **more: object) -> Other:
        """Another contract that has fields of this one's, by the same names, and more."""
        return model.model_validate({**{name: each for name, each in self if name in model.model_fields}, **more})


class ObjectRef(Contract):
    """Where an object lies and what it holds, in bytes and by their digest."""

    bucket: Annotated[str, Field(max_length=63)]
    key: Annotated[str, Field(max_length=512)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0)]
    content_type: Annotated[str, Field(max_length=64)]

    @classmethod
    def of(cls, bucket: str, key: str, data: bytes, content_type: str) -> Self:
        """Describe bytes that are stored, or about to be."""
        digest = hashlib.sha256(data).hexdigest()
        return cls(bucket=bucket, key=key, sha256=digest, size=len(data), content_type=content_type)


class GarmentHints(hints.GarmentHints, Contract):
    """How the garment is worn, as the caller said. Older histories may hold longer sizes."""

    size: Hint | None = None
    customer_size: Hint | None = None


class ProductRef(Contract):
    """Which registered garment this is, and as of which of its changes."""

    id: Identifier
    revision: Annotated[int, Field(ge=1)]


class GarmentSource(Contract):
    """A garment as it came in: stored already, or at an address that is still to be fetched."""

    index: Annotated[int, Field(ge=0, lt=MAX_GARMENTS)] = 0
    category: Category
    hints: GarmentHints = GarmentHints()
    picture: ObjectRef | None = None
    picture_url: Url | None = None
    back_picture: ObjectRef | None = None
    back_picture_url: Url | None = None
    product: ProductRef | None = None


class RehearsalScript(Contract):
    """How long a job of a test key takes, which no engine draws, and the code that it fails with, if it does."""

    delay_seconds: Annotated[int, Field(ge=0, le=60)] = 0
    error_code: Identifier | None = None


class TryOnInput(Contract):
    """One job, single or combo.

    Attributes:
        engine: Draws it, instead of the one that the GPU workers choose.
        deadline_seconds: How long it may take, from its acceptance.
        deadline_at: When that is over, as its row says; None in what was started before rows were asked.
        drawing_seconds: How long the networks of the workers' machines draw such a picture, as these have measured; 0
            where nobody has.
        priority: Temporal's priority key, 1 (first) to 5.
        rehearsal: Only for a test key's job.
        run_version: How the run goes: 1 as in release 0.5. In 2 only the stage of the drawing and the last one are
            written where searches look, since each writing is a task for Temporal's server, the steps after the
            drawing are tried in the workflow's own worker first, and steps outlast a store that is away.
    """

    job_id: Identifier
    account_id: Identifier
    kind: Literal["single", "combo"] = "single"
    person: ObjectRef
    garments: Annotated[list[GarmentSource], Field(min_length=1, max_length=MAX_GARMENTS)]
    seed: int = 0
    engine: Identifier | None = None
    deadline_seconds: Annotated[int, Field(ge=1, le=86_400)] = 300
    deadline_at: AwareDatetime | None = None
    drawing_seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0
    priority: Annotated[int, Field(ge=1, le=5)] = INTERACTIVE_PRIORITY
    rehearsal: RehearsalScript | None = None
    run_version: Literal[1, 2] = 1


class TryOnOutcome(Contract):
    """How a job ended."""

    status: Literal["completed", "failed"]
    generation_ms: int | None = None
    error_code: Identifier | None = None


class FetchGarmentInput(Contract):
    """Get one garment's pictures, upright and of a size that engines work with.

    Attributes:
        job_id: Whose garment it is, or the check's id.
        folder: Prefix of the keys that they are put under; the job's own where none is named.
        longest_download_seconds: After which an address counts as one that cannot be reached, as it does at its first
            error. Without it a download has the fetcher's own time, and is tried again.
    """

    job_id: Identifier
    garment: GarmentSource
    folder: Annotated[str, Field(max_length=128)] | None = None
    longest_download_seconds: float | None = None


class FetchedGarment(Contract):
    """A garment ready for an engine."""

    index: int
    category: Category
    hints: GarmentHints = GarmentHints()
    picture: ObjectRef
    back_picture: ObjectRef | None = None


class SegmentPersonInput(Contract):
    """Find the one person in the photo."""

    job_id: Identifier
    person: ObjectRef


class SegmentedPerson(Contract):
    """Where the person's parsing, pose and matte lie."""

    person_map: ObjectRef
    segment_ms: Annotated[int, Field(ge=0)] = 0


class RenderInput(Contract):
    """Draw the person wearing the garments."""

    job_id: Identifier
    person: ObjectRef
    person_map: ObjectRef
    garments: Annotated[list[FetchedGarment], Field(min_length=1, max_length=MAX_GARMENTS)]
    seed: int = 0
    engine: Identifier | None = None


class Drawing(Contract):
    """How far a network is with a picture; in the heartbeats of the step that draws it.

    Attributes:
        step: Which step of the network is under way, from 1.
        steps: How many there are, in all passes.
        seconds_left: Until the last one is done, as far as can be told.
    """

    step: Annotated[int, Field(ge=1)]
    steps: Annotated[int, Field(ge=1)]
    seconds_left: Annotated[float, Field(ge=0)]


class RehearseInput(Contract):
    """Play a test key's job."""

    job_id: Identifier
    person: ObjectRef
    error_code: Identifier | None = None


class RenderReport(Contract):
    """What a person asks about a picture afterwards; kept on the job's row.

    Attributes:
        region: Left, top, width and height, in pixels, of what differs from the photo; empty where nothing does.
    """

    engine: Annotated[str, Field(max_length=64)] = ""
    revision: Annotated[str, Field(max_length=64)] = ""
    region: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=4)] = []
    trained: bool = False
    hints_applied: Annotated[list[Hint], Field(max_length=32)] = []
    hints_not_applied: Annotated[dict[Hint, Sentence], Field(max_length=32)] = {}
    timings_ms: Annotated[dict[Hint, int], Field(max_length=64)] = {}
    checks: Annotated[dict[Hint, float], Field(max_length=64)] = {}


class RenderedPicture(Contract):
    """The picture as the engine left it, lossless."""

    picture: ObjectRef
    report: RenderReport


class WatermarkInput(Contract):
    """Turn the engine's picture into the JPEG that the client gets, signed with what else is told here."""

    job_id: Identifier
    account_id: Identifier
    picture: ObjectRef
    trained: bool = False
    engine: Annotated[str, Field(max_length=64)] = ""
    revision: Annotated[str, Field(max_length=64)] = ""
    region: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=4)] = []
    photo_sha256: Annotated[str, Field(max_length=64)] = ""


class WatermarkedPicture(Contract):
    """The result, and whether it carries the account's logo: ``off`` when none is wanted, and why not otherwise."""

    result: ObjectRef
    logo: Literal["off", "stamped", "missing", "not_usable"] = "off"


class SettleInput(Contract):
    """End the job with this picture."""

    job_id: Identifier
    result: ObjectRef
    report: RenderReport


class ReleaseInput(Contract):
    """End the job without a picture, with advice where a step knew more than the catalogue."""

    job_id: Identifier
    error_code: Identifier
    error_advice: Sentence | None = None


class CleanUpInput(Contract):
    """Delete what the job no longer needs."""

    job_id: Identifier


class Finding(Contract):
    """Something that one of a check's pictures shows.

    Attributes:
        code: Of a problem, the error with which a job would fail; of advice, see `engines.advice`.
        garment: Which garment's picture, from 0; None is the photo.
        advice: What to do about it, where more is known than the code says.
    """

    code: Identifier
    severity: Literal["problem", "advice"] = "problem"
    garment: Annotated[int, Field(ge=0, lt=MAX_GARMENTS)] | None = None
    advice: Sentence | None = None


class Findings(Contract):
    """Everything found."""

    findings: Annotated[list[Finding], Field(max_length=32)] = []


class RehearsedCheck(Findings):
    """What a test key's check finds, and after how long; nobody looks at the pictures."""

    delay_seconds: Annotated[int, Field(ge=0, le=60)] = 0


class CheckInput(Contract):
    """Say whether a job with these pictures would be drawn."""

    check_id: Identifier
    account_id: Identifier
    person: ObjectRef
    garments: Annotated[list[GarmentSource], Field(min_length=1, max_length=MAX_GARMENTS)]
    rehearsal: RehearsedCheck | None = None


class ExamineInput(Contract):
    """Look at a photo, and at those garments whose pictures could be had."""

    person: ObjectRef
    garments: Annotated[list[FetchedGarment], Field(max_length=MAX_GARMENTS)]


class CleanUpCheckInput(Contract):
    """Delete the pictures of a check."""

    check_id: Identifier
    account_id: Identifier


class SweepInput(Contract):
    """One round of the reconciler or the purge."""

    limit: Annotated[int, Field(ge=1, le=10_000)] = 500


class SweepReport(Contract):
    """What one round did.

    Attributes:
        more: Of product pictures: it found as many as it may at once, so there may be more.
    """

    released: int = 0
    deleted: int = 0
    forgotten: int = 0
    more: bool = False


class LedgerCheckInput(Contract):
    """Recompute every balance."""


class LedgerCheckReport(Contract):
    """How many places disagree; the log names them."""

    disagreements: int


class TryOnState(Contract):
    """Answer of the ``state`` query: what a run is doing, for people."""

    stage: Identifier
    garments: int
    engine: Identifier | None = None
    stage_ms: Annotated[dict[Hint, int], Field(max_length=16)] = {}
    error_code: Identifier | None = None


class SendMailInput(Contract):
    """Send a message that lies in the database."""

    mail_id: Identifier


class MailReport(Contract):
    """What became of it: ``gone`` is one that was deleted before it was sent."""

    outcome: Literal["sent", "refused", "gone"]


class DeliverWebhookInput(Contract):
    """Deliver a message that lies in the database to its endpoint."""

    delivery_id: Identifier


class WebhookReport(Contract):
    """How a delivery stands after an attempt: ``gone`` is one that was deleted. Only one that waits has a pause."""

    outcome: Literal["waiting", "delivered", "failed", "gone"]
    attempts: Annotated[int, Field(ge=0)] = 0
    pause_seconds: Annotated[int, Field(ge=0)] = 0


class FetchLogoInput(Contract):
    """Get a logo and keep it."""

    account_id: Identifier
    logo_url: Url


class SetWatermarkInput(FetchLogoInput):
    """Fetch a logo and make it the account's watermark."""

    enabled: bool = True


class FetchedLogo(Contract):
    """The kept copy: a PNG without metadata, and its size in pixels."""

    picture: ObjectRef
    width: Annotated[int, Field(ge=1)]
    height: Annotated[int, Field(ge=1)]


class SaveWatermarkInput(Contract):
    """Set a logo that was fetched."""

    account_id: Identifier
    logo_url: Url
    logo: FetchedLogo
    enabled: bool = True


class WatermarkSetting(Contract):
    """What is set now."""

    enabled: bool
    logo_url: Url
    logo: FetchedLogo


class EraseAccountInput(Contract):
    """Delete what an account has stored, now and after steps that were under way may have written something."""

    account_id: Identifier
    aftermath_seconds: Annotated[int, Field(ge=0, le=86_400)] = 300


class ErasedAccount(Contract):
    """The account that a step is about; it is blocked, and none of its keys is valid."""

    account_id: Identifier


class ErasureReport(Contract):
    """What was done.

    Attributes:
        cancelled: Jobs and backfills that were in progress.
        deleted: Objects.
        forgotten: Rows, without those of jobs, which are emptied and stay.
    """

    cancelled: int = 0
    deleted: int = 0
    forgotten: int = 0
