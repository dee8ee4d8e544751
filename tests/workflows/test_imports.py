"""`ImportProductsWorkflow` on a real server, with its registrations as children and their steps faked."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from activities.failures import failure
from domain.products import new_registration_id
from gateway.calls import AlreadyRunningError
from gateway.temporal import TemporalGateway
from tests.workflows.fakes import mistake_of_ours
from tests.workflows.product_fakes import FakeProductSteps
from tests.workflows.recording.import_cases import started
from workflows import steps
from workflows.products import registration
from workflows.products.contracts import (
    ROWS_AT_ONCE,
    ImportProductsInput,
    ImportReport,
    RecordedRows,
    RecordRowsInput,
    RowOutcome,
    TakenUpRows,
    TakeUpRowsInput,
)
from workflows.products.registration import ImportProductsWorkflow, RegisterProductWorkflow
from workflows.queues import CPU_QUEUE, import_workflow_id


class Scene:
    """A file of rows, and what was written down about them."""

    def __init__(self, rows: int, before: Callable[[str], Awaitable[None]] | None = None, stop_at: int = -1) -> None:
        self.rows, self.stop_at = rows, stop_at
        self.outcomes: list[RowOutcome] = []
        self.runner: WorkflowRunner = SandboxedWorkflowRunner()
        self.fakes = FakeProductSteps(before)
        self.job = ImportProductsInput(account_id=uuid.uuid4().hex, import_id=new_registration_id(), rows=rows)

    @activity.defn(name=steps.TAKE_UP_ROWS.name)
    async def take_up(self, request: TakeUpRowsInput) -> TakenUpRows:
        if request.first == self.stop_at:
            return TakenUpRows(stopped=True)
        places = range(request.first, min(request.first + ROWS_AT_ONCE, self.rows))
        return TakenUpRows(rows=[started(place) for place in places])

    @activity.defn(name=steps.RECORD_ROWS.name)
    async def record(self, request: RecordRowsInput) -> RecordedRows:
        self.outcomes += request.outcomes
        return RecordedRows(written=len(request.outcomes))

    def worker(self, client: Client) -> AbstractAsyncContextManager[Worker]:
        return Worker(
            client,
            task_queue=CPU_QUEUE,
            workflow_runner=self.runner,
            workflows=[ImportProductsWorkflow, RegisterProductWorkflow],
            activities=[self.take_up, self.record, self.fakes.copy, self.fakes.save, self.fakes.clean_up],
        )

    async def report(self, client: Client) -> ImportReport:
        async with self.worker(client):
            await TemporalGateway(client).import_products(self.job)
            return await client.get_workflow_handle_for(
                ImportProductsWorkflow.run, import_workflow_id(self.job.account_id)
            ).result()


async def test_a_row_that_fails_holds_up_no_other(temporal: Client) -> None:
    failures = iter([failure("garment_url_unreachable", "404", about="garmentImageUrl")])

    async def before(step: str) -> None:
        if step == "copy" and (error := next(failures, None)):
            raise error

    scene = Scene(3, before)
    assert await scene.report(temporal) == ImportReport(created=2, failed=1)
    (failed,) = [outcome for outcome in scene.outcomes if outcome.status == "failed"]
    assert (failed.error_code, failed.field) == ("garment_url_unreachable", "garmentImageUrl")
    assert [outcome.number for outcome in scene.outcomes] == [2, 3, 4]


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "PAUSES_OF_A_RUN", (timedelta(seconds=0.1),) * 2)


@pytest.mark.usefixtures("quickly")
async def test_a_row_that_fails_unexpectedly_is_told_by_a_code_of_the_catalogue(temporal: Client) -> None:
    async def before(step: str) -> None:
        if step == "copy":
            raise mistake_of_ours()

    scene = Scene(1, before)
    scene.runner = UnsandboxedWorkflowRunner()  # the sandbox would load the pauses anew
    assert await scene.report(temporal) == ImportReport(failed=1)
    assert [outcome.error_code for outcome in scene.outcomes] == ["storage_unavailable"]


@pytest.mark.usefixtures("quickly")
async def test_a_row_is_tried_again_where_the_service_was_to_blame(temporal: Client) -> None:
    faults = iter([mistake_of_ours(), failure("timed_out", "no worker came to it")])

    async def before(step: str) -> None:
        if step == "save" and (error := next(faults, None)):
            raise error

    scene = Scene(1, before)
    scene.runner = UnsandboxedWorkflowRunner()
    assert await scene.report(temporal) == ImportReport(created=1)
    assert scene.fakes.names.count("save") == 3


async def test_a_long_file_goes_on_in_another_run(temporal: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "ROUNDS_OF_A_RUN", 2)
    most = 2 * ROWS_AT_ONCE
    scene = Scene(most + 3)
    scene.runner = UnsandboxedWorkflowRunner()  # the sandbox would load the number anew
    assert await scene.report(temporal) == ImportReport(created=most + 3)
    assert [outcome.number for outcome in scene.outcomes] == list(range(2, most + 5))
    handle = temporal.get_workflow_handle(import_workflow_id(scene.job.account_id))
    assert (await handle.describe()).history_length < 100, "the second run has little to do"


async def test_it_stops_where_the_account_is_shut(temporal: Client) -> None:
    scene = Scene(3 * ROWS_AT_ONCE, stop_at=ROWS_AT_ONCE)
    assert await scene.report(temporal) == ImportReport(created=ROWS_AT_ONCE, stopped=True)


async def test_one_file_of_an_account_at_a_time(idle_temporal: Client) -> None:
    scene = Scene(1)
    await TemporalGateway(idle_temporal).import_products(scene.job)
    with pytest.raises(AlreadyRunningError):
        await TemporalGateway(idle_temporal).import_products(scene.job)
    await idle_temporal.get_workflow_handle(import_workflow_id(scene.job.account_id)).terminate()
