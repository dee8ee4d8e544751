"""Servers that PyPI packages carry: where their programs are, and the command line of Temporal's dev server."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from runtime.embedded.ports import LOOPBACK


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
