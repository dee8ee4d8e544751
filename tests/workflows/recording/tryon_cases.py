"""Try-on jobs: one garment and several, refused, overdue, and those of test keys."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle

from engines.errors import EngineError
from gateway.temporal import TemporalGateway
from runtime.object_store import ObjectStoreUnavailableError
from tests.workflows.fakes import FakeSteps, mistake_of_ours, tryon_input
from tests.workflows.recording.case import Activities, Case
from workflows.contracts import RehearsalScript
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE

Before = Callable[[str], Awaitable[None]]


async def refuse_the_person(step: str) -> None:
    """Once the garments are there: a fetch that is still under way would be cancelled, now and then."""
    if step == "segment_person":
        run = activity.client().get_workflow_handle(activity.info().workflow_id or "")
        while await ended_steps(run) < 2:
            await asyncio.sleep(0.02)
        raise EngineError("person_not_found", "nobody", advice="Show yourself.")


async def ended_steps(run: WorkflowHandle[Any, Any]) -> int:
    events = (await run.fetch_history()).events
    return sum(event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED for event in events)


async def hang_in_render(step: str) -> None:
    if step == "render":
        await asyncio.sleep(30)


async def fail_unexpectedly(step: str) -> None:
    if step == "watermark":
        raise mistake_of_ours()


async def refuse_the_first_fetch(step: str) -> None:
    """As a store does that is away, once nothing else is under way: the run is always the same then."""
    if step == "fetch_garment":
        run = activity.client().get_workflow_handle(activity.info().workflow_id or "")
        while await ended_steps(run) < 1:
            await asyncio.sleep(0.02)
        events = (await run.fetch_history()).events
        if not any(event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED for event in events):
            raise ObjectStoreUnavailableError("refused")


def case(name: str, before: Before | None = None, deadline_in: int | None = 300, **fields: Any) -> Case:
    """A job with these fields, whose steps do ``before`` first."""

    def activities() -> Activities:
        fakes = FakeSteps(before)
        gpu = fakes.gpu_activities()
        return {CPU_QUEUE: fakes.cpu_activities(), GPU_QUEUE: gpu, GPU_BULK_QUEUE: gpu}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        job = tryon_input(uuid.uuid4().hex, **fields)
        if deadline_in is not None:
            job = job.model_copy(update={"deadline_at": datetime.now(UTC) + timedelta(seconds=deadline_in)})
        await TemporalGateway(client).start_tryon(job)
        return client.get_workflow_handle(f"tryon-{job.job_id}")

    return Case("TryOnWorkflow", name, activities, start)


CASES = (
    case("single-completed"),
    case("combo-completed", garments=3, deadline_seconds=600),
    case("person-refused", refuse_the_person, garments=2, deadline_seconds=600),
    case("deadline-passed", hang_in_render, deadline_in=None, deadline_seconds=1),
    case("started-too-late", deadline_in=-60),
    case("failed-unexpectedly", fail_unexpectedly),
    case("store-away-once", refuse_the_first_fetch),
    case("in-bulk", priority=4, deadline_seconds=900),
    case("rehearsal-completed", rehearsal=RehearsalScript(delay_seconds=1)),
    case("rehearsal-failed", rehearsal=RehearsalScript(error_code="several_people")),
)
