"""Products added or changed: one, with pictures of its own, and the rows of a file, each an ordinary registration.

A registration either takes effect as a whole or fails with a code of the error catalogue and changes nothing. The rows
of a file and what became of them lie in the object store. A run takes up a few hundred rows, a few at a time, and
continues as new, so that no history grows long. A row that fails holds up no other.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Literal

from temporalio import workflow
from temporalio.common import Priority, SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ApplicationErrorCategory,
    ChildWorkflowError,
    is_cancelled_exception,
)

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from domain.errors import ErrorCode, known_code
    from workflows import steps
    from workflows.products.contracts import (
        CleanUpRegistrationInput,
        CopiedPictures,
        CopyPicturesInput,
        ImportProductsInput,
        ImportReport,
        RecordRowsInput,
        RegisterProductInput,
        RowOutcome,
        SavedProduct,
        SaveProductInput,
        StartedRow,
        TakeUpRowsInput,
    )
    from workflows.queues import ACCOUNT_ATTRIBUTE, BULK_PRIORITY, registration_workflow_id

LONGEST_REGISTRATION = timedelta(minutes=2)
"""The steps' own budgets end a run within 40 s of being picked up by a worker."""


@workflow.defn(name="RegisterProductWorkflow", failure_exception_types=[ValidationError])
class RegisterProductWorkflow:
    """Copy the pictures, save the row, delete what was only needed on the way."""

    @workflow.run
    async def run(self, registration: RegisterProductInput) -> SavedProduct:
        """Carry out the registration.

        Raises:
            ApplicationError: Its type is a code of the catalogue; its detail, if any, the field that was refused.
        """
        kept: list[str] = []
        try:
            pictures = CopiedPictures()
            if registration.front is not None or registration.back is not None:
                pictures = await steps.COPY_PRODUCT_PICTURES.run(registration.part(CopyPicturesInput))
            kept = pictures.keys
            saved = await steps.SAVE_PRODUCT.run(registration.part(SaveProductInput, pictures=pictures))
        except (ActivityError, asyncio.CancelledError) as error:
            # Whether a step that was cut off has saved the row is not known: its pictures are left to the sweep then.
            await self._clean_up(registration, [] if _is_refusal(error) else kept)
            raise _as_failure(error) from error
        await self._clean_up(registration, saved.picture_keys)
        return saved

    async def _clean_up(self, registration: RegisterProductInput, keep: list[str]) -> None:
        if registration.front is None and registration.back is None:
            return
        try:
            await steps.CLEAN_UP_REGISTRATION.run(registration.part(CleanUpRegistrationInput, keep=keep))
        except ActivityError:
            workflow.logger.warning("clean-up failed", extra={"registration_id": registration.registration_id})


def _is_refusal(error: BaseException) -> bool:
    """Whether a step said no for good, rather than being cut off."""
    cause = error.cause if isinstance(error, ActivityError) else None
    return isinstance(cause, ApplicationError) and cause.non_retryable


def _as_failure(error: BaseException) -> ApplicationError:
    """The run's failure, by the code of the step that failed."""
    cause = error.cause if isinstance(error, ActivityError) else error
    code: ErrorCode = "timed_out"
    details: tuple[object, ...] = ()
    if is_cancelled_exception(error):
        code = "cancelled"
    elif isinstance(cause, ApplicationError):
        # An exception that nobody expected is nearly always a part that is away; Temporal keeps it as the cause.
        code, details = known_code(cause.type, "storage_unavailable"), tuple(cause.details)
        if code != cause.type:
            about = {"fault": cause.type}
            workflow.logger.error("a registration failed for a reason that nobody expected", extra=about)
    return ApplicationError(
        str(cause), *details, type=code, non_retryable=True, category=ApplicationErrorCategory.BENIGN
    )


ROUNDS_OF_A_RUN = 25  # some 1,500 events

NOT_THE_ROWS = frozenset({"timed_out", "storage_unavailable"})
"""Ends of a registration that say nothing about the row: no worker came to it in time, or a part was away."""

PAUSES_OF_A_RUN = (timedelta(seconds=10), timedelta(minutes=1), timedelta(minutes=5))
"""After which such rows are tried again. A run has no more pauses: a file that fails through and through has to be done
within two days."""


@workflow.defn(name="ImportProductsWorkflow", failure_exception_types=[ValidationError])
class ImportProductsWorkflow:
    """Take up rows, register them, write down what became of them."""

    @workflow.init
    def __init__(self, job: ImportProductsInput) -> None:
        self._job = job
        self._done = job.done
        self._rounds = 0
        self._pauses = list(PAUSES_OF_A_RUN)
        self._report = job.report or ImportReport()

    @workflow.run
    async def run(self, job: ImportProductsInput) -> ImportReport:
        """Register the rows."""
        while self._done < job.rows:
            if self._rounds >= ROUNDS_OF_A_RUN or workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(
                    job.model_copy(update={"done": self._done, "report": self._report}),
                    initial_versioning_behavior=workflow.ContinueAsNewVersioningBehavior.AUTO_UPGRADE,
                )
            if not await self._some_rows():
                self._report = self._report.model_copy(update={"stopped": True})
                break
            workflow.set_current_details(f"{self._done} of {job.rows}")
        return self._report

    async def _some_rows(self) -> bool:
        """Carry the next rows through; says whether there may be more."""
        first = self._done
        taken = await steps.TAKE_UP_ROWS.run(self._job.part(TakeUpRowsInput, first=first))
        if taken.stopped or not taken.rows:
            return False
        outcomes = await asyncio.gather(*(self._register(started) for started in taken.rows))
        while self._pauses and any(each.error_code in NOT_THE_ROWS for each in outcomes):
            if not workflow.patched("rows-tried-again"):  # a run that began before version 0.6
                break
            await workflow.sleep(self._pauses.pop(0), summary="rows that no worker came to in time, or a part was away")
            outcomes = await asyncio.gather(*map(self._again, taken.rows, outcomes))
        await steps.RECORD_ROWS.run(self._job.part(RecordRowsInput, first=first, outcomes=list(outcomes)))
        counts: dict[str, int] = {outcome.status: getattr(self._report, outcome.status) for outcome in outcomes}
        for outcome in outcomes:
            counts[outcome.status] += 1
        self._report = self._report.model_copy(update=counts)
        self._done += len(outcomes)
        self._rounds += 1
        return True

    async def _again(self, started: StartedRow, outcome: RowOutcome) -> RowOutcome:
        return await self._register(started) if outcome.error_code in NOT_THE_ROWS else outcome

    async def _register(self, started: StartedRow) -> RowOutcome:
        row, name = started.row, started.row.fields.external_id
        try:
            saved = await workflow.execute_child_workflow(
                RegisterProductWorkflow.run,
                row.registration(started.registration_id, self._job.account_id),
                id=registration_workflow_id(started.registration_id),
                execution_timeout=LONGEST_REGISTRATION,
                priority=Priority(priority_key=BULK_PRIORITY, fairness_key=self._job.account_id),
                search_attributes=TypedSearchAttributes([SearchAttributePair(ACCOUNT_ATTRIBUTE, self._job.account_id)]),
                static_summary=f"row {row.number}",
            )
        except ChildWorkflowError as error:
            if is_cancelled_exception(error):
                raise
            code, field = _reason(error)
            return RowOutcome(number=row.number, external_id=name, status="failed", error_code=code, field=field)
        changed: Literal["updated", "unchanged"] = "updated" if saved.changed else "unchanged"
        return RowOutcome(number=row.number, external_id=name, status="created" if saved.created else changed)


def _reason(error: ChildWorkflowError) -> tuple[ErrorCode, str | None]:
    """The code and the field that a registration's failure names."""
    cause = error.cause
    if not isinstance(cause, ApplicationError) or cause.type is None:
        return "timed_out", None
    return known_code(cause.type, "storage_unavailable"), str(cause.details[0]) if cause.details else None
