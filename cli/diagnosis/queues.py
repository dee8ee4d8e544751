"""The task queues: who polls them, since when not, and what waits there."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from temporalio.api.workflowservice.v1 import DescribeTaskQueueResponse
from temporalio.client import Client

from cli.diagnosis.findings import Finding, Subject, counted
from workflows.queue_state import QUEUES, describe_queue
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE

QUEUE = Subject("queues")

QUIET_AFTER = timedelta(seconds=75)
"""A poll is held for a minute. Temporal forgets a poller five minutes after its last one."""

LONG_WAIT = timedelta(minutes=1)
"""A task that waits for longer says that there are too few workers."""

WORKERS = {CPU_QUEUE: "worker_cpu", GPU_QUEUE: "worker_gpu", GPU_BULK_QUEUE: "worker_gpu"}
"""The process that should poll a queue."""

PATIENT = {GPU_BULK_QUEUE}
"""Queues where tasks may wait for hours and no customer does."""


async def look(client: Client) -> AsyncGenerator[Finding, None]:
    """One finding for each queue and kind of task."""
    for (queue, kind), number in QUEUES.items():
        description = await describe_queue(client, queue, number)
        yield judged(queue, kind, description, datetime.now(UTC))


def judged(queue: str, kind: str, found: DescribeTaskQueueResponse, now: datetime) -> Finding:
    """Whether somebody polls, and whether they keep up."""
    name, command = f"{queue}, {kind} tasks", f"python -m {WORKERS[queue]}.main"
    waiting = found.stats.approximate_backlog_count
    backlog = f"; {counted(waiting, 'task')} waiting" if waiting else ""
    if not found.pollers:
        judge = QUEUE.warning if queue in PATIENT else QUEUE.error
        return judge(f"nobody polls {name}{backlog}", f"Start a worker; its log says why it ends: {command}")
    newest = min(now - poller.last_access_time.ToDatetime(UTC) for poller in found.pollers)
    polled = (
        f"{name}: {counted(len(found.pollers), 'poller')}, the last one {newest.total_seconds():.0f} s ago{backlog}"
    )
    if newest > QUIET_AFTER:
        return QUEUE.warning(
            polled, f"Its workers are gone, or all of them have their hands full; start one: {command}"
        )
    age = found.stats.approximate_backlog_age.ToTimedelta()
    if waiting and age > LONG_WAIT and queue not in PATIENT:
        return QUEUE.warning(f"{polled} for {age.total_seconds():.0f} s", f"Start more workers: {command}")
    return QUEUE.ok(polled)
