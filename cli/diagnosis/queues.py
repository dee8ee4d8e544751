"""The task queues: who polls them, since when not, and what waits there."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from temporalio.client import Client

from cli.diagnosis.findings import Finding, Subject, counted
from gateway.queues import QUEUES, QueueState, queue_state
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
    for queue, kind in QUEUES:
        yield judged(await queue_state(client, queue, kind), datetime.now(UTC))


def judged(found: QueueState, now: datetime) -> Finding:
    """Whether somebody polls, and whether they keep up."""
    name, command = f"{found.queue}, {found.kind} tasks", f"python -m {WORKERS[found.queue]}.main"
    backlog = f"; {counted(found.waiting, 'task')} waiting" if found.waiting else ""
    if found.polled_at is None:
        judge = QUEUE.warning if found.queue in PATIENT else QUEUE.error
        return judge(f"nobody polls {name}{backlog}", f"Start a worker; its log says why it ends: {command}")
    newest = now - found.polled_at
    polled = (
        f"{name}: {counted(len(found.pollers), 'poller')}, the last one {newest.total_seconds():.0f} s ago{backlog}"
    )
    if newest > QUIET_AFTER:
        return QUEUE.warning(
            polled, f"Its workers are gone, or all of them have their hands full; start one: {command}"
        )
    if found.waiting and found.oldest_seconds > LONG_WAIT.total_seconds() and found.queue not in PATIENT:
        return QUEUE.warning(f"{polled} for {found.oldest_seconds:.0f} s", f"Start more workers: {command}")
    return QUEUE.ok(polled)
