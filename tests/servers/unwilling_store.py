"""An object store that takes connections, and answers as a test wants: not at all, a byte now and then, or at once."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from runtime.object_store import CONNECTIONS, S3ObjectStore
from runtime.settings import ObjectStoreSettings

LENGTH = 100


class UnwillingStore:
    """One that was stopped, to begin with."""

    def __init__(self) -> None:
        self.answer = "nothing"
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self._take(reader, head)
                while self.answer == "nothing":
                    await asyncio.sleep(0.02)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LENGTH)
                for _ in range(LENGTH):
                    writer.write(b"x")
                    await writer.drain()
                    if self.answer == "trickle":
                        await asyncio.sleep(0.1)
        writer.close()

    async def _take(self, reader: asyncio.StreamReader, head: bytes) -> None:
        """The body, if there is one; over a slow line, 5 MB a second, if that is the answer."""
        length = re.search(rb"\r\ncontent-length: (\d+)", head.lower())
        left = int(length[1]) if length else 0
        while left and self.answer == "slow line":
            left -= len(await reader.readexactly(min(left, 50_000)))
            await asyncio.sleep(0.01)
        await reader.readexactly(left)

    def client(self, **settings: float) -> S3ObjectStore:
        """One that speaks to it."""
        endpoint = f"http://127.0.0.1:{self.port}"
        return S3ObjectStore(ObjectStoreSettings(endpoint=endpoint, secret_key=SecretStr("x"), **settings))  # type: ignore[arg-type]


@asynccontextmanager
async def unwilling_store() -> AsyncIterator[UnwillingStore]:
    """Up for the length of the block."""
    store = UnwillingStore()
    server = await asyncio.start_server(store, "127.0.0.1", 0)
    store.port = server.sockets[0].getsockname()[1]
    try:
        yield store
    finally:
        store.answer = "all"  # so that nobody is left waiting
        server.close()


async def every_thread_is_free(store: S3ObjectStore) -> bool:
    """Whether all of the store's threads take work within a moment."""
    barrier = threading.Barrier(CONNECTIONS)
    meeting = [asyncio.get_running_loop().run_in_executor(store._threads, barrier.wait, 3) for _ in range(CONNECTIONS)]
    met = await asyncio.gather(*meeting, return_exceptions=True)
    return not any(isinstance(each, threading.BrokenBarrierError) for each in met)
