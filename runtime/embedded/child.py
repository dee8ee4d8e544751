"""One process of the stack: started with its own log file, asked whether it is ready, stopped in its own time."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1
"""Linux: the kernel sends a signal to the child when its parent dies, however it dies."""


@dataclass(frozen=True)
class ChildSpec:
    """What to run.

    Attributes:
        name: Name of the process and of its log file.
        command: Program and arguments.
        ready: Takes the process id; returns once the process does its work, raises while it does not.
        environment: Its whole environment.
        stop_seconds: How long it may take to drain before it is killed.
        stops_last: Others need it while they drain.
    """

    name: str
    command: Sequence[str]
    ready: Callable[[int], Awaitable[object]]
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    stop_seconds: float = 15.0
    stops_last: bool = False


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Child:
    """A running `ChildSpec`."""

    def __init__(self, spec: ChildSpec, log_file: Path) -> None:
        self.spec = spec
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        """``None`` while it runs."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Start it in a session of its own, so that Ctrl-C in the terminal reaches only the one who stops in order."""
        self._log_file.parent.mkdir(parents=True, exist_ok=True)
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  # our own command lines
                self.spec.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self.spec.environment),
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509  # a single-threaded parent
            )

    async def wait_ready(self, seconds: float) -> None:
        """Ask until it is ready.

        Raises:
            ChildFailedError: It ended, or was not ready in time.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        reason = ""
        while asyncio.get_running_loop().time() < deadline:
            if self.exit_code is not None:
                raise ChildFailedError(self.spec.name, f"ended with exit code {self.exit_code}", self._log_file)
            try:
                await self.spec.ready(self.pid or 0)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is not ready
                reason = f"{type(error).__name__}: {error}"
                await asyncio.sleep(0.05)
            else:
                return
        raise ChildFailedError(self.spec.name, f"not ready after {seconds:.0f} s ({reason[:200]})", self._log_file)

    async def stop(self) -> None:
        """Ask it to end, wait, then kill."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, self.spec.stop_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)


class ChildFailedError(Exception):
    """A process of the stack did not come up."""

    def __init__(self, name: str, reason: str, log_file: Path) -> None:
        super().__init__(f"{name}: {reason}; see {log_file}")
