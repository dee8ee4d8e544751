"""A backfill's steps played by a warehouse of items in memory, under the real names."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from tests.workflows.fakes import tryon_input
from workflows import steps
from workflows.backfills.contracts import (
    AcceptedItem,
    AcceptItemInput,
    AwaitJobInput,
    BackfillPlan,
    FinishInput,
    FinishReport,
    ItemOutcome,
    KeepResultInput,
    KeptResult,
    PlanInput,
    RecordInput,
    RecordReport,
)
from workflows.contracts import TryOnOutcome


class Warehouse:
    """Items and what becomes of them.

    Attributes:
        total: How many items there are.
        quota: Jobs that may still be accepted; None for any number.
        refused, done: Numbers of items that cannot be done, or were.
        erased_from: The number from which on items are of an account that is erased.
        elsewhere: Jobs of items that another run has under way, when they are first asked for.
        recording: Outcomes are written down once it is set.
        plan_error: What planning fails with.
        accepted: How often each number was accepted as a job.
        outcomes: What was written down, by number.
        statuses: What was written down about the whole, in order.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.quota: int | None = None
        self.refused: set[int] = set()
        self.done: set[int] = set()
        self.erased_from: int | None = None
        self.plan_error: ApplicationError | None = None
        self.accepted: Counter[int] = Counter()
        self.asked: Counter[int] = Counter()
        self.outcomes: dict[int, ItemOutcome] = {}
        self.written: Counter[int] = Counter()
        self.statuses: list[str] = []
        self.ends: dict[str, TryOnOutcome] = {}
        self.numbers: dict[str, int] = {}
        self.elsewhere: dict[int, str] = {}
        self.recording = asyncio.Event()
        self.recording.set()

    def activities(self) -> list[Callable[..., Any]]:
        return [
            self.plan_backfill,
            self.accept_item,
            self.await_job,
            self.keep_result,
            self.record_outcomes,
            self.finish_backfill,
        ]

    @activity.defn(name=steps.PLAN_BACKFILL.name)
    async def plan_backfill(self, _request: PlanInput) -> BackfillPlan:
        if self.plan_error is not None:
            raise self.plan_error
        return BackfillPlan(account_id="an-account", items=self.total)

    @activity.defn(name=steps.ACCEPT_ITEM.name)
    async def accept_item(self, request: AcceptItemInput) -> AcceptedItem:
        number, key = request.number, f"item-{request.number}"
        self.asked[number] += 1
        if self.erased_from is not None and number >= self.erased_from:
            return AcceptedItem(state="stopped")
        if number in self.elsewhere:
            return AcceptedItem(key=key, state="running", job_id=self.elsewhere.pop(number))
        if number in self.done:
            return AcceptedItem(key=key, state="done", job_id="before", result=f"backfills/b/results/{key}.jpg")
        if number in self.refused:
            return AcceptedItem(key=key, state="refused", error_code="product_not_found")
        if self.quota is not None:
            if self.quota < 1:
                return AcceptedItem(key=key, state="waiting", error_code="volume_exhausted")
            self.quota -= 1
        self.accepted[number] += 1
        job_id = uuid.uuid4().hex
        self.numbers[job_id] = number
        job = tryon_input(job_id, priority=request.priority, deadline_seconds=request.deadline_seconds)
        return AcceptedItem(key=key, state="accepted", job_id=job_id, job=job)

    @activity.defn(name=steps.AWAIT_JOB.name)
    async def await_job(self, request: AwaitJobInput) -> TryOnOutcome:
        return self.ends.get(request.job_id, TryOnOutcome(status="failed", error_code="cancelled"))

    @activity.defn(name=steps.KEEP_RESULT.name)
    async def keep_result(self, request: KeepResultInput) -> KeptResult:
        return KeptResult(result=f"backfills/{request.backfill_id}/results/{request.key}.jpg")

    @activity.defn(name=steps.RECORD_OUTCOMES.name)
    async def record_outcomes(self, request: RecordInput) -> RecordReport:
        await self.recording.wait()
        for outcome in request.outcomes:
            self.outcomes[outcome.number] = outcome
            self.written[outcome.number] += 1
        self.statuses.append(request.status)
        return RecordReport(written=len(request.outcomes))

    @activity.defn(name=steps.FINISH_BACKFILL.name)
    async def finish_backfill(self, request: FinishInput) -> FinishReport:
        return FinishReport(outcomes=f"backfills/{request.backfill_id}/outcomes.jsonl")
