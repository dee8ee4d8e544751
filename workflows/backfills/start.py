"""Starting a backfill from code; engineers do the same with Temporal's own command line."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.common import Priority

from workflows.backfills.contracts import BackfillInput, BackfillReport
from workflows.backfills.workflow import BackfillWorkflow
from workflows.queues import CPU_QUEUE

LONGEST_BACKFILL = timedelta(days=30)
"""Waiting for generations included."""


async def start_backfill(
    client: Client, backfill_id: str, backfill: BackfillInput
) -> WorkflowHandle[Any, BackfillReport]:
    """Start it; a backfill of the same name that has ended is no hindrance.

    Raises:
        WorkflowAlreadyStartedError: A backfill of this name is running.
        RPCError: Temporal cannot be reached.
    """
    return await client.start_workflow(
        BackfillWorkflow.run,
        backfill,
        id=backfill_id,
        task_queue=CPU_QUEUE,
        execution_timeout=LONGEST_BACKFILL,
        priority=Priority(priority_key=backfill.priority),
        static_summary=f"backfill for {backfill.account}",
    )
