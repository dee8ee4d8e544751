"""One item of a backfill, from its number to its outcome."""

from __future__ import annotations

from typing import Any

from temporalio import workflow
from temporalio.exceptions import ChildWorkflowError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from workflows import steps
    from workflows.backfill_step_contracts import (
        AcceptedItem,
        AcceptItemInput,
        AwaitJobInput,
        ItemOutcome,
        KeepResultInput,
    )
    from workflows.contracts import ReleaseInput, TryOnOutcome
    from workflows.start import tryon_options
    from workflows.tryon import TryOnWorkflow

TRIES = 3
TRIED_AGAIN = frozenset({"timed_out", "generation_failed"})
"""Ends of a job that the item is not to blame for."""

CANCELLED = "cancelled"


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

    async def outcome_of(self, request: AcceptItemInput, item: AcceptedItem) -> ItemOutcome:
        """Carry out an item that need not wait.

        Args:
            request: What it was accepted by; a job that failed through no fault of the item is tried again with it.
            item: From `accept`.

        Raises:
            ActivityError: A step could not be done however often it was tried.
        """
        ended = TryOnOutcome(status="failed", error_code=CANCELLED)
        for attempt in range(TRIES):
            if attempt:
                item = await self.accept(request)
            if item.state in ("refused", "waiting"):
                return _outcome(request, item, "failed", error_code=item.error_code)
            if item.state == "done":
                return _outcome(request, item, "skipped", result=item.result or await self._kept(request, item))
            ended = await self._ended(item)
            if ended.status == "completed" and item.state == "accepted":
                return _outcome(request, item, "completed", result=await self._kept(request, item))
            if self.cancelling or (ended.status == "failed" and ended.error_code not in TRIED_AGAIN):
                break
        return _outcome(request, item, "failed", error_code=ended.error_code)

    async def _ended(self, item: AcceptedItem) -> TryOnOutcome:
        """Run the item's job as a child, or wait for the run that it has already."""
        job_id = item.job_id or ""
        if item.state == "accepted" and item.job is not None:
            if self.cancelling:
                return await steps.RELEASE.run(ReleaseInput(job_id=job_id, error_code=CANCELLED), CANCELLED)
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
                return await child
            except (WorkflowAlreadyStartedError, ChildWorkflowError):
                # Started before a reset, or terminated: the job's row says how it ended, or will within a minute.
                workflow.logger.info("the run of an item's job is not a child's", extra={"job_id": job_id})
            finally:
                self._children.pop(job_id, None)
        return await steps.AWAIT_JOB.run(AwaitJobInput(job_id=job_id), item.key)

    async def _kept(self, request: AcceptItemInput, item: AcceptedItem) -> str | None:
        keep = KeepResultInput(
            backfill_id=request.backfill_id, account_id=request.account_id, key=item.key, job_id=item.job_id or ""
        )
        return (await steps.KEEP_RESULT.run(keep, item.key)).result


def _outcome(request: AcceptItemInput, item: AcceptedItem, status: str, **fields: str | None) -> ItemOutcome:
    return ItemOutcome.model_validate(
        {"number": request.number, "key": item.key, "status": status, "job_id": item.job_id, **fields}
    )
