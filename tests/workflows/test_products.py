from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import Worker

from activities.failures import failure
from domain.products import new_registration_id
from gateway.calls import RunFailedError
from gateway.temporal import TemporalGateway
from tests.workflows.fakes import mistake_of_ours
from tests.workflows.product_fakes import SAVED, FakeProductSteps, failing_in, registration
from workflows.products.contracts import (
    RegisterProductInput,
    SavedProduct,
)
from workflows.products.registration import RegisterProductWorkflow
from workflows.queues import CPU_QUEUE, registration_workflow_id


@asynccontextmanager
async def working(temporal: Client, fakes: FakeProductSteps) -> AsyncIterator[None]:
    activities = [fakes.copy, fakes.save, fakes.clean_up]
    async with Worker(temporal, task_queue=CPU_QUEUE, workflows=[RegisterProductWorkflow], activities=activities):
        yield


async def run(temporal: Client, fakes: FakeProductSteps, request: RegisterProductInput) -> SavedProduct:
    async with working(temporal, fakes):
        return await TemporalGateway(temporal).register_product(request)


async def begun(temporal: Client) -> WorkflowHandle[RegisterProductWorkflow, SavedProduct]:
    """A run that nobody waits for."""
    request = registration()
    run_id = registration_workflow_id(request.registration_id)
    return await temporal.start_workflow(RegisterProductWorkflow.run, request, id=run_id, task_queue=CPU_QUEUE)


async def failure_of(temporal: Client, fakes: FakeProductSteps, request: RegisterProductInput) -> RunFailedError:
    with pytest.raises(RunFailedError) as caught:
        await run(temporal, fakes, request)
    return caught.value


def failing(step: str, error: Exception) -> FakeProductSteps:
    return FakeProductSteps(failing_in(step, error))


async def test_pictures_are_copied_then_the_row_is_saved_then_the_rest_deleted(temporal: Client) -> None:
    fakes, request = FakeProductSteps(), registration(clear=["size"])
    assert await run(temporal, fakes, request) == SAVED
    assert fakes.names == ["copy", "save", "clean_up"]
    saved = fakes.calls[1][1]
    assert (saved.fields, saved.clear, saved.pictures.keys) == (request.fields, ["size"], ["front-copy"])
    assert fakes.calls[2][1].keep == ["front-copy"]


async def test_a_change_without_pictures_is_one_step(temporal: Client) -> None:
    fakes = FakeProductSteps()
    await run(temporal, fakes, registration(product_id="prod_1", front=None))
    assert fakes.names == ["save"]


async def test_a_refused_picture_fails_the_run_with_its_code_and_field(temporal: Client) -> None:
    refusal = failure("garment_url_unreachable", "404", about="garmentImageUrl")
    fakes = failing("copy", refusal)
    error = await failure_of(temporal, fakes, registration())
    assert (error.code, error.detail) == ("garment_url_unreachable", "garmentImageUrl")
    assert fakes.names == ["copy", "clean_up"]
    assert fakes.calls[-1][1].keep == []


async def test_a_refused_row_leaves_no_pictures(temporal: Client) -> None:
    fakes = failing("save", failure("external_id_taken", "taken"))
    assert (await failure_of(temporal, fakes, registration())).code == "external_id_taken"
    assert fakes.calls[-1][1].keep == []


async def test_a_fault_that_nobody_expected_has_a_code_of_the_catalogue(temporal: Client) -> None:
    fakes = failing("copy", mistake_of_ours())
    error = await failure_of(temporal, fakes, registration())
    assert (error.code, error.detail) == ("storage_unavailable", None)
    assert isinstance(error.__cause__, WorkflowFailureError)
    step = error.__cause__.cause.__cause__
    assert isinstance(step, ActivityError)
    assert isinstance(step.cause, ApplicationError)
    assert step.cause.type == "ValidationError", "people find it in the run"


async def test_a_passing_fault_is_tried_again(temporal: Client) -> None:
    faults = {"copy", "save"}

    async def before(name: str) -> None:
        if name in faults:
            faults.remove(name)
            raise OSError("away")

    fakes = FakeProductSteps(before)
    assert await run(temporal, fakes, registration()) == SAVED
    assert fakes.names == ["copy", "copy", "save", "save", "clean_up"]


async def test_pictures_stay_when_it_is_not_known_whether_the_row_was_saved(temporal: Client) -> None:
    saving, go_on = asyncio.Event(), asyncio.Event()

    async def before(name: str) -> None:
        if name == "save":
            saving.set()
            await go_on.wait()

    fakes = FakeProductSteps(before)
    async with working(temporal, fakes):
        handle = await begun(temporal)
        await saving.wait()
        await handle.cancel()
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
        go_on.set()
    assert isinstance(caught.value.cause, ApplicationError)
    assert caught.value.cause.type == "cancelled"
    assert fakes.calls[-1][0] == "clean_up"
    assert fakes.calls[-1][1].keep == ["front-copy"]


async def test_a_clean_up_that_fails_changes_nothing(temporal: Client) -> None:
    assert await run(temporal, failing("clean_up", OSError("away")), registration()) == SAVED


async def test_a_person_can_tell_the_runs_apart(temporal: Client) -> None:
    async with working(temporal, FakeProductSteps()):
        request = registration()
        await TemporalGateway(temporal).register_product(request)
        handle = temporal.get_workflow_handle(registration_workflow_id(request.registration_id))
        assert await (await handle.describe()).static_summary() == "product: SKU-1"


async def test_bad_input_fails_the_run_at_once(temporal: Client) -> None:
    async with working(temporal, FakeProductSteps()):
        handle = await temporal.start_workflow(
            "RegisterProductWorkflow", {"accountId": "y"}, id=new_registration_id(), task_queue=CPU_QUEUE
        )
        with pytest.raises(WorkflowFailureError):
            await asyncio.wait_for(handle.result(), 10)
        assert (await handle.describe()).status == WorkflowExecutionStatus.FAILED


async def test_a_run_that_was_cancelled_before_a_worker_took_it_registers_nothing(temporal: Client) -> None:
    fakes = FakeProductSteps()
    handle = await begun(temporal)
    await handle.cancel()
    async with working(temporal, fakes):
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    assert "save" not in fakes.names
