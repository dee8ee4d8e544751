"""How jobs are started: by the API and the relay through one function, by backfills as children with its options."""

from __future__ import annotations

from datetime import timedelta
from typing import TypedDict

from temporalio.client import Client
from temporalio.common import (
    Priority,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError

from workflows.contracts import TryOnInput
from workflows.queues import ACCOUNT_ATTRIBUTE, CPU_QUEUE, STAGE_ATTRIBUTE, tryon_workflow_id
from workflows.tryon import TryOnWorkflow

GRACE_AFTER_DEADLINE = timedelta(minutes=5)
"""The run ends itself at its deadline; this much later Temporal ends it, should it not be able to."""


class TryOnOptions(TypedDict):
    """How a job's workflow is started, whoever starts it."""

    id: str
    task_queue: str
    id_reuse_policy: WorkflowIDReusePolicy
    execution_timeout: timedelta
    priority: Priority
    search_attributes: TypedSearchAttributes
    static_summary: str


def tryon_options(job: TryOnInput) -> TryOnOptions:
    """Its one id, its place in the queues, and what people find it by."""
    return TryOnOptions(
        id=tryon_workflow_id(job.job_id),
        task_queue=CPU_QUEUE,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        execution_timeout=timedelta(seconds=job.deadline_seconds) + GRACE_AFTER_DEADLINE,
        priority=Priority(priority_key=job.priority, fairness_key=job.account_id),
        search_attributes=TypedSearchAttributes(
            [SearchAttributePair(ACCOUNT_ATTRIBUTE, job.account_id), SearchAttributePair(STAGE_ATTRIBUTE, "accepted")]
        ),
        static_summary=f"{job.kind}: " + " + ".join(garment.category for garment in job.garments),
    )


async def start_tryon(client: Client, job: TryOnInput) -> None:
    """Start the job's workflow; does nothing if it was started before, running or closed.

    Raises:
        temporalio.service.RPCError: Temporal cannot be reached. The call takes seconds to find that out, so a
            caller that is in a hurry wraps it in ``asyncio.wait_for``.
    """
    try:
        await client.start_workflow(
            TryOnWorkflow.run,
            job,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            **tryon_options(job),
        )
    except WorkflowAlreadyStartedError:
        return
