"""The scheduled workflows, and the schedules that start them."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
)

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.contracts import SweepInput, SweepReport
    from workflows.queues import CPU_QUEUE

RECONCILE_EVERY = timedelta(minutes=1)
PURGE_EVERY = timedelta(minutes=10)
LONGEST_SWEEP = timedelta(minutes=5)


@workflow.defn(name="ReconcileWorkflow", failure_exception_types=[ValidationError])
class ReconcileWorkflow:
    """Release jobs that nobody will finish any more."""

    @workflow.run
    async def run(self, sweep: SweepInput) -> SweepReport:
        return await steps.RECONCILE.run(sweep)


@workflow.defn(name="PurgeWorkflow", failure_exception_types=[ValidationError])
class PurgeWorkflow:
    """Delete results that are past their time."""

    @workflow.run
    async def run(self, sweep: SweepInput) -> SweepReport:
        return await steps.PURGE.run(sweep)


async def ensure_schedules(client: Client) -> None:
    """Create the schedules that are not there yet."""
    for name, action, every in (
        ("reconcile", ReconcileWorkflow.run, RECONCILE_EVERY),
        ("purge", PurgeWorkflow.run, PURGE_EVERY),
    ):
        schedule = Schedule(
            action=ScheduleActionStartWorkflow(
                action, SweepInput(), id=f"tryon-{name}", task_queue=CPU_QUEUE, execution_timeout=LONGEST_SWEEP
            ),
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
        )
        try:
            await client.create_schedule(f"tryon-{name}", schedule)
        except ScheduleAlreadyRunningError:
            continue
