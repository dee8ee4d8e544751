"""Importing a file: rows of which one fails, a file that goes on in a second run, and an account that is blocked."""

from __future__ import annotations

import uuid
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle

from activities.failures import failure
from domain.products import new_registration_id
from gateway.temporal import IMPORT
from tests.workflows.product_fakes import FakeProductSteps
from tests.workflows.recording.case import Activities, Case
from workflows import steps
from workflows.products.contracts import (
    ROWS_AT_ONCE,
    ImportProductsInput,
    ImportRow,
    ProductFields,
    RecordedRows,
    RecordRowsInput,
    StartedRow,
    TakenUpRows,
    TakeUpRowsInput,
)
from workflows.products.registration import ROUNDS_OF_A_RUN, ImportProductsWorkflow
from workflows.queues import CPU_QUEUE, import_workflow_id


def case(name: str, rows: int, *, at_once: int = ROWS_AT_ONCE, blocked: bool = False) -> Case:
    """A file of so many rows, the first of which fails; ``at_once`` is how many the step hands out."""

    def activities() -> Activities:
        calls = 0

        async def before(step: str) -> None:
            nonlocal calls
            if step == "copy":
                calls += 1
                if calls == 1:
                    raise failure("garment_url_unreachable", "404", about="garmentImageUrl")

        @activity.defn(name=steps.TAKE_UP_ROWS.name)
        async def take_up(request: TakeUpRowsInput) -> TakenUpRows:
            if blocked:
                return TakenUpRows(stopped=True)
            places = range(request.first, min(request.first + at_once, rows))
            return TakenUpRows(rows=[started(place) for place in places])

        @activity.defn(name=steps.RECORD_ROWS.name)
        async def record(request: RecordRowsInput) -> RecordedRows:
            return RecordedRows(written=len(request.outcomes))

        fakes = FakeProductSteps(before)
        return {CPU_QUEUE: [take_up, record, fakes.copy, fakes.save, fakes.clean_up]}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        job = ImportProductsInput(account_id=uuid.uuid4().hex, import_id=new_registration_id(), rows=rows)
        return await client.start_workflow(
            ImportProductsWorkflow.run,
            job,
            id=import_workflow_id(job.account_id),
            task_queue=CPU_QUEUE,
            execution_timeout=IMPORT.longest,
        )

    return Case("ImportProductsWorkflow", name, activities, start)


def started(place: int) -> StartedRow:
    """A row that is taken up."""
    fields = ProductFields(name="Shirt", category="upper_body", external_id=f"SKU-{place}")
    row = ImportRow(number=place + 2, fields=fields, front="https://shop.example/a.jpg")
    return StartedRow(registration_id=new_registration_id(), row=row)


CASES = (
    case("a-row-fails", 3),
    case("in-two-runs", ROUNDS_OF_A_RUN + 1, at_once=1),  # a history of full rounds would be large
    case("blocked", 3, blocked=True),
)
