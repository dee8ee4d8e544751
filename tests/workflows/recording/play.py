"""Plays cases on a real server."""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker

from tests.workflows.recording.case import Case
from worker_cpu.main import WORKFLOWS
from workflows.queues import CPU_QUEUE

CANCELLED_WITHIN = timedelta(milliseconds=100)
"""How soon a step learns of its cancellation."""


async def play(client: Client, case: Case) -> list[dict[str, Any]]:
    """Run a case to its end.

    Returns:
        The history of its run, and of those that it continued as.
    """
    activities = case.activities()
    async with AsyncExitStack() as workers:
        for queue in {CPU_QUEUE, *activities}:
            worker = Worker(
                client,
                task_queue=queue,
                workflows=WORKFLOWS if queue == CPU_QUEUE else [],
                activities=activities.get(queue, []),
                max_heartbeat_throttle_interval=CANCELLED_WITHIN,
            )
            await workers.enter_async_context(worker)
        handle = await case.start(client)
        with suppress(WorkflowFailureError):
            await handle.result()
    runs: list[dict[str, Any]] = []
    run_id = handle.first_execution_run_id or (await first_run_id(client, handle.id))
    while run_id:
        history = await client.get_workflow_handle(handle.id, run_id=run_id).fetch_history()
        runs.append(history.to_json_dict())
        last = history.events[-1].workflow_execution_continued_as_new_event_attributes
        run_id = last.new_execution_run_id
    return runs


async def first_run_id(client: Client, workflow_id: str) -> str:
    """Of a run that was started by somebody else."""
    history = await client.get_workflow_handle(workflow_id).fetch_history()
    return history.events[0].workflow_execution_started_event_attributes.first_execution_run_id
