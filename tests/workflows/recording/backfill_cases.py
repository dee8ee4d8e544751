"""Backfills: every way that an item goes, waiting, pausing, cancelling, several runs, and input that is refused."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import ApplicationError

from gateway.temporal import TemporalGateway
from tests.workflows.backfill_fakes import Warehouse
from tests.workflows.fakes import FakeSteps, mistake_of_ours
from tests.workflows.recording.case import Activities, Case
from workflows.backfills.contracts import BackfillInput, BackfillReport
from workflows.backfills.window import ITEMS_A_RUN
from workflows.backfills.workflow import BackfillWorkflow
from workflows.contracts import RenderInput

Handle = WorkflowHandle[Any, BackfillReport]


class Play:
    """One playing of a case: its items, and what its renders do."""

    def __init__(self, total: int) -> None:
        self.warehouse = Warehouse(total)
        self.failing: dict[int, int] = {}
        self.going_on = asyncio.Event()
        self.going_on.set()
        self.fakes = FakeSteps(self._before)

    async def _before(self, step: str) -> None:
        if step == "render":
            await self.going_on.wait()
            request = next(call for _, call in reversed(self.fakes.calls) if isinstance(call, RenderInput))
            number = self.warehouse.numbers[request.job_id]
            if self.failing.get(number, 0):
                self.failing[number] -= 1
                raise mistake_of_ours()

    async def until(self, probe: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not probe():
                await asyncio.sleep(0.02)

    @property
    def rendering(self) -> int:
        return sum(isinstance(call, RenderInput) for _, call in self.fakes.calls)


def case(
    name: str,
    total: int,
    prepare: Callable[[Play], None] = lambda _play: None,
    steer: Callable[[Play, Handle], Awaitable[None]] | None = None,
    *,
    in_order: bool = True,
    **fields: Any,
) -> Case:
    """A backfill of so many items; ``steer`` does what else it needs while it runs."""
    plays: list[Play] = []

    def activities() -> Activities:
        play = Play(total)
        prepare(play)
        plays.append(play)
        cpu = [*play.fakes.cpu_activities(), *play.warehouse.activities()]
        gpu = play.fakes.gpu_activities()
        return {"tryon-cpu": cpu, "tryon-gpu": gpu, "tryon-gpu-bulk": gpu}

    async def start(client: Client) -> Handle:
        backfill = BackfillInput.model_validate({"account": "a@example.com", **fields})
        backfill_id = f"backfill-{uuid.uuid4().hex}"
        await TemporalGateway(client).start_backfill(backfill_id, backfill)
        handle = client.get_workflow_handle_for(BackfillWorkflow.run, backfill_id)
        if steer is not None:
            await steer(plays[-1], handle)
        return handle

    return Case("BackfillWorkflow", name, activities, start, in_order)


def every_kind_of_item(play: Play) -> None:
    play.warehouse.done, play.warehouse.refused = {1}, {2}
    play.failing = {3: 1, 4: 3}


def most_are_refused(play: Play) -> None:
    play.warehouse.refused = set(range(play.warehouse.total)) - {3, ITEMS_A_RUN + 1}


def poor(play: Play) -> None:
    play.warehouse.quota = 1


def held(play: Play) -> None:
    play.going_on.clear()


def refused(play: Play) -> None:
    play.warehouse.plan_error = ApplicationError(
        "row 3: person: is missing.", type="backfill_invalid", non_retryable=True
    )


async def until_timer(handle: Handle) -> None:
    """Until the run waits for somebody, or time, to let it go on."""
    async with asyncio.timeout(60):
        while True:
            events = (await handle.fetch_history()).events
            if any(event.HasField("timer_started_event_attributes") for event in events):
                return
            await asyncio.sleep(0.05)


async def top_up(play: Play, handle: Handle) -> None:
    await until_timer(handle)
    play.warehouse.quota = None
    await handle.signal(BackfillWorkflow.resume)


async def pause_and_widen(play: Play, handle: Handle) -> None:
    await play.until(lambda: play.rendering == 1)
    await handle.signal(BackfillWorkflow.pause)
    play.going_on.set()
    await until_timer(handle)
    await handle.execute_update(BackfillWorkflow.set_concurrency, 3)
    await handle.signal(BackfillWorkflow.resume)


async def cancel_by_signal(play: Play, handle: Handle) -> None:
    await play.until(lambda: play.rendering == 1)
    await handle.signal(BackfillWorkflow.cancel)


async def cancel_from_outside(play: Play, handle: Handle) -> None:
    await play.until(lambda: play.rendering == 1)
    await handle.cancel()


async def terminate_a_job(play: Play, handle: Handle) -> None:
    await play.until(lambda: play.rendering == 1)
    (job_id,) = play.warehouse.numbers
    run = handle._client.get_workflow_handle(f"tryon-{job_id}")
    await asyncio.wait_for(run.terminate(), timedelta(seconds=10).total_seconds())


CASES = (
    case("every-kind-of-item", 6, every_kind_of_item, concurrency=1),
    case("several-runs", ITEMS_A_RUN + 2, most_are_refused, concurrency=8, in_order=False),
    case("out-of-generations", 3, poor, top_up, concurrency=1),
    case("paused-and-widened", 4, held, pause_and_widen, concurrency=1),
    case("cancelled-by-signal", 5, held, cancel_by_signal, concurrency=1),
    case("cancelled-from-outside", 5, held, cancel_from_outside, concurrency=1),
    case("a-job-terminated", 1, held, terminate_a_job),
    case("refused", 0, refused),
    case("checked-only", 3, dry_run=True),
)
