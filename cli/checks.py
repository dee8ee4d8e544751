"""Whether each part of a stack does its work: what ``up`` waits for and ``status`` reports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeTaskQueueRequest

from runtime.embedded.store import check_weed
from runtime.object_store import S3ObjectStore
from runtime.settings import Settings
from runtime.temporal import connect_temporal
from workflows.queues import CPU_QUEUE, GPU_QUEUE

PROBE_SECONDS = 2.0
PROBE_KEY = "probe"

Check = Callable[[int], Awaitable[object]]


def check_temporal(settings: Settings) -> Check:
    """The frontend answers and has the namespace."""

    async def check(_pid: int) -> None:
        client = await connect_temporal(settings.temporal)
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=settings.temporal.namespace)
        )

    return check


def check_object_store(settings: Settings, data_dir: Path) -> Check:
    """The store has room, answers no stranger, takes our key, has, or makes, the bucket, and keeps an object.

    The first object of a new bucket takes a second, while the store makes room for it; better now than in the first
    customer's request.
    """
    store = S3ObjectStore(settings.object_store)
    s3_port = int(settings.object_store.endpoint.rpartition(":")[2])

    async def check(_pid: int) -> None:
        await check_weed(data_dir, s3_port)
        await store.ensure_bucket()
        await store.put(PROBE_KEY, b"probe", "application/octet-stream")
        await store.delete_prefix(PROBE_KEY)

    return check


def check_api(settings: Settings) -> Check:
    """The API says that it is ready."""

    async def check(_pid: int) -> None:
        async with httpx.AsyncClient(timeout=PROBE_SECONDS, trust_env=False) as client:
            answer = await client.get(f"http://{settings.api.host}:{settings.api.port}/readyz")
        answer.raise_for_status()

    return check


def check_worker(settings: Settings, queue: str) -> Check:
    """This very process polls the queue: the identity of a poller begins with its process id."""

    async def check(pid: int) -> None:
        client = await connect_temporal(settings.temporal)
        description = await client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=settings.temporal.namespace,
                task_queue=TaskQueue(name=queue),
                task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
            )
        )
        if not any(poller.identity.startswith(f"{pid}@") for poller in description.pollers):
            raise NotPollingError(queue)

    return check


class NotPollingError(Exception):
    """The worker is not polling its queue yet."""


def all_checks(settings: Settings, data_dir: Path) -> dict[str, Check]:
    """Every part of the embedded stack by name, in the order in which they start."""
    return {
        "temporal": check_temporal(settings),
        "object-store": check_object_store(settings, data_dir),
        "api": check_api(settings),
        "worker-cpu": check_worker(settings, CPU_QUEUE),
        "worker-gpu": check_worker(settings, GPU_QUEUE),
    }
