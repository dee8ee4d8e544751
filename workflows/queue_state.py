"""What the server says of the task queues: who polls them, and what waits there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse
from temporalio.client import Client

from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE

QUEUES = {
    (CPU_QUEUE, "workflow"): TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    (CPU_QUEUE, "activity"): TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    (GPU_QUEUE, "activity"): TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    (GPU_BULK_QUEUE, "activity"): TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
}
"""Queue and kind of task, and the same kind for Temporal: all that have to be polled."""


@dataclass(frozen=True)
class QueueState:
    """One queue and kind of task.

    Attributes:
        pollers: Workers that asked for a task within the last minutes.
        polled_at: When the last of them did.
        waiting: Tasks that nobody has taken yet, roughly.
        oldest_seconds: How long the oldest of them has waited, roughly.
    """

    queue: str
    kind: str
    pollers: int
    polled_at: datetime | None
    waiting: int
    oldest_seconds: float


async def describe_queue(client: Client, queue: str, kind: TaskQueueType.ValueType) -> DescribeTaskQueueResponse:
    """Ask the server.

    Raises:
        temporalio.service.RPCError: Temporal cannot be reached.
    """
    request = DescribeTaskQueueRequest(
        namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind, report_stats=True
    )
    return await client.workflow_service.describe_task_queue(request)


async def queue_state(client: Client, queue: str, kind: str) -> QueueState:
    """How one of `QUEUES` stands; raises as `describe_queue`."""
    found = await describe_queue(client, queue, QUEUES[queue, kind])
    times = [poller.last_access_time.ToDatetime(UTC) for poller in found.pollers]
    return QueueState(
        queue=queue,
        kind=kind,
        pollers=len(times),
        polled_at=max(times, default=None),
        waiting=found.stats.approximate_backlog_count,
        oldest_seconds=found.stats.approximate_backlog_age.ToTimedelta().total_seconds(),
    )
