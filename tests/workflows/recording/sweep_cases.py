"""What the schedules start: each is one step, which a sweep of product pictures may have again and again."""

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


def case(
    workflow: str, step: Step[Any, Any], argument: Contract, *answers: Contract | None, name: str = "done"
) -> Case:
    """A round whose step answers these in turn; nothing stands for a failure."""

    def activities() -> Activities:
        left = iter(answers)

        @activity.defn(name=step.name)
        async def play(_argument: Contract) -> Contract:
            if (answer := next(left)) is None:
                raise ApplicationError("away", type="internal", non_retryable=True)
            return answer

        return {CPU_QUEUE: [play]}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        return await client.start_workflow(
            workflow, argument, id=uuid.uuid4().hex, task_queue=CPU_QUEUE, execution_timeout=LONGEST
        )

    return Case(workflow, name, activities, start)


SWEPT = SweepReport(released=1, deleted=2)
FULL = SweepReport(deleted=500, more=True)
CHECKED = LedgerCheckReport(disagreements=0)

CASES = (
    case("ReconcileWorkflow", steps.RECONCILE, SweepInput(), SWEPT),
    case("ReconcileWorkflow", steps.RECONCILE, SweepInput(), None, name="failed"),
    case("PurgeWorkflow", steps.PURGE, SweepInput(), SWEPT),
    case("PurgeWorkflow", steps.PURGE, SweepInput(), None, name="failed"),
    case("SweepProductPicturesWorkflow", steps.SWEEP_PRODUCT_PICTURES, SweepInput(), SWEPT),
    case("SweepProductPicturesWorkflow", steps.SWEEP_PRODUCT_PICTURES, SweepInput(), None, name="failed"),
    case("SweepProductPicturesWorkflow", steps.SWEEP_PRODUCT_PICTURES, SweepInput(), FULL, SWEPT, name="two-pages"),
    case("LedgerCheckWorkflow", steps.CHECK_LEDGER, LedgerCheckInput(), CHECKED),
    case("LedgerCheckWorkflow", steps.CHECK_LEDGER, LedgerCheckInput(), None, name="failed"),
)
