"""How the service stands, asked of each of its parts at once; one that does not answer in time holds up nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from temporalio.client import (
    Client,
    ScheduleActionExecutionStartWorkflow,
    ScheduleListDescription,
    WorkflowExecutionStatus,
)
from temporalio.service import RPCError, RPCStatusCode

from api.parts import ApiParts
from domain.counts import JobCounts, count_jobs
from runtime.object_store import waiting_at_most
from runtime.versions import Part as WorkerPart
from runtime.versions import routing_of
from workflows.queue_state import QUEUES, QueueState, queue_state
from workflows.queues import CPU_QUEUE, GPU_QUEUE
from workflows.schedules import SCHEDULES, Scheduled
from workflows.sweeps import LedgerCheckWorkflow

PROBE_SECONDS = 1.0
LEDGER_CHECK = next(each for each in SCHEDULES if each.workflow == "LedgerCheckWorkflow")

Listing = Mapping[str, ScheduleListDescription]

Value = TypeVar("Value")


@dataclass(frozen=True)
class Answer(Generic[Value]):
    """What a part said, or why it said nothing."""

    value: Value | None = None
    away: str | None = None


@dataclass(frozen=True)
class ScheduleState:
    """One schedule.

    Attributes:
        there: Whether the server has it; the CPU worker makes it when it starts.
        last_at: When it last started a run.
        next_at: When it will start one.
    """

    name: str
    every: timedelta
    there: bool = False
    paused: bool = False
    last_at: datetime | None = None
    next_at: datetime | None = None


@dataclass(frozen=True)
class LedgerState:
    """The newest check that has ended, and whether another one runs.

    Attributes:
        disagreements: What it found; None where it found no end, or none is kept any more.
    """

    ended_at: datetime | None = None
    disagreements: int | None = None
    running: bool = False


@dataclass(frozen=True)
class Build:
    """Which workers of one kind get new work: those of a build, or those without one."""

    part: str
    current: str
    ramping: str | None
    percentage: float


@dataclass(frozen=True)
class SystemState:
    """Everything that was asked."""

    database: Answer[bool]
    store: Answer[bool]
    temporal: Answer[bool]
    counts: Answer[JobCounts]
    queues: list[tuple[str, str, Answer[QueueState]]]
    schedules: list[tuple[str, Answer[ScheduleState]]]
    ledger: Answer[LedgerState]
    builds: list[tuple[str, Answer[Build]]]


async def system_state(parts: ApiParts) -> SystemState:
    """Ask, all at once."""
    client, workers = parts.temporal, (("cpu", CPU_QUEUE), ("gpu", GPU_QUEUE))
    async with asyncio.TaskGroup() as asking:
        database = asking.create_task(ask(_well(parts.database.ping())))
        with waiting_at_most(PROBE_SECONDS):
            store = asking.create_task(ask(_well(parts.store.ping())))
        temporal = asking.create_task(ask(_well(client.service_client.check_health())))
        counts = asking.create_task(ask(parts.database.read(count_jobs, now=datetime.now(UTC))))
        clockwork = asking.create_task(_clockwork(client))
        queues = [(*name, asking.create_task(ask(queue_state(client, *name)))) for name in QUEUES]
        builds = [
            (part, asking.create_task(ask(_build(client, "cpu" if part == "cpu" else "gpu", queue))))
            for part, queue in workers
        ]
    listed, ledger = clockwork.result()
    return SystemState(
        database=database.result(),
        store=store.result(),
        temporal=temporal.result(),
        counts=counts.result(),
        queues=[(queue, kind, told.result()) for queue, kind, told in queues],
        schedules=[(each.name, _schedule_state(listed, each)) for each in SCHEDULES],
        ledger=ledger,
        builds=[(part, told.result()) for part, told in builds],
    )


async def ask(question: Coroutine[Any, Any, Value]) -> Answer[Value]:
    """What comes of it within `PROBE_SECONDS`; whatever goes wrong is the answer."""
    try:
        return Answer(value=await asyncio.wait_for(question, PROBE_SECONDS))
    except TimeoutError:
        return Answer(away=f"no answer within {PROBE_SECONDS:g} s")
    except Exception as error:  # noqa: BLE001  # the page tells it, and is there for that
        return Answer(away=type(error).__name__)


async def list_schedules(client: Client) -> Listing:
    """The service's schedules that the server has, by name.

    Raises:
        RPCError: Temporal cannot be reached.
    """
    names = {each.name for each in SCHEDULES}
    return {each.id: each async for each in await client.list_schedules() if each.id in names}


async def ledger_state(client: Client, schedule: ScheduleListDescription | None) -> LedgerState:
    """How the newest checks of the ledger ended.

    Raises:
        RPCError: Temporal cannot be reached.
    """
    running = False
    if schedule is None or schedule.info is None:
        return LedgerState()
    for action in reversed(schedule.info.recent_actions):
        run = action.action
        if not isinstance(run, ScheduleActionExecutionStartWorkflow):
            continue
        handle = client.get_workflow_handle_for(
            LedgerCheckWorkflow.run, run.workflow_id, run_id=run.first_execution_run_id
        )
        try:
            description = await handle.describe()
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:  # not kept any more
                break
            raise
        if description.status is WorkflowExecutionStatus.RUNNING:
            running = True
            continue
        if description.status is WorkflowExecutionStatus.COMPLETED:
            report = await handle.result()
            return LedgerState(description.close_time, report.disagreements, running)
        return LedgerState(description.close_time, None, running)
    return LedgerState(running=running)


async def _well(probe: Coroutine[Any, Any, object]) -> bool:
    await probe
    return True


async def _clockwork(client: Client) -> tuple[Answer[Listing], Answer[LedgerState]]:
    """One question for all schedules: a server takes longer to describe one of them than to list them all."""
    listed = await ask(list_schedules(client))
    if listed.value is None:
        return listed, Answer(away=listed.away)
    return listed, await ask(ledger_state(client, listed.value.get(LEDGER_CHECK.name)))


def _schedule_state(listed: Answer[Listing], scheduled: Scheduled) -> Answer[ScheduleState]:
    if listed.value is None:
        return Answer(away=listed.away)
    found = listed.value.get(scheduled.name)
    if found is None:
        return Answer(ScheduleState(scheduled.name, scheduled.every))
    info = found.info
    state = ScheduleState(
        name=scheduled.name,
        every=scheduled.every,
        there=True,
        paused=found.schedule is not None and found.schedule.state.paused,
        last_at=info.recent_actions[-1].started_at if info and info.recent_actions else None,
        next_at=info.next_action_times[0] if info and info.next_action_times else None,
    )
    return Answer(state)


async def _build(client: Client, part: WorkerPart, queue: str) -> Build:
    routing = await routing_of(client, queue, part)
    return Build(
        part=part,
        current=routing.current.build_id if routing.current else "without a build id",
        ramping=routing.ramping.build_id if routing.ramping else None,
        percentage=routing.percentage,
    )
