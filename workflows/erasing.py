"""`EraseAccountWorkflow`: everything that an account has stored goes, whatever fails on the way.

It is started once `domain.erasure.begin_erasure` has been committed: by whoever did that, and by the reconciler
for as long as it is not done.
"""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.erasure_contracts import EraseAccountInput, ErasedAccount, ErasureReport


@workflow.defn(name="EraseAccountWorkflow", failure_exception_types=[ValidationError])
class EraseAccountWorkflow:
    """End what runs, delete pictures, wait for what was just being written, delete that too, forget the rows."""

    @workflow.run
    async def run(self, erasure: EraseAccountInput) -> ErasureReport:
        """Carry it out."""
        account = ErasedAccount(account_id=erasure.account_id)
        first = await steps.END_ACCOUNT_RUNS.run(account)
        deleted = await steps.DELETE_ACCOUNT_OBJECTS.run(account)
        await workflow.sleep(timedelta(seconds=erasure.aftermath_seconds), summary="steps that are under way end")
        second = await steps.END_ACCOUNT_RUNS.run(account)
        rest = await steps.DELETE_ACCOUNT_OBJECTS.run(account)
        forgotten = await steps.FORGET_ACCOUNT_ROWS.run(account)
        return ErasureReport(
            cancelled=first.cancelled + second.cancelled,
            deleted=deleted.deleted + rest.deleted,
            forgotten=forgotten.forgotten,
        )
