"""The workflows that schedules start; `gateway.schedules` says when."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.contracts import LedgerCheckInput, LedgerCheckReport, SweepInput, SweepReport


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
