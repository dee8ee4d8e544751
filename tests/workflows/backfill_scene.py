"""A backfill over a warehouse, on a real server with the steps played."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from gateway.temporal import TemporalGateway
from tests.workflows.backfill_fakes import Warehouse
from tests.workflows.fakes import FakeSteps, mistake_of_ours
from workflows.backfills.contracts import BackfillInput, BackfillReport, BackfillState
from workflows.backfills.workflow import BackfillWorkflow
from workflows.contracts import ReleaseInput, RenderInput
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE
from workflows.tryon import TryOnWorkflow

QUICK = timedelta(milliseconds=100)


Handle = WorkflowHandle[Any, BackfillReport]


class Scene:
    """A backfill over a warehouse, and what its jobs do in their render."""

    def __init__(self, client: Client, total: int) -> None:
        self.client = client
        self.warehouse = Warehouse(total)
        self.going_on = asyncio.Event()
        """Renders wait for it."""
        self.going_on.set()
        self.rendering = 0
        self.most_rendering = 0
        self.failing: dict[int, int] = {}
        """How often the jobs of an item fail before they do not."""
        self.fakes = FakeSteps(self._before)
        self.id = f"backfill-{uuid.uuid4().hex}"

    async def _before(self, step: str) -> None:
        if step != "render":
            return
        render = next(call for name, call in reversed(self.fakes.calls) if name == "render")
        assert isinstance(render, RenderInput)
        number = self.warehouse.numbers[render.job_id]
        self.rendering += 1
        self.most_rendering = max(self.most_rendering, self.rendering)
        try:
            await self.going_on.wait()
            if self.failing.get(number, 0):
                self.failing[number] -= 1
                raise mistake_of_ours()
        finally:
            self.rendering -= 1

    @asynccontextmanager
    async def workers(self) -> AsyncIterator[None]:
        cpu = Worker(
            self.client,
            task_queue=CPU_QUEUE,
            workflows=[BackfillWorkflow, TryOnWorkflow],
            activities=[*self.fakes.cpu_activities(), *self.warehouse.activities()],
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
            max_heartbeat_throttle_interval=QUICK,
        )
        gpu = Worker(
            self.client,
            task_queue=GPU_BULK_QUEUE,
            activities=self.fakes.gpu_activities(),
            max_heartbeat_throttle_interval=QUICK,
        )
        async with cpu, gpu:
            yield

    async def start(self, **fields: Any) -> Handle:
        await TemporalGateway(self.client).start_backfill(self.id, BackfillInput(account="a@example.com", **fields))
        return self.client.get_workflow_handle_for(BackfillWorkflow.run, self.id)

    async def state(self) -> BackfillState:
        return await self.client.get_workflow_handle_for(BackfillWorkflow.run, self.id).query(BackfillWorkflow.progress)

    async def until(self, probe: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not probe():
                await asyncio.sleep(0.02)

    async def until_state(self, state: str) -> BackfillState:
        async with asyncio.timeout(30):
            while (found := await self.state()).state != state:
                await asyncio.sleep(0.05)
        return found

    def released(self) -> list[str]:
        return [call.error_code for _, call in self.fakes.calls if isinstance(call, ReleaseInput)]
