"""The API as a process of its own, with nothing behind it: what is refused before a request is one needs no part."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.servers.processes import free_port, running

START_SECONDS = 60


@dataclass(frozen=True)
class ApiProcess:
    """Where it listens, and how large it is."""

    port: int
    process: psutil.Process

    @property
    def resident(self) -> int:
        """Bytes of memory that it has."""
        size: int = self.process.memory_info().rss
        return size

    def connect(self, come_from: str = "127.0.0.1") -> socket.socket:
        """A connection, as from another machine where ``come_from`` says so."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30, source_address=(come_from, 0))


@contextmanager
def running_api(folder: Path, **variables: str) -> Iterator[ApiProcess]:
    """Yields the process once it answers.

    Args:
        folder: For its database and its log.
        variables: Of its environment.
    """
    port = free_port()
    own = {
        "TRYON_DATA_DIR": str(folder),
        "TRYON_DATABASE_URL": f"sqlite:///{folder}/tryon.db",
        "TRYON_KEY_PEPPER": "a pepper for a process that knows no keys",
        "TRYON_S3_SECRET_KEY": "of a store that is not there",
        "TRYON_S3_ENDPOINT": "http://127.0.0.1:1",
        "TRYON_API_PORT": str(port),
        **variables,
    }
    with running([sys.executable, "-m", "api.main"], folder / "api.log", **own) as process:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "api.log").read_text()
                assert time.monotonic() < until
                time.sleep(0.05)
        yield ApiProcess(port, psutil.Process(process.pid))
