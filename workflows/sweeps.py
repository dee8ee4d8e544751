"""The workflows that schedules start; `gateway.schedules` says when."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.contracts import LedgerCheckInput, LedgerCheckReport, SweepInput, SweepReport

PAGES = 25
"""Of a sweep of product pictures, at most: 12,500 pictures a day, 150 events. A full page takes two minutes or more."""


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
        """A page at a time, until none is left, or another might outlast the run."""
        done = SweepReport()
        for _ in range(PAGES):
            began = workflow.now()
            page = await steps.SWEEP_PRODUCT_PICTURES.run(sweep)
            done = SweepReport(deleted=done.deleted + page.deleted, more=page.more)
            # In histories of older releases no page tells of more, and a run has one.
            if not page.more or not _is_time_for(2 * (workflow.now() - began)):
                break
        return done


def _is_time_for(another: timedelta) -> bool:
    """Whether the run may go on for so long; one that was started by hand may have no end."""
    run = workflow.info()
    return not run.execution_timeout or workflow.now() + another <= run.start_time + run.execution_timeout


@workflow.defn(name="LedgerCheckWorkflow", failure_exception_types=[ValidationError])
class LedgerCheckWorkflow:
    """Prove that the money adds up."""

    @workflow.run
    async def run(self, check: LedgerCheckInput) -> LedgerCheckReport:
        return await steps.CHECK_LEDGER.run(check)
