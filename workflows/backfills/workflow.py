"""`BackfillWorkflow`: tens of thousands of items, a few in flight at a time, each an ordinary job.

Items lie in the object store in pages; a run takes up a few hundred, lets those in flight end and continues as new, so
that no history grows long. The database decides what becomes of an item: one that begins again does nothing twice.
"""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.backfills.contracts import (
        BACKFILL_ID,
        BACKFILL_INVALID,
        LARGEST_WINDOW,
        OUTCOMES_AT_ONCE,
        AcceptedItem,
        AcceptItemInput,
        AwaitJobInput,
        BackfillInput,
        BackfillProgress,
        BackfillReport,
        BackfillState,
        FinishInput,
        ItemOutcome,
        KeepResultInput,
        PlanInput,
        RecordInput,
    )
    from workflows.backfills.window import Window
    from workflows.contracts import ReleaseInput, TryOnOutcome
    from workflows.queues import ACCOUNT_ATTRIBUTE, STAGE_ATTRIBUTE
    from workflows.tryon import TryOnWorkflow, tryon_options

TRIES = 3
TRIED_AGAIN = frozenset({"timed_out", "generation_failed"})  # ends of a job that the item is not to blame for

PUT_BACK = frozenset({"waiting", "stopped"})  # states of items that nothing was begun for

CANCELLED = "cancelled"
RESULT_GONE = "result_gone"  # of an item that is done and whose picture was erased, or deleted in its time

RECORDED_AT = OUTCOMES_AT_ONCE // 2  # outcomes that are written down together, while others end

SIGN_OF_LIFE = timedelta(hours=6)
"""How often a backfill that waits writes its progress, so that what it needs is not taken for left behind."""


@workflow.defn(name="BackfillWorkflow", failure_exception_types=[ValidationError])
class BackfillWorkflow:
    """A sliding window over the items: never more than ``concurrency`` in flight."""

    @workflow.init
    def __init__(self, backfill: BackfillInput) -> None:
        self._backfill = backfill
        self._id = workflow.info().workflow_id
        # The account is known once the items were checked.
        progress = backfill.progress or BackfillProgress(account_id="?", total=0, concurrency=backfill.concurrency)
        self._window = Window(progress, workflow.now())
        self._cancelling = False
        self._account_erased = False
        self._children: dict[str, workflow.ChildWorkflowHandle[Any, TryOnOutcome]] = {}
        self._unrecorded: list[ItemOutcome] = []
        self._checking = backfill.progress is None
        self._end: str | None = None
        self._shown = ""
        self._mistake: Exception | None = None

    @workflow.run
    async def run(self, backfill: BackfillInput) -> BackfillReport:
        """Carry out the items.

        Raises:
            ApplicationError: ``backfill_invalid``, with rows and fields; nothing was begun.
        """
        if self._checking:
            checked = await self._check()
            if checked is not None:
                return checked
        # Cancelling the run would also cancel the step that it waits for, such as writing down what has ended.
        working = asyncio.create_task(self._work())
        while not working.done():
            try:
                await workflow.wait_condition(working.done)
            except asyncio.CancelledError:
                self._cancelling = True
        report = working.result()
        if report is None:
            await workflow.wait_condition(workflow.all_handlers_finished)
            workflow.continue_as_new(
                backfill.carrying(self._window.progress),
                initial_versioning_behavior=workflow.ContinueAsNewVersioningBehavior.AUTO_UPGRADE,
            )
        return report

    @workflow.signal
    def pause(self) -> None:
        """Start no more items; those in flight continue."""
        self._window.advance(paused=True)

    @workflow.signal
    def resume(self) -> None:
        """Continue after a pause, or after the account ran out of try-ons."""
        self._window.advance(paused=False)
        self._window.wait_for = None

    @workflow.signal
    def cancel(self) -> None:
        """Take up no more items and cancel those in flight, which are not billed."""
        self._cancelling = True

    @workflow.update
    def set_concurrency(self, concurrency: int) -> BackfillState:
        """Change how many items may be in flight."""
        self._window.advance(concurrency=concurrency)
        return self.progress()

    @set_concurrency.validator
    def _check_concurrency(self, concurrency: int) -> None:
        if not 1 <= concurrency <= LARGEST_WINDOW:
            raise ValueError(f"concurrency goes from 1 to {LARGEST_WINDOW}")

    @workflow.query
    def progress(self) -> BackfillState:
        """How far it is, and when it may be done."""
        at, rate = self._window.progress, self._window.per_minute(workflow.now())
        return at.part(
            BackfillState,
            state=self._state(),
            reason=self._window.reason,
            in_flight=len(self._window.in_flight),
            per_minute=round(rate, 1),
            remaining_seconds=round(60 * (at.total - at.ended) / rate) if rate > 0 else None,
        )

    async def _check(self) -> BackfillReport | None:
        """Check everything; the report of a dry run, or nothing where there is work to do."""
        if not re.fullmatch(BACKFILL_ID, self._id):
            raise _invalid(f"the workflow id names the backfill and has to match {BACKFILL_ID}")
        if self._backfill.unknown_names:
            raise _invalid(f"{', '.join(self._backfill.unknown_names)}: not a field of a backfill")
        self._show()
        plan = await steps.PLAN_BACKFILL.run(PlanInput(backfill_id=self._id, backfill=self._backfill))
        workflow.upsert_search_attributes([ACCOUNT_ATTRIBUTE.value_set(plan.account_id)])
        self._window.advance(account_id=plan.account_id, total=plan.items)
        self._checking = False
        if not self._backfill.dry_run:
            return None
        self._end = "checked"
        self._show()
        return BackfillReport(status="checked", total=plan.items, not_started=plan.items, plan=plan)

    async def _work(self) -> BackfillReport | None:
        """As much as one run should do; the report, unless there is more for another one."""
        await self._carry_out()
        await self._stop()
        if self._account_erased:  # nothing may be written behind that
            return self._report()
        await self._record()
        if self._window.left and not self._cancelling:
            return None
        return await self._finish()

    async def _carry_out(self) -> None:
        """Keep the window full until nothing is left, or as much as one run should do is done."""
        while not self._over():
            self._admit_mistakes()
            self._show()
            if self._may_take_up():
                asyncio.create_task(self._item(self._window.take_up()))  # noqa: RUF006  # the loop holds on to it
            elif len(self._unrecorded) >= RECORDED_AT:
                await self._record()
            else:
                await self._wait_for_change()

    async def _wait_for_change(self) -> None:
        def changed() -> bool:
            recordable = len(self._unrecorded) >= RECORDED_AT
            return self._over() or self._may_take_up() or recordable or self._mistake is not None

        if not self._window.idle:  # a timer costs events, and something is under way
            await workflow.wait_condition(lambda: changed() or self._window.idle)
            return
        await self._record()
        try:
            await workflow.wait_condition(changed, timeout=self._window.wait_for or SIGN_OF_LIFE)
        except TimeoutError:
            self._window.wait_for = None

    async def _item(self, number: int) -> None:
        """Carry one item to its outcome, or put it back."""
        whose = {"backfill_id": self._id, "account_id": self._window.progress.account_id}
        request = self._backfill.part(AcceptItemInput, **whose, number=number)
        outcome: ItemOutcome | AcceptedItem
        try:
            item = await steps.ACCEPT_ITEM.run(request, f"item {number}")
            if item.state not in PUT_BACK:
                self._window.accepted()
            outcome = await self._outcome_of(request, item)
        except ActivityError:
            workflow.logger.exception("item given up", extra={"number": number})
            outcome = ItemOutcome(number=number, status="failed", error_code="generation_failed")
        except Exception as error:
            self._mistake = error
            raise
        if isinstance(outcome, ItemOutcome):
            self._unrecorded.append(outcome)
            self._window.end(number, outcome.status)
            return
        self._window.put_back(number)
        if outcome.state == "stopped":
            self._account_erased = self._cancelling = True
            return
        later = None if outcome.retry_after_seconds is None else timedelta(seconds=outcome.retry_after_seconds)
        self._window.wait(outcome.error_code or "", later)

    async def _outcome_of(self, request: AcceptItemInput, item: AcceptedItem) -> ItemOutcome | AcceptedItem:
        """Carry out an item, whose job is a child workflow, and again if it failed through no fault of the item.

        Returns:
            How it ended; or what was said of another try that has to wait.
        """
        ended = TryOnOutcome(status="failed", error_code=CANCELLED)
        for attempt in range(TRIES):
            if attempt:
                item = await steps.ACCEPT_ITEM.run(request, f"item {request.number}")
            if item.state in PUT_BACK:
                return item
            if item.state == "refused":
                return _outcome(request, item, "failed", error_code=item.error_code)
            if item.state == "done":
                return await self._with_picture(request, item, "skipped")
            ended, own = await self._ended(item)
            if ended.status == "completed" and item.state == "accepted":
                return await self._with_picture(request, item, "completed")
            # What another run cancelled, of a backfill before this one, was not meant for this one.
            again = TRIED_AGAIN if own else TRIED_AGAIN | {CANCELLED}
            if self._cancelling or (ended.status == "failed" and ended.error_code not in again):
                break
        return _outcome(request, item, "failed", error_code=ended.error_code)

    async def _with_picture(self, request: AcceptItemInput, item: AcceptedItem, status: str) -> ItemOutcome:
        result = item.result
        if result is None:
            keep = request.part(KeepResultInput, key=item.key, job_id=item.job_id or "")
            result = (await steps.KEEP_RESULT.run(keep, item.key)).result
        return _outcome(request, item, status, result=result, error_code=None if result else RESULT_GONE)

    async def _ended(self, item: AcceptedItem) -> tuple[TryOnOutcome, bool]:
        """Run the item's job as a child, or wait for the run that it has already.

        Returns:
            How it ended, and whether it was a child of this run that said so.
        """
        job_id, own = item.job_id or "", False
        if item.state == "accepted" and item.job is not None:
            if self._cancelling:
                release = ReleaseInput(job_id=job_id, error_code=CANCELLED)
                return await steps.RELEASE.run(release, CANCELLED), True
            try:
                child = await workflow.start_child_workflow(
                    TryOnWorkflow.run,
                    item.job,
                    parent_close_policy=ParentClosePolicy.REQUEST_CANCEL,
                    **tryon_options(item.job),
                )
                self._children[job_id] = child
                if self._cancelling:
                    child.cancel()
                return await child, True
            except ChildWorkflowError:
                own = True  # terminated: the job's row says how it ended, or will within a minute
            except WorkflowAlreadyStartedError:
                own = False  # by a run before this one, which was terminated or reset
            finally:
                self._children.pop(job_id, None)
        return await steps.AWAIT_JOB.run(AwaitJobInput(job_id=job_id), item.key), own

    async def _stop(self) -> None:
        """Let nothing be in flight any more."""
        if self._cancelling:
            self._show()
            for child in self._children.values():
                child.cancel()
        await workflow.wait_condition(lambda: not self._window.in_flight or self._mistake is not None)
        self._admit_mistakes()

    def _admit_mistakes(self) -> None:
        """Let the workflow's task fail, and so be tried again, where an item met with a mistake of this code."""
        if self._mistake is not None:
            raise self._mistake

    async def _record(self) -> None:
        """Write down what has ended, and how far it is."""
        while True:
            outcomes = self._unrecorded[:OUTCOMES_AT_ONCE]
            self._window.advance(per_minute=self._window.per_minute(workflow.now()))
            progress = self._window.progress
            request = RecordInput(backfill_id=self._id, progress=progress, outcomes=outcomes, status=self._state())
            await steps.RECORD_OUTCOMES.run(request, f"{progress.ended} of {progress.total}")
            del self._unrecorded[: len(outcomes)]
            if not self._unrecorded:
                return

    async def _finish(self) -> BackfillReport:
        finished = await steps.FINISH_BACKFILL.run(FinishInput(backfill_id=self._id))
        return self._report(outcomes=finished.outcomes, failures=finished.failures)

    def _report(self, **kept: str | None) -> BackfillReport:
        at = self._window.progress
        status = "cancelled" if self._cancelling else "completed"
        report = at.part(BackfillReport, status=status, not_started=at.total - at.ended, **kept)
        self._end = report.status
        self._show()
        return report

    def _may_take_up(self) -> bool:
        return self._window.has_room and not self._cancelling and not self._full()

    def _over(self) -> bool:
        done = not self._window.in_flight and (not self._window.left or self._full())
        return self._cancelling or done

    def _full(self) -> bool:
        """Whether the rest is for another run: of this one's build, or of a newer one."""
        info = workflow.info()
        newer = info.is_target_worker_deployment_version_changed()
        return self._window.full or newer or info.is_continue_as_new_suggested()

    def _state(self) -> str:
        if self._end is not None:
            return self._end
        if self._checking:
            return "checking"
        if self._cancelling:
            return "cancelling"
        if self._window.progress.paused:
            return "paused"
        return "running" if self._window.reason is None else "waiting"

    def _show(self) -> None:
        """Tell the Temporal UI where it stands."""
        state, at = self._state(), self._window.progress
        if state != self._shown:  # each change of a search attribute is an event
            workflow.upsert_search_attributes([STAGE_ATTRIBUTE.value_set(state)])
            self._shown = state
        lines = [
            f"**{state}**" + (f": `{self._window.reason}`" if self._window.reason else ""),
            f"- {at.ended} of {at.total}: {at.completed} completed, {at.skipped} done before, {at.failed} failed",
            f"- {len(self._window.in_flight)} of {at.concurrency} in flight",
        ]
        workflow.set_current_details("\n".join(lines))


def _invalid(sentence: str) -> ApplicationError:
    return ApplicationError(sentence, type=BACKFILL_INVALID, non_retryable=True)


def _outcome(request: AcceptItemInput, item: AcceptedItem, status: str, **fields: str | None) -> ItemOutcome:
    return ItemOutcome.model_validate(
        {"number": request.number, "key": item.key, "status": status, "job_id": item.job_id, **fields}
    )
