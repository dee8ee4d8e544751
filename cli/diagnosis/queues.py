"""The task queues: who polls them, since when not, and what waits there."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse
from temporalio.client import Client

from cli.diagnosis.findings import Finding, Subject, counted
from runtime.settings import TemporalSettings
from workflows.queues import CPU_QUEUE, GPU_QUEUE

QUEUE = Subject("queues")

QUIET_AFTER = timedelta(seconds=75)
"""A poll is held for a minute. Temporal forgets a poller five minutes after its last one."""

LONG_WAIT = timedelta(minutes=1)
"""A task that waits for longer says that there are too few workers."""

POLLED = (
    (CPU_QUEUE, "workflow", TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, "worker_cpu"),
    (CPU_QUEUE, "activity", TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY, "worker_cpu"),
    (GPU_QUEUE, "activity", TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY, "worker_gpu"),
)
"""Queue, kind of task, the same for Temporal, and the process that should poll it."""


async def look(client: Client, settings: TemporalSettings) -> AsyncGenerator[Finding, None]:
    """One finding for each queue and kind of task."""
    for queue, kind, kind_number, worker in POLLED:
        description = await client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=settings.namespace,
                task_queue=TaskQueue(name=queue),
                task_queue_type=kind_number,
                report_stats=True,
            )
        )
        yield judged(f"{queue}, {kind} tasks", f"python -m {worker}.main", description, datetime.now(UTC))


def judged(name: str, command: str, found: DescribeTaskQueueResponse, now: datetime) -> Finding:
    """Whether somebody polls, and whether they keep up."""
    waiting = found.stats.approximate_backlog_count
    backlog = f"; {counted(waiting, 'task')} waiting" if waiting else ""
    if not found.pollers:
        return QUEUE.error(f"nobody polls {name}{backlog}", f"Start a worker; its log says why it ends: {command}")
    newest = min(now - poller.last_access_time.ToDatetime(UTC) for poller in found.pollers)
    polled = (
        f"{name}: {counted(len(found.pollers), 'poller')}, the last one {newest.total_seconds():.0f} s ago{backlog}"
    )
    if newest > QUIET_AFTER:
        return QUEUE.warning(
            polled, f"Its workers are gone, or all of them have their hands full; start one: {command}"
        )
    age = found.stats.approximate_backlog_age.ToTimedelta()
    if waiting and age > LONG_WAIT:
        return QUEUE.warning(f"{polled} for {age.total_seconds():.0f} s", f"Start more workers: {command}")
    return QUEUE.ok(polled)
