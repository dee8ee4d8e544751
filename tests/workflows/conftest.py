from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError
from temporalio.worker import Worker

from gateway.temporal import TemporalGateway
from tests.workflows.backfill_scene import Scene
from tests.workflows.fakes import FakeSteps, tryon_input
from workflows.contracts import TryOnInput, TryOnOutcome
from workflows.queues import CPU_QUEUE, GPU_QUEUE
from workflows.tryon import TryOnWorkflow

QUICK = timedelta(milliseconds=100)
"""How soon a step learns of its cancellation."""

RunningSteps = Callable[[FakeSteps], AbstractAsyncContextManager["Runs"]]


class Runs:
    """Starts jobs and finds their runs."""

    def __init__(self, client: Client, fakes: FakeSteps) -> None:
        self.client = client
        self._jobs = fakes.only = set[str]()

    async def start(self, job: TryOnInput | None = None) -> WorkflowHandle[TryOnWorkflow, TryOnOutcome]:
        job = job or tryon_input(uuid.uuid4().hex)
        self._jobs.add(job.job_id)
        await TemporalGateway(self.client).start_tryon(job)
        return self.client.get_workflow_handle_for(TryOnWorkflow.run, f"tryon-{job.job_id}")

    async def outcome(self, job: TryOnInput | None = None) -> TryOnOutcome:
        return await (await self.start(job)).result()


@pytest.fixture
def running(temporal: Client) -> RunningSteps:
    """Both workers, with these fakes for activities."""

    @asynccontextmanager
    async def run(fakes: FakeSteps) -> AsyncIterator[Runs]:
        runs = Runs(temporal, fakes)
        cpu = Worker(
            temporal,
            task_queue=CPU_QUEUE,
            workflows=[TryOnWorkflow],
            activities=fakes.cpu_activities(),
            workflow_failure_exception_types=[Exception],
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
            max_heartbeat_throttle_interval=QUICK,
        )
        gpu = Worker(
            temporal,
            task_queue=GPU_QUEUE,
            activities=fakes.gpu_activities(),
            max_heartbeat_throttle_interval=QUICK,
        )
        async with cpu, gpu:
            yield runs

    return run


@pytest.fixture
async def scene(temporal: Client) -> AsyncIterator[Callable[..., Scene]]:
    made: list[Scene] = []

    def make(total: int) -> Scene:
        made.append(Scene(temporal, total))
        return made[-1]

    yield make
    for each in made:
        with contextlib.suppress(RPCError):  # it has ended
            await temporal.get_workflow_handle(each.id).terminate()
