"""The checks that tell whether each part of the embedded stack does its work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

from gateway.queues import queue_state
from gateway.temporal import TemporalGateway
from runtime.embedded.servers import check_weed
from runtime.object_store import S3ObjectStore
from runtime.settings import Settings
from workflows.queues import CPU_QUEUE, GPU_QUEUE

PROBE_SECONDS = 2.0

PROBE_KEY = "probe"

Check = Callable[[int], Awaitable[object]]  # takes the process id of a part; raises while the part does not do its work


class NotPollingError(Exception):
    """The worker is not polling its queue yet."""


def all_checks(settings: Settings, data_dir: Path) -> dict[str, Check]:
    """For every part of the embedded stack by name, in the order in which they start."""

    async def temporal(_pid: int) -> None:
        """The frontend answers and has the namespace."""
        await (await TemporalGateway.connect(settings.temporal)).check_namespace()

    store = S3ObjectStore(settings.object_store)

    async def object_store(_pid: int) -> None:
        """It has room, refuses requests without our key, has or makes the bucket, and keeps an object.

        The store takes a second to write the first object of a new bucket: better now than in the first customer's
        request.
        """
        await check_weed(data_dir, int(settings.object_store.endpoint.rpartition(":")[2]))
        await store.ensure_bucket()
        await store.put(PROBE_KEY, b"probe", "application/octet-stream")
        await store.delete_prefix(PROBE_KEY)

    async def api(_pid: int) -> None:
        """It says that it is ready."""
        async with httpx.AsyncClient(timeout=PROBE_SECONDS, trust_env=False) as client:
            answer = await client.get(f"http://{settings.api.host}:{settings.api.port}/readyz")
        answer.raise_for_status()

    return {
        "temporal": temporal,
        "object-store": object_store,
        "api": api,
        "worker-cpu": check_worker(settings, CPU_QUEUE),
        "worker-gpu": check_worker(settings, GPU_QUEUE),
    }


def check_worker(settings: Settings, queue: str) -> Check:
    """Checks that this process polls the queue: the identity of a poller begins with its process id."""

    async def check(pid: int) -> None:
        temporal = await TemporalGateway.connect(settings.temporal)
        state = await queue_state(temporal.client, queue, "activity")
        if not any(identity.startswith(f"{pid}@") for identity in state.pollers):
            raise NotPollingError(queue)

    return check
