"""Several workers as one context."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from temporalio.worker import Worker


@asynccontextmanager
async def all_running(workers: Iterable[Worker]) -> AsyncIterator[None]:
    """Every worker polls for the length of the block."""
    async with AsyncExitStack() as running:
        for worker in workers:
            await running.enter_async_context(worker)
        yield
