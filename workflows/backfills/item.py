"""One item of a backfill, from its number to its outcome."""

from __future__ import annotations

from typing import Any

from temporalio import workflow
from temporalio.exceptions import ChildWorkflowError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from workflows import steps
    from workflows.backfills.contracts import (
        AcceptedItem,
        AcceptItemInput,
        AwaitJobInput,
        ItemOutcome,
        KeepResultInput,
    )
    from workflows.contracts import ReleaseInput, TryOnOutcome
    from workflows.tryon import TryOnWorkflow, tryon_options

TRIES = 3
TRIED_AGAIN = frozenset({"timed_out", "generation_failed"})
"""Ends of a job that the item is not to blame for."""

CANCELLED = "cancelled"
RESULT_GONE = "result_gone"
"""Of an item that is done and whose picture was erased, or deleted in its time."""


class ItemCarrier:
    """Has items accepted as jobs and runs these as child workflows.

    Attributes:
        cancelling: Nothing new is begun; set by `cancel`.
    """

    def __init__(self) -> None:
        self.cancelling = False
        self._children: dict[str, workflow.ChildWorkflowHandle[Any, TryOnOutcome]] = {}

    def cancel(self) -> None:
        """Cancel every job under way; none of them is billed."""
        self.cancelling = True
        for child in self._children.values():
            child.cancel()

    async def accept(self, request: AcceptItemInput) -> AcceptedItem:
        """What is to be done about the item."""
        return await steps.ACCEPT_ITEM.run(request, f"item {request.number}")

    async def outcome_of(self, request: AcceptItemInput, item: AcceptedItem) -> ItemOutcome | AcceptedItem:
        """Carry out an item.

        Args:
            request: What it was accepted by; a job that failed through no fault of the item is tried again with it.
            item: From `accept`.

        Returns:
            How it ended; or what `accept` said of another try that has to wait.

        Raises:
            ActivityError: A step could not be done however often it was tried.
        """
        ended = TryOnOutcome(status="failed", error_code=CANCELLED)
        for attempt in range(TRIES):
            if attempt:
                item = await self.accept(request)
            if item.state == "waiting":
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
            if self.cancelling or (ended.status == "failed" and ended.error_code not in again):
                break
        return _outcome(request, item, "failed", error_code=ended.error_code)

    async def _with_picture(self, request: AcceptItemInput, item: AcceptedItem, status: str) -> ItemOutcome:
        result = item.result or await self._kept(request, item)
        return _outcome(request, item, status, result=result, error_code=None if result else RESULT_GONE)

    async def _ended(self, item: AcceptedItem) -> tuple[TryOnOutcome, bool]:
        """Run the item's job as a child, or wait for the run that it has already.

        Returns:
            How it ended, and whether it was a child of this run that said so.
        """
        job_id, own = item.job_id or "", False
        if item.state == "accepted" and item.job is not None:
            if self.cancelling:
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
                if self.cancelling:
                    child.cancel()
                return await child, True
            except ChildWorkflowError:
                own = True  # terminated: the job's row says how it ended, or will within a minute
            except WorkflowAlreadyStartedError:
                own = False  # by a run before this one, which was terminated or reset
            finally:
                self._children.pop(job_id, None)
        return await steps.AWAIT_JOB.run(AwaitJobInput(job_id=job_id), item.key), own

    async def _kept(self, request: AcceptItemInput, item: AcceptedItem) -> str | None:
        keep = KeepResultInput(
            backfill_id=request.backfill_id, account_id=request.account_id, key=item.key, job_id=item.job_id or ""
        )
        return (await steps.KEEP_RESULT.run(keep, item.key)).result


def _outcome(request: AcceptItemInput, item: AcceptedItem, status: str, **fields: str | None) -> ItemOutcome:
    return ItemOutcome.model_validate(
        {"number": request.number, "key": item.key, "status": status, "job_id": item.job_id, **fields}
    )
