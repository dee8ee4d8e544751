from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_network

import pytest

from imaging.dialling import Dialler


async def test_a_name_is_looked_up_without_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """libc holds the thread that asks a silent name server, whoever stopped waiting, and there are few."""

    def in_a_thread(*_args: object) -> None:
        raise AssertionError

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        writer.close()
        await writer.wait_closed()

    monkeypatch.setattr(socket, "getaddrinfo", in_a_thread)
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    dialler = Dialler([ip_network("127.0.0.0/8"), ip_network("::1/128")])
    session = dialler.open_session(headers={}, connect_timeout_s=5, read_timeout_s=5)
    async with server, session, session.get(f"http://localhost:{port}/") as response:
        assert await response.text() == "hi"
