"""Every model that crosses Temporal for a backfill and its steps; see `workflows.contracts` for the rules."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field

from engines.hints import GarmentHints
from workflows.contracts import MAX_GARMENTS, Category, Contract, Identifier, TryOnInput, Url
from workflows.queues import BULK_PRIORITY

ItemKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$", max_length=64)]
"""An item's name within its account; its picture is kept under it."""

BACKFILL_ID = r"^[A-Za-z0-9._-]{1,64}$"

BackfillId = Annotated[str, Field(pattern=BACKFILL_ID, max_length=64)]  # a backfill's name: its workflow id

BACKFILL_INVALID = "backfill_invalid"
"""Type of the failure of a backfill whose input is wrong; its message names rows and fields."""

StoredOrRemote = Url
"""Where a picture is: a key of the object store below ``backfills/``, or an https:// address."""

Number = Annotated[int, Field(ge=0)]  # an item's place in its backfill, from 0

LARGEST_WINDOW = 64  # items in flight at the same time; more than any one GPU host can use

INLINE_BYTES = 40 * 1024  # items in the input itself, as JSON; more of them belong in a manifest


class LargestJson:
    """Bounds a value by its size as JSON, where the bounds of its parts would be far too generous."""

    def __init__(self, largest: int) -> None:
        self.bytes = largest

    def __call__(self, items: list[BackfillItem]) -> list[BackfillItem]:
        size = sum(len(item.model_dump_json()) for item in items)
        if size > self.bytes:
            raise ValueError(f"{size} bytes are more than fit into the input; put the items into a manifest")
        return items


class Strict(Contract):
    """What people write by hand: a name that is not known is refused, since it is most likely misspelt."""

    model_config = ConfigDict(extra="forbid")


class WhichGarment(Strict):
    """A product, or pictures in the object store or at an address."""

    product_id: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    garment_image_url: StoredOrRemote | None = None
    garment_back_image_url: StoredOrRemote | None = None
    category: Category | None = None


class ItemGarment(GarmentHints, WhichGarment):
    """One garment of an item; the fields of a request."""


class ItemDefaults(ItemGarment):
    """What counts where an item says nothing: the person, the engine, and fields of each of its garments."""

    person: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    engine: Identifier | None = None


class BackfillItem(ItemDefaults):
    """One try-on of a backfill: a single garment by its own fields, or up to four in ``garments``.

    Attributes:
        key: The caller's own name for it, by which it is done once; made from its content if there is none.
        person: Key of the person's photo in the object store, below ``backfills/``.
        engine: Draws it, instead of the one that the GPU workers choose.
    """

    key: ItemKey | None = None
    garments: Annotated[list[ItemGarment], Field(max_length=MAX_GARMENTS)] = Field(default_factory=list)


class BackfillProgress(Contract):
    """How far a backfill is; carried from one run to the next.

    Attributes:
        next_number: The first that was never taken up.
        pending: Others before it that have to be taken up again.
        completed: Pictures made by this backfill.
        skipped: Done before, under the same key.
        concurrency: The window, as it was last set.
        per_minute: Items ended a minute, lately.
    """

    account_id: Identifier
    total: Number
    next_number: Number = 0
    pending: Annotated[list[Number], Field(max_length=LARGEST_WINDOW)] = Field(default_factory=list)
    completed: Number = 0
    skipped: Number = 0
    failed: Number = 0
    paused: bool = False
    concurrency: Annotated[int, Field(ge=1, le=LARGEST_WINDOW)] = 4
    per_minute: float = 0.0

    @property
    def ended(self) -> int:
        """Items with an outcome."""
        return self.completed + self.skipped + self.failed


class BackfillInput(Contract):
    """A backfill as an engineer starts it.

    Attributes:
        account: Account id or e-mail address.
        items: The items themselves, if they are few.
        manifest: Or the key of a JSONL or CSV object that holds them, below ``backfills/``.
        defaults: For every item.
        concurrency: Items in flight at the same time.
        priority: Temporal's priority key of its jobs, 1 (first) to 5; those that somebody waits for have 2.
        deadline_seconds: How long one job may take, waiting behind others included.
        dry_run: Only check, and say what it would take.
        progress: Not for people: how far earlier runs of this backfill came.
    """

    # Not refused here but by `unknown_names`, in the first run alone: a later version may carry more from run to run.
    model_config = ConfigDict(extra="allow")

    account: Annotated[str, Field(min_length=1, max_length=254)]
    items: Annotated[list[BackfillItem], AfterValidator(LargestJson(INLINE_BYTES))] = Field(default_factory=list)
    manifest: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    defaults: ItemDefaults = ItemDefaults()
    concurrency: Annotated[int, Field(ge=1, le=LARGEST_WINDOW)] = 4
    priority: Annotated[int, Field(ge=1, le=5)] = BULK_PRIORITY
    deadline_seconds: Annotated[int, Field(ge=1, le=86_400)] = 3600
    dry_run: bool = False
    progress: BackfillProgress | None = None

    @property
    def unknown_names(self) -> list[str]:
        """Names in the input that mean nothing."""
        return sorted(self.model_extra or {})

    def carrying(self, progress: BackfillProgress) -> Self:
        """The input of the next run; the items lie in the object store by then."""
        return self.model_copy(update={"items": [], "progress": progress})


class BackfillPlan(Contract):
    """What a backfill would take, and what its account may still start, today's cap aside."""

    account_id: Identifier
    items: Number
    people: Number = 0
    products: Number = 0
    done_before: Number = 0
    generations_left: Number = 0


class BackfillReport(Contract):
    """How a backfill ended.

    Attributes:
        not_started: Items that a backfill that was cancelled never took up, or a dry run would.
        outcomes: Key of the object with one line for every item that ended.
        failures: Key of a manifest with the items that failed, ready for another backfill.
    """

    status: Literal["completed", "cancelled", "checked"]
    total: Number
    completed: Number = 0
    skipped: Number = 0
    failed: Number = 0
    not_started: Number = 0
    outcomes: Annotated[str, Field(max_length=200)] | None = None
    failures: Annotated[str, Field(max_length=200)] | None = None
    plan: BackfillPlan | None = None


class BackfillState(Contract):
    """Answer of the ``progress`` query.

    Attributes:
        state: ``checking``, ``running``, ``paused``, ``waiting`` (for what ``reason`` says), ``cancelling``, or how it
            ended.
        reason: A code of the error catalogue, while it waits.
        remaining_seconds: Until all have ended, at the rate of late; None where there is none yet.
    """

    state: Identifier
    reason: Identifier | None = None
    total: Number = 0
    completed: Number = 0
    skipped: Number = 0
    failed: Number = 0
    in_flight: Number = 0
    concurrency: int = 0
    per_minute: float = 0.0
    remaining_seconds: int | None = None


OUTCOMES_AT_ONCE = 50  # outcomes that one step writes down

KeptAt = Annotated[str, Field(max_length=200)]  # key of an object that a backfill keeps


class PlanInput(Contract):
    """Check every item and lay them out, page by page."""

    backfill_id: BackfillId
    backfill: BackfillInput


class AcceptItemInput(Contract):
    """Have one item accepted as a job."""

    backfill_id: BackfillId
    account_id: Identifier
    number: Number
    priority: Annotated[int, Field(ge=1, le=5)]
    deadline_seconds: Annotated[int, Field(ge=1, le=86_400)]


ItemState: TypeAlias = Literal["accepted", "running", "done", "refused", "waiting", "stopped"]


class AcceptedItem(Contract):
    """What is to be done about an item.

    Attributes:
        state: ``accepted``: start ``job``. ``running``: its job runs already. ``done``: its job completed earlier.
            ``refused``: it cannot be done, for the reason in ``error_code``. ``waiting``: not now, for that reason.
            ``stopped``: nothing of this account goes on, for it is erased.
        result: Where the picture of a job that is done is kept.
        retry_after_seconds: When waiting may be over, where that is known.
        key: None only where all has stopped.
    """

    key: ItemKey | None = None
    state: ItemState
    job_id: Identifier | None = None
    job: TryOnInput | None = None
    result: KeptAt | None = None
    error_code: Identifier | None = None
    retry_after_seconds: int | None = None


class AwaitJobInput(Contract):
    """Wait for a job that another run has started."""

    job_id: Identifier


class KeepResultInput(Contract):
    """Keep the picture of an item."""

    backfill_id: BackfillId
    account_id: Identifier
    key: ItemKey
    job_id: Identifier


class KeptResult(Contract):
    """Where it lies; none where it was deleted or erased before it could be kept."""

    result: KeptAt | None = None


class ItemOutcome(Contract):
    """How one item ended; an item that could not even be read has no key."""

    number: Number
    key: ItemKey | None = None
    status: Literal["completed", "skipped", "failed"]
    job_id: Identifier | None = None
    result: KeptAt | None = None
    error_code: Identifier | None = None


class RecordInput(Contract):
    """Write outcomes and progress down."""

    backfill_id: BackfillId
    progress: BackfillProgress
    outcomes: Annotated[list[ItemOutcome], Field(max_length=OUTCOMES_AT_ONCE)] = Field(default_factory=list)
    status: Identifier


class RecordReport(Contract):
    """How many outcomes were written down."""

    written: Number = 0


class FinishInput(Contract):
    """Put the outcomes together."""

    backfill_id: BackfillId


class FinishReport(Contract):
    """Keys of the objects that tell how a backfill ended; no failures, no manifest of them."""

    outcomes: KeptAt
    failures: KeptAt | None = None
