"""What the schedules start: each is one step."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import ApplicationError

from tests.workflows.recording.case import Activities, Case
from workflows import steps
from workflows.contracts import Contract, LedgerCheckInput, LedgerCheckReport, SweepInput, SweepReport
from workflows.queues import CPU_QUEUE
from workflows.steps import Step

LONGEST = timedelta(minutes=5)


def case(workflow: str, step: Step[Any, Any], argument: Contract, answer: Contract | None) -> Case:
    """A round whose step answers this, or fails."""

    @activity.defn(name=step.name)
    async def play(_argument: Contract) -> Contract:
        if answer is None:
            raise ApplicationError("away", type="internal", non_retryable=True)
        return answer

    def activities() -> Activities:
        return {CPU_QUEUE: [play]}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        return await client.start_workflow(
            workflow, argument, id=uuid.uuid4().hex, task_queue=CPU_QUEUE, execution_timeout=LONGEST
        )

    return Case(workflow, "done" if answer is not None else "failed", activities, start)


SWEPT = SweepReport(released=1, deleted=2)
CHECKED = LedgerCheckReport(disagreements=0)

CASES = (
    case("ReconcileWorkflow", steps.RECONCILE, SweepInput(), SWEPT),
    case("ReconcileWorkflow", steps.RECONCILE, SweepInput(), None),
    case("PurgeWorkflow", steps.PURGE, SweepInput(), SWEPT),
    case("PurgeWorkflow", steps.PURGE, SweepInput(), None),
    case("SweepProductPicturesWorkflow", steps.SWEEP_PRODUCT_PICTURES, SweepInput(), SWEPT),
    case("SweepProductPicturesWorkflow", steps.SWEEP_PRODUCT_PICTURES, SweepInput(), None),
    case("LedgerCheckWorkflow", steps.CHECK_LEDGER, LedgerCheckInput(), CHECKED),
    case("LedgerCheckWorkflow", steps.CHECK_LEDGER, LedgerCheckInput(), None),
)
