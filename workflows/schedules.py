"""What runs by the clock, and the schedules that start it, kept as the code has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from temporalio.api.common.v1 import Payload
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from workflows.contracts import Contract, LedgerCheckInput, SweepInput
from workflows.queues import CPU_QUEUE


@dataclass(frozen=True)
class Scheduled:
    """One schedule.

    Attributes:
        name: Its id, and the beginning of the ids of its runs.
        workflow: Name of the workflow that it starts.
        argument: What that gets.
        every: How often.
        longest: A run that takes longer is ended.
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
                self.workflow,
                self.argument,
                id=self.name,
                task_queue=CPU_QUEUE,
                execution_timeout=self.longest,
            ),
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=self.every)]),
            # The next round does what a missed one would have done. By default all rounds of a year are made up for.
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=self.every),
        )


SCHEDULES = (
    Scheduled("tryon-reconcile", "ReconcileWorkflow", SweepInput(), timedelta(minutes=1), timedelta(minutes=5)),
    Scheduled("tryon-purge", "PurgeWorkflow", SweepInput(), timedelta(minutes=10), timedelta(minutes=5)),
    Scheduled(
        "tryon-sweep-product-pictures",
        "SweepProductPicturesWorkflow",
        SweepInput(),
        timedelta(days=1),
        timedelta(hours=1),
    ),
    Scheduled("tryon-ledger-check", "LedgerCheckWorkflow", LedgerCheckInput(), timedelta(hours=1), timedelta(hours=1)),
)
"""Every schedule of the service."""


async def ensure_schedules(client: Client) -> None:
    """Create the schedules that are not there, and bring those that are to what the code says.

    Whether one is paused is the operator's business and stays as it is. Any number of processes may do this at once:
    all of them write the same. Processes of two versions write what each of them knows; whoever starts last is right.

    Raises:
        RPCError: Temporal cannot be reached.
    """
    for scheduled in SCHEDULES:
        try:
            await client.create_schedule(scheduled.name, scheduled.schedule())
        except ScheduleAlreadyRunningError:
            await _bring_up_to_date(client, scheduled)


async def follows_the_code(client: Client, scheduled: Scheduled, found: ScheduleDescription) -> bool:
    """Whether a schedule does what the code says, paused or not."""
    (argument,) = await client.data_converter.encode([scheduled.argument])
    return _facts(found.schedule, _first_payload(found.schedule)) == _facts(scheduled.schedule(), argument)


async def _bring_up_to_date(client: Client, scheduled: Scheduled) -> None:
    async def update(current: ScheduleUpdateInput) -> ScheduleUpdate | None:
        if await follows_the_code(client, scheduled, current.description):
            return None
        schedule = scheduled.schedule()
        schedule.state = current.description.schedule.state
        return ScheduleUpdate(schedule)

    try:
        await client.get_schedule_handle(scheduled.name).update(update)
    except RPCError as error:
        # Deleted in this very moment by somebody who will have a reason; the next start makes it anew.
        if error.status != RPCStatusCode.NOT_FOUND:
            raise


def _first_payload(schedule: Schedule) -> Payload | None:
    """What a schedule hands to its workflow, as it lies on the server."""
    action = schedule.action
    if not isinstance(action, ScheduleActionStartWorkflow) or len(action.args) != 1:
        return None
    (payload,) = action.args
    return payload if isinstance(payload, Payload) else None


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
