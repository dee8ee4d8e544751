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
    from workflows.contracts import LedgerCheckInput, LedgerCheckReport, SweepInput, SweepReport
    from workflows.queues import CPU_QUEUE

RECONCILE_EVERY = timedelta(minutes=1)
PURGE_EVERY = timedelta(minutes=10)
SWEEP_PRODUCTS_EVERY = timedelta(days=1)
CHECK_LEDGER_EVERY = timedelta(hours=1)
LONGEST_SWEEP = timedelta(minutes=5)
LONGEST_CHECK = timedelta(hours=1)


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


@workflow.defn(name="SweepProductPicturesWorkflow", failure_exception_types=[ValidationError])
class SweepProductPicturesWorkflow:
    """Delete pictures that no product refers to any more."""

    @workflow.run
    async def run(self, sweep: SweepInput) -> SweepReport:
        return await steps.SWEEP_PRODUCT_PICTURES.run(sweep)


@workflow.defn(name="LedgerCheckWorkflow", failure_exception_types=[ValidationError])
class LedgerCheckWorkflow:
    """Prove that the money adds up."""

    @workflow.run
    async def run(self, check: LedgerCheckInput) -> LedgerCheckReport:
        return await steps.CHECK_LEDGER.run(check)


async def ensure_schedules(client: Client) -> None:
    """Create the schedules that are not there yet."""
    for name, workflow_name, argument, every, longest in (
        ("reconcile", "ReconcileWorkflow", SweepInput(), RECONCILE_EVERY, LONGEST_SWEEP),
        ("purge", "PurgeWorkflow", SweepInput(), PURGE_EVERY, LONGEST_SWEEP),
        ("sweep-product-pictures", "SweepProductPicturesWorkflow", SweepInput(), SWEEP_PRODUCTS_EVERY, LONGEST_SWEEP),
        ("ledger-check", "LedgerCheckWorkflow", LedgerCheckInput(), CHECK_LEDGER_EVERY, LONGEST_CHECK),
    ):
        schedule = Schedule(
            action=ScheduleActionStartWorkflow(
                workflow_name,
                argument,
                id=f"tryon-{name}",
                task_queue=CPU_QUEUE,
                execution_timeout=longest,
            ),
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
        )
        try:
            await client.create_schedule(f"tryon-{name}", schedule)
        except ScheduleAlreadyRunningError:
            continue
