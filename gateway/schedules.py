"""What runs by the clock, and the schedules that start it, kept as the code has them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn

import structlog
from temporalio import client as sdk
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, Schedule, ScheduleActionStartWorkflow, ScheduleListDescription

from gateway.calls import RunNotFoundError, TemporalAwayError, temporal_calls
from workflows.contracts import Contract, LedgerCheckInput, SweepInput
from workflows.queues import CPU_QUEUE
from workflows.sweeps import LedgerCheckWorkflow

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Scheduled:
    """One schedule: what it starts, and how often; a run that takes longer than ``longest`` is ended.

    The name is its id, and the beginning of the ids of its runs.
    """

    name: str
    workflow: str
    argument: Contract
    every: timedelta
    longest: timedelta

    def schedule(self) -> Schedule:
        """As Temporal is told."""
        return Schedule(
            action=ScheduleActionStartWorkflow(
                self.workflow, self.argument, id=self.name, task_queue=CPU_QUEUE, execution_timeout=self.longest
            ),
            spec=sdk.ScheduleSpec(intervals=[sdk.ScheduleIntervalSpec(every=self.every)]),
            # The next round does what a missed one would have done. By default all rounds of a year are made up for.
            policy=sdk.SchedulePolicy(overlap=sdk.ScheduleOverlapPolicy.SKIP, catchup_window=self.every),
        )


_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)

SCHEDULES = (
    Scheduled("tryon-reconcile", "ReconcileWorkflow", SweepInput(), _MINUTE, 5 * _MINUTE),
    Scheduled("tryon-purge", "PurgeWorkflow", SweepInput(), 10 * _MINUTE, 5 * _MINUTE),
    Scheduled("tryon-sweep-product-pictures", "SweepProductPicturesWorkflow", SweepInput(), 24 * _HOUR, _HOUR),
    Scheduled("tryon-ledger-check", "LedgerCheckWorkflow", LedgerCheckInput(), _HOUR, _HOUR),
)
"""Every schedule of the service."""

LEDGER_CHECK = SCHEDULES[-1]

KEEP_SECONDS = 60.0
"""Between two looks for schedules that are gone."""


@dataclass(frozen=True)
class ScheduleState:
    """When a schedule last started a run, and will next, if the server has it: the CPU worker makes it."""

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


class Schedules:
    """The schedules on the server; every method raises `gateway.calls.TemporalAwayError`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ensure(self) -> None:
        """Create the schedules that are not there, and bring those that are to what the code says.

        Whether one is paused is the operator's business and stays as it is. Any number of processes may do this at
        once: all of them write the same. Processes of two versions each write what they know; the last to start
        is right.
        """
        with temporal_calls():
            for scheduled in SCHEDULES:
                if not await self._created(scheduled):
                    await self._bring_up_to_date(scheduled)

    async def keep(self) -> NoReturn:
        """Create those that are gone, each minute, for ever: a server may lose its database, or be another one.

        Those that are there stay as they are, since a process of an older version may do this too.
        """
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            with suppress(TemporalAwayError):  # there is another minute
                await self.create_missing()

    async def create_missing(self) -> None:
        """Create the schedules that are not there."""
        with temporal_calls():
            there = {each.id async for each in await self._client.list_schedules()}
            for scheduled in SCHEDULES:
                if scheduled.name not in there and await self._created(scheduled):
                    log.warning("a schedule was gone, and is there again", schedule=scheduled.name)

    async def check_ledger_now(self) -> None:
        """Start a check of the ledger, rather than within the hour."""
        with temporal_calls():
            await self._client.get_schedule_handle(LEDGER_CHECK.name).trigger()

    async def states(self) -> tuple[list[ScheduleState], LedgerState]:
        """How each schedule stands, and how the newest checks of the ledger ended.

        One question for all schedules: a server takes longer to describe one of them than to list them all.
        """
        with temporal_calls():
            listed = {each.id: each async for each in await self._client.list_schedules()}
            ledger = await self._ledger_state(listed.get(LEDGER_CHECK.name))
        return [_state_of(scheduled, listed.get(scheduled.name)) for scheduled in SCHEDULES], ledger

    async def follows_the_code(self, scheduled: Scheduled, found: sdk.ScheduleDescription) -> bool:
        """Whether a schedule does what the code says, paused or not."""
        (argument,) = await self._client.data_converter.encode([scheduled.argument])
        action = found.schedule.action
        args = action.args if isinstance(action, ScheduleActionStartWorkflow) else ()
        lying = args[0] if len(args) == 1 and isinstance(args[0], Payload) else None  # as it is on the server
        return _facts(found.schedule, lying) == _facts(scheduled.schedule(), argument)

    async def _created(self, scheduled: Scheduled) -> bool:
        """Create it; false if it is there."""
        try:
            await self._client.create_schedule(scheduled.name, scheduled.schedule())
        except sdk.ScheduleAlreadyRunningError:
            return False
        return True

    async def _bring_up_to_date(self, scheduled: Scheduled) -> None:
        async def update(current: sdk.ScheduleUpdateInput) -> sdk.ScheduleUpdate | None:
            if await self.follows_the_code(scheduled, current.description):
                return None
            schedule = scheduled.schedule()
            schedule.state = current.description.schedule.state
            return sdk.ScheduleUpdate(schedule)

        # Deleted in this very moment; `keep` makes it anew.
        with suppress(RunNotFoundError), temporal_calls():
            await self._client.get_schedule_handle(scheduled.name).update(update)

    async def _ledger_state(self, schedule: ScheduleListDescription | None) -> LedgerState:
        running = False
        for action in reversed(schedule.info.recent_actions if schedule and schedule.info else ()):
            run = action.action
            if not isinstance(run, sdk.ScheduleActionExecutionStartWorkflow):
                continue
            handle = self._client.get_workflow_handle_for(
                LedgerCheckWorkflow.run, run.workflow_id, run_id=run.first_execution_run_id
            )
            try:
                with temporal_calls():
                    description = await handle.describe()
            except RunNotFoundError:  # not kept any more
                break
            if description.status is sdk.WorkflowExecutionStatus.RUNNING:
                running = True
                continue
            completed = description.status is sdk.WorkflowExecutionStatus.COMPLETED
            disagreements = (await handle.result()).disagreements if completed else None
            return LedgerState(description.close_time, disagreements, running)
        return LedgerState(running=running)


def _state_of(scheduled: Scheduled, found: ScheduleListDescription | None) -> ScheduleState:
    if found is None:
        return ScheduleState(scheduled.name, scheduled.every)
    info = found.info
    return ScheduleState(
        name=scheduled.name,
        every=scheduled.every,
        there=True,
        paused=found.schedule is not None and found.schedule.state.paused,
        last_at=info.recent_actions[-1].started_at if info and info.recent_actions else None,
        next_at=info.next_action_times[0] if info and info.next_action_times else None,
    )


def _facts(schedule: Schedule, argument: Payload | None) -> tuple[object, ...]:
    """What makes a schedule what it is, without its state."""
    action, spec, policy = schedule.action, schedule.spec, schedule.policy
    if not isinstance(action, ScheduleActionStartWorkflow):
        return ()
    return (
        (action.workflow, action.id, action.task_queue, action.execution_timeout),
        (argument.metadata["encoding"], argument.data) if argument else None,
        [(each.every, each.offset or timedelta(0)) for each in spec.intervals],
        (list(spec.calendars), list(spec.cron_expressions), list(spec.skip), spec.jitter or timedelta(0)),
        (policy.overlap, policy.catchup_window, policy.pause_on_failure),
    )
