"""Things that stand in front of the API, each with one habit."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
CHUNK = 65_536


@asynccontextmanager
async def listening(handle: Handle, certificate: tuple[Path, Path] | None = None) -> AsyncIterator[str]:
    """Yields the address of a server that deals with each connection so."""

    under_way: set[asyncio.Task[None]] = set()

    async def deal(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, EOFError):
                await handle(reader, writer)
        finally:
            writer.close()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way.add(asyncio.create_task(deal(reader, writer)))

    tls = None
    if certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*certificate)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        server.close()
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def answer(writer: asyncio.StreamWriter, line: str, body: bytes = b"") -> None:
    writer.write(f"HTTP/1.1 {line}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    await writer.drain()


def passing_to(url: str, *, longest: int | None = None, collects: bool = False, patience: float = 60) -> Handle:
    """A proxy.

    Args:
        url: Where it passes everything to.
        longest: Bodies that are announced as larger get 413.
        collects: It gives the permission to send a body itself, and passes it on when it has all of it.
        patience: Seconds that it waits for the beginning of an answer before it says 504.
    """

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        length = int(fields.get(b"content-length", 0))
        if longest is not None and length > longest:
            await answer(writer, "413 Request Entity Too Large")
            return
        body = b""
        if collects and length:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = await reader.readexactly(length)
            head = head.replace(b"Expect: 100-continue\r\n", b"")
        address = urlsplit(url)
        there, onwards = await asyncio.open_connection(address.hostname, address.port)
        onwards.write(head.replace(b"Connection: keep-alive", b"Connection: close") + body)
        sending = asyncio.create_task(_pump(reader, onwards))
        try:
            first = await asyncio.wait_for(there.read(CHUNK), patience)
            writer.write(first)
            await _pump(there, writer)
        except TimeoutError:
            await answer(writer, "504 Gateway Timeout")
        finally:
            sending.cancel()
            onwards.close()

    return handle


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()


async def closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reads a little and hangs up."""
    await reader.read(1000)


async def another_site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers everything with a page of its own."""
    await reader.read(CHUNK)
    await answer(writer, "200 OK", b"<h1>Welcome</h1>")
