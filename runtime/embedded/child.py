"""One process of the stack: started, asked whether it is ready, stopped in its own time.

Its log file is kept from filling the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_LOG_BYTES = 20 * 1024 * 1024
"""Of each process, and as much again of what came before: days of a busy service."""

EARLIER = ".1"
"""Ending of the one earlier file that is kept."""


def bound_log(log_file: Path, longest: int = LONGEST_LOG_BYTES) -> bool:
    """Put a log that has grown too long aside, over the one that was put aside before.

    Its writer keeps it open and goes on at the end of the file, wherever that is, so the file is copied and then
    emptied; what is written between the two is lost. A full disk takes no copy: then it is emptied all the same.

    Returns:
        Whether it was too long.
    """
    try:
        if log_file.stat().st_size <= longest:
            return False
    except OSError:
        return False
    earlier, copy = log_file.with_name(log_file.name + EARLIER), log_file.with_name(log_file.name + ".new")
    try:
        shutil.copyfile(log_file, copy)
        copy.replace(earlier)
    except OSError:
        copy.unlink(missing_ok=True)
    with log_file.open("r+b") as log:
        log.truncate(0)
    return True


PR_SET_PDEATHSIG = 1
"""Linux: the kernel sends a signal to the child when its parent dies, however it dies."""

STACK_MARK = "TRYON_CHILD_OF_STACK"
"""Environment variable of every process that a stack starts; its value is the stack's data folder."""


def marked_environment(data_dir: Path) -> dict[str, str]:
    """The environment of this process, with the mark of the stack in ``data_dir``."""
    return {**os.environ, STACK_MARK: mark_of(data_dir)}


def mark_of(data_dir: Path) -> str:
    """The mark of the stack in this folder, however the folder is named."""
    return str(data_dir.resolve())


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
        wants_restart: Asked often; whether it would do its work only when started anew.
    """

    name: str
    command: Sequence[str]
    ready: Callable[[int], Awaitable[object]]
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    stop_seconds: float = 15.0
    stops_last: bool = False
    wants_restart: Callable[[], bool] = lambda: False


def _dying_with(parent: int) -> Callable[[], None]:
    def ask_the_kernel() -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # it died before the kernel was asked
                os._exit(1)

    return ask_the_kernel


class Child:
    """A running `ChildSpec`."""

    def __init__(self, spec: ChildSpec, log_file: Path) -> None:
        self.spec = spec
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None
        self._offspring_ended = False
        self._started = 0.0

    @property
    def log_file(self) -> Path:
        return self._log_file

    @property
    def age_seconds(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._started

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        """``None`` while it runs."""
        if self._process is None or self._process.poll() is None:
            return None
        self._end_offspring(self._process.pid)
        return self._process.returncode

    def start(self) -> None:
        """Start it in a session of its own, so that Ctrl-C in the terminal reaches only the one who stops in order.

        Raises:
            OSError: There is no such program, or no memory or process to spare.
        """
        self._started = time.monotonic()
        self._log_file.parent.mkdir(parents=True, exist_ok=True)
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  # our own command lines
                self.spec.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self.spec.environment),
                start_new_session=True,
                preexec_fn=_dying_with(os.getpid()),  # noqa: PLW1509  # it touches nothing that a thread may hold
            )
        self._offspring_ended = False

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

    async def stop(self, seconds: float | None = None) -> None:
        """Ask it to end, wait for as long as it may take or for ``seconds``, then kill."""
        process = self._process
        if process is None:
            return
        if self.exit_code is None:
            process.terminate()
            try:
                await asyncio.to_thread(process.wait, self.spec.stop_seconds if seconds is None else seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                await asyncio.to_thread(process.wait)
            self._end_offspring(process.pid)

    def _end_offspring(self, group: int) -> None:
        """Kill what the process has started itself and, being dead, can no longer stop.

        Once, as soon as its end is seen: the id is free from then on, and some time later it is a stranger's.
        """
        if not self._offspring_ended:
            self._offspring_ended = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)


class ChildFailedError(Exception):
    """A process of the stack did not come up."""

    def __init__(self, name: str, reason: str, log_file: Path) -> None:
        super().__init__(f"{name}: {reason}; see {log_file}")
