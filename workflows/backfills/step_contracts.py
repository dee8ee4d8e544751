"""What the steps of a backfill take and give; see `workflows.contracts` for the rules."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from workflows.backfills.contracts import BackfillId, BackfillInput, BackfillProgress, ItemKey, Number
from workflows.contracts import Contract, Identifier, TryOnInput

OUTCOMES_AT_ONCE = 50
"""Outcomes that one step writes down."""

KeptAt = Annotated[str, Field(max_length=200)]
"""Key of an object that a backfill keeps."""


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


ItemState: TypeAlias = Literal["accepted", "running", "done", "refused", "waiting"]


class AcceptedItem(Contract):
    """What is to be done about an item.

    Attributes:
        state: ``accepted``: start ``job``. ``running``: its job runs already. ``done``: its job completed earlier.
            ``refused``: it cannot be done, for the reason in ``error_code``. ``waiting``: not now, for that reason.
        result: Where the picture of a job that is done is kept.
        retry_after_seconds: When waiting may be over, where that is known.
    """

    key: ItemKey
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
