"""`ImportProductsWorkflow`: the rows of a file of products, a few at a time, each an ordinary registration.

The rows and what became of them lie in the object store. A run takes up a few hundred rows and continues as new, so
that no history grows long. A row that fails holds up no other.
"""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.common import Priority, SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import ApplicationError, ChildWorkflowError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from domain.errors import ErrorCode, known_code
    from workflows import steps
    from workflows.products.contracts import (
        ImportProductsInput,
        ImportReport,
        PictureSource,
        RecordRowsInput,
        RegisterProductInput,
        RowOutcome,
        StartedRow,
        TakeUpRowsInput,
    )
    from workflows.products.registration import LONGEST_REGISTRATION, RegisterProductWorkflow
    from workflows.queues import ACCOUNT_ATTRIBUTE, BULK_PRIORITY, registration_workflow_id

ROUNDS_OF_A_RUN = 25
"""Some 1,500 events."""

FRONT, BACK = "garmentImageUrl", "garmentBackImageUrl"
"""What the file calls its columns of pictures."""


@workflow.defn(name="ImportProductsWorkflow", failure_exception_types=[ValidationError])
class ImportProductsWorkflow:
    """Take up rows, register them, write down what became of them."""

    @workflow.init
    def __init__(self, job: ImportProductsInput) -> None:
        self._job = job
        self._done = job.done
        self._rounds = 0
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
        where = {"account_id": self._job.account_id, "import_id": self._job.import_id, "first": self._done}
        taken = await steps.TAKE_UP_ROWS.run(TakeUpRowsInput.model_validate(where))
        if taken.stopped or not taken.rows:
            return False
        outcomes = await asyncio.gather(*(self._register(started) for started in taken.rows))
        await steps.RECORD_ROWS.run(RecordRowsInput.model_validate({**where, "outcomes": list(outcomes)}))
        counts: dict[str, int] = {outcome.status: getattr(self._report, outcome.status) for outcome in outcomes}
        for outcome in outcomes:
            counts[outcome.status] += 1
        self._report = self._report.model_copy(update=counts)
        self._done += len(outcomes)
        self._rounds += 1
        return True

    async def _register(self, started: StartedRow) -> RowOutcome:
        row, name = started.row, started.row.fields.external_id
        try:
            saved = await workflow.execute_child_workflow(
                RegisterProductWorkflow.run,
                RegisterProductInput(
                    registration_id=started.registration_id,
                    account_id=self._job.account_id,
                    fields=row.fields,
                    clear=row.clear,
                    front=PictureSource(field=FRONT, url=row.front),
                    back=None if row.back is None else PictureSource(field=BACK, url=row.back),
                ),
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
        if saved.created:
            return RowOutcome(number=row.number, external_id=name, status="created")
        return RowOutcome(number=row.number, external_id=name, status="updated" if saved.changed else "unchanged")


def _reason(error: ChildWorkflowError) -> tuple[ErrorCode, str | None]:
    """The code and the field that a registration's failure names."""
    cause = error.cause
    if not isinstance(cause, ApplicationError) or cause.type is None:
        return "timed_out", None
    return known_code(cause.type, "storage_unavailable"), str(cause.details[0]) if cause.details else None
