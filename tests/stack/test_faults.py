"""Processes that die in mid-job: the job is late, and nothing is lost or billed twice."""

from __future__ import annotations

import asyncio
import signal
import socket

import pytest
from PIL import Image
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowHandle

from api.dashboard.samples import PORTRAIT, pixels_of
from gateway.temporal import TemporalGateway
from runtime.embedded.record import Endings
from runtime.embedded.servers import is_free
from tests.pictures import data_uri, encoded
from tests.stack.stack import Stack, until
from tests.stack.test_jobs import books, picture_of
from workflows.contracts import TryOnOutcome
from workflows.queues import tryon_workflow_id
from workflows.tryon import TryOnWorkflow


async def run_of(stack: Stack, job_id: str) -> WorkflowHandle[TryOnWorkflow, TryOnOutcome]:
    client = (await TemporalGateway.connect(stack.settings.temporal)).client
    return client.get_workflow_handle_for(TryOnWorkflow.run, tryon_workflow_id(job_id))


async def _given(run: WorkflowHandle[TryOnWorkflow, TryOnOutcome]) -> list[PendingActivityInfo]:
    """The steps that the server has given to a worker."""
    pending = (await run.describe()).raw_description.pending_activities
    return [step for step in pending if step.last_worker_identity and step.HasField("last_started_time")]


def pending_step(stack: Stack, job_id: str) -> str | None:
    """The step that was given to a worker, as anybody with the Temporal CLI sees it."""

    async def ask() -> str | None:
        return next((step.activity_type.name for step in await _given(await run_of(stack, job_id))), None)

    return asyncio.run(ask())


def meet(stack: Stack, job_id: str, step: str) -> None:
    """Wait until a worker has this step in hand; it may have it for a few tenths of a second.

    Its first heartbeat says so. That the server has given it away does not say that it arrived.
    """

    async def watch() -> None:
        run = await run_of(stack, job_id)
        async with asyncio.timeout(30):
            while not any(
                given.activity_type.name == step and given.HasField("last_heartbeat_time")
                for given in await _given(run)
            ):
                await asyncio.sleep(0.01)

    asyncio.run(watch())


def attempts(stack: Stack, job_id: str, step: str) -> int:
    """How often a step was tried until it was done."""

    async def ask() -> int:
        history = await (await run_of(stack, job_id)).fetch_history()
        scheduled = {
            event.event_id: event.activity_task_scheduled_event_attributes.activity_type.name
            for event in history.events
            if event.HasField("activity_task_scheduled_event_attributes")
        }
        return next(
            event.activity_task_started_event_attributes.attempt
            for event in history.events
            if event.HasField("activity_task_started_event_attributes")
            and scheduled[event.activity_task_started_event_attributes.scheduled_event_id] == step
        )

    return asyncio.run(ask())


def post(stack: Stack, portrait: str, sweater: str) -> str:
    return stack.post({"customerPhotoBase64": portrait, "garmentImageUrl": sweater, "category": "upper_body"})


@pytest.fixture(scope="session")
def portrait() -> str:
    """Large enough for a render to be met while it is under way."""
    return data_uri(encoded(Image.fromarray(pixels_of(PORTRAIT))))


@pytest.mark.parametrize("worker", ["worker-gpu", "worker-cpu"])
def test_a_worker_that_is_killed_delays_the_job_and_loses_nothing(
    stack: Stack, portrait: str, sweater: str, worker: str
) -> None:
    step = "render" if worker == "worker-gpu" else "segment_person"
    job_id = post(stack, portrait, sweater)
    meet(stack, job_id, step)
    killed = stack.pid(worker)
    stack.signal(worker, signal.SIGKILL)
    picture_of(stack.finished(job_id, seconds=90))
    assert books(stack, job_id)[1] == ["reserve", "settle"]
    assert stack.pid(worker) != killed
    if worker == "worker-gpu":
        assert attempts(stack, job_id, "render") == 2


def test_a_worker_that_is_asked_to_stop_finishes_its_render_first(stack: Stack, portrait: str, sweater: str) -> None:
    until(stack.healthy)
    job_id = post(stack, portrait, sweater)
    meet(stack, job_id, "render")
    stack.signal("worker-gpu", signal.SIGTERM)
    picture_of(stack.finished(job_id))
    assert attempts(stack, job_id, "render") == 1


def test_a_job_accepted_while_temporal_is_away_runs_once_it_is_back(stack: Stack, portrait: str, sweater: str) -> None:
    until(stack.healthy)
    stack.signal("temporal", signal.SIGKILL)
    job_id = post(stack, portrait, sweater)
    picture_of(stack.finished(job_id, seconds=90))
    assert books(stack, job_id)[1] == ["reserve", "settle"]
    until(stack.healthy)


def test_the_object_store_and_the_api_killed_at_once_cost_no_job(stack: Stack, portrait: str, sweater: str) -> None:
    until(stack.healthy)
    job_id = post(stack, portrait, sweater)
    for name in ("object-store", "api"):
        stack.signal(name, signal.SIGKILL)
    said = until(stack.healthy, seconds=60)
    picture_of(stack.finished(job_id, seconds=90))
    assert books(stack, job_id)[1] == ["reserve", "settle"]
    lines = {line.split()[0]: line for line in said.splitlines() if line.strip()}
    for name in ("object-store", "api"):
        assert "since the stack came up, last killed by SIGKILL" in lines[name]


def test_a_process_that_cannot_start_is_told_of_and_holds_up_no_other(stack: Stack) -> None:
    """Somebody has taken the API's port meanwhile."""
    until(stack.healthy)
    port = int(stack.record.addresses["API"].rpartition(":")[2])
    stack.signal("api", signal.SIGKILL)
    until(lambda: True if is_free(port) else None)
    with socket.create_server(("127.0.0.1", port)):
        before = stack.record.endings.get("api", Endings(0, 0)).count
        until(lambda: True if stack.record.endings.get("api", Endings(0, 0)).count > before + 1 else None, seconds=90)
        assert stack.record.endings["api"].exit_code > 0
        worker = stack.pid("worker-cpu")
        stack.signal("worker-cpu", signal.SIGKILL)
        until(lambda: True if stack.record.children.get("worker-cpu", stack.record.supervisor).pid != worker else None)
        until(lambda: True if " api           not running; ended" in stack.tryon("status").stdout else None)
    until(stack.healthy, seconds=90)
