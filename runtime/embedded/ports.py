"""Ports, and the servers that PyPI packages carry.

A port that the operator named is taken or refused; a default moves on when it is in use.
"""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

LOOPBACK = "127.0.0.1"

STEPS = 50
"""How far a default port may move."""


class PortInUseError(Exception):
    """A port that has to be free is not."""


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def choose_port(port: int, *, named: bool, offsets: Sequence[int] = (0,), host: str = LOOPBACK, what: str) -> int:
    """The port to use.

    Args:
        port: The wanted one.
        named: Whether the operator asked for exactly this one.
        offsets: Further ports above it that have to be free too, 0 included.
        host: Address to listen on.
        what: Who wants it, for the message.

    Raises:
        PortInUseError: The named port, or every port of the search, is in use.
    """
    candidates = [port] if named else range(port, port + STEPS * len(offsets), len(offsets))
    for candidate in candidates:
        if all(is_free(candidate + offset, host) for offset in offsets):
            return candidate
    raise PortInUseError(
        f"Port {port} for {what} is in use. Stop what listens there, or choose another port."
        if named
        else f"No free port for {what} from {port} on."
    )


def find_program(name: str) -> str:
    """A program of this environment, whether or not it is activated.

    Raises:
        FileNotFoundError: Its package is not installed.
    """
    beside_python = Path(sys.executable).parent / name
    found = str(beside_python) if beside_python.exists() else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} was not found; install the project with its dependencies")
    return found


def temporal_command(
    database: Path, *, port: int, ui_port: int | None, namespace: str, search_attributes: Iterable[str]
) -> list[str]:
    """Temporal's dev server with its UI, unless that has no port, on a SQLite file.

    The server polls its history queues 20 times a second by default, which adds 50 ms to every step of every job;
    these limits take that away. The write-ahead log doubles its throughput.

    Its HTTP API, which nobody here uses, would start and end runs for any web page in a browser on this machine: it
    takes a plain form post from anywhere. So it knows no name that a request could come under.
    """
    dynamic = [f"history.{queue}ProcessorMaxPollRPS=2000" for queue in ("transfer", "timer", "visibility")]
    dynamic += ["matching.enableFairness=true", "frontend.httpAllowedHosts=[]"]
    return [
        find_program("temporal"),
        *("server", "start-dev", "--ip", LOOPBACK, "--port", str(port)),
        *(("--ui-port", str(ui_port), "--ui-disable-news-fetch") if ui_port else ("--headless",)),
        *("--db-filename", str(database), "--namespace", namespace, "--log-level", "warn"),
        *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *(word for value in dynamic for word in ("--dynamic-config-value", value)),
        *(word for name in search_attributes for word in ("--search-attribute", f"{name}=Keyword")),
    ]
