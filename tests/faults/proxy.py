"""A TCP proxy between two parts, which can be cut, or go silent as a network does that loses every packet."""

from __future__ import annotations

import asyncio
from typing import Literal

State = Literal["open", "cut", "silent"]

CHUNK = 64 * 1024


class Proxy:
    """Listens on a port of its own for one pair of parts.

    ``cut`` resets connections and refuses new ones. ``silent`` keeps them and carries nothing, in either direction;
    what was sent meanwhile arrives once it is open again, as TCP has it.
    """

    def __init__(self, port: int, target: int) -> None:
        self.port, self._target = port, target
        self._state: State = "open"
        self._carries = asyncio.Event()
        self._carries.set()
        self._server: asyncio.Server | None = None
        self._open = set[asyncio.StreamWriter]()

    @property
    def connections(self) -> int:
        """How many it carries now."""
        return len(self._open) // 2

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", self.port)

    async def become(self, state: State) -> None:
        self._state = state
        if state == "silent":
            self._carries.clear()
        else:
            self._carries.set()
        if state == "cut":
            if self._server is not None:
                self._server.close()
                self._server = None
            for writer in tuple(self._open):
                writer.transport.abort()
        elif self._server is None:
            await self.start()

    async def close(self) -> None:
        await self.become("cut")

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, far_writer)
        self._open.update(pair)
        try:
            await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
        finally:
            self._open.difference_update(pair)
            for each in pair:
                each.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(CHUNK):
                await self._carries.wait()
                writer.write(data)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()
        except OSError:  # one side was killed: the other has to hear of it
            writer.transport.abort()
