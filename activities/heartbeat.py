"""Heartbeats of steps that wait for others: downloads and work in threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio import activity

INTERVAL_SECONDS = 2.0


@asynccontextmanager
async def heartbeats() -> AsyncIterator[None]:
    """Send a heartbeat every two seconds for as long as the block runs and the event loop turns."""

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(INTERVAL_SECONDS)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
