"""The processes of a stack: started, checked for readiness, restarted when they end, and stopped in order.

Their log files are kept from filling the disk.
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
from functools import partial
from pathlib import Path

import structlog

from runtime.embedded.record import UP_LOG, Endings, ProcessIdentity
from runtime.process import unless_stopped

log = structlog.get_logger(__name__)

LONGEST_LOG_BYTES = 20 * 1024 * 1024  # of each process, and as much again of what came before: days of a busy service
EARLIER = ".1"  # ending of the one earlier file that is kept


def bound_log(log_file: Path, longest: int = LONGEST_LOG_BYTES) -> bool:
    """Rotate a log that has grown too long; one earlier file is kept.

    Its writer keeps it open and appends, so the file is copied and then truncated; lines written between the two are
    lost. If the disk is too full for a copy, it is truncated anyway.

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


PR_SET_PDEATHSIG = 1  # Linux: the kernel sends a signal to the child when its parent dies, however it dies


@dataclass(frozen=True)
class ChildSpec:
    """A process to run.

    Attributes:
        name: Name of the process and of its log file.
        command: Program and arguments.
        ready: Takes the process id; returns if the process does its work, else raises.
        environment: Its whole environment.
        stop_seconds: How long it may take to drain before it is killed.
        stops_last: Whether others need it while they drain.
        wants_restart: Called often; whether the process needs a restart to do its work.
    """

    name: str
    command: Sequence[str]
    ready: Callable[[int], Awaitable[object]]
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    stop_seconds: float = 15.0
    stops_last: bool = False
    wants_restart: Callable[[], bool] = lambda: False


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before the kernel was asked
            os._exit(1)


class Child:
    """A running `ChildSpec`."""

    def __init__(self, spec: ChildSpec, log_file: Path) -> None:
        self.spec = spec
        self.log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None
        self._offspring_ended = False
        self._started = 0.0

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
        """Start it in its own session, so that Ctrl-C in the terminal reaches only the supervisor.

        Raises:
            OSError: There is no such program, or no memory or process to spare.
        """
        self._started = time.monotonic()
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  # our own command lines
                self.spec.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(self.spec.environment),
                start_new_session=True,
                preexec_fn=partial(_die_with, os.getpid()),  # noqa: PLW1509  # it touches nothing that a thread may hold
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
                raise ChildFailedError(self.spec.name, f"ended with exit code {self.exit_code}", self.log_file)
            try:
                await self.spec.ready(self.pid or 0)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is not ready
                reason = f"{type(error).__name__}: {error}"
                await asyncio.sleep(0.05)
            else:
                return
        raise ChildFailedError(self.spec.name, f"not ready after {seconds:.0f} s ({reason[:200]})", self.log_file)

    async def stop(self, seconds: float | None = None) -> None:
        """Terminate it, wait for ``seconds`` or as long as its spec allows, then kill."""
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
        """Kill the children of the process, once, as soon as its end is seen.

        From then on the id of its group may be used again.
        """
        if not self._offspring_ended:
            self._offspring_ended = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)


class ChildFailedError(Exception):
    """A process of the stack did not come up."""

    def __init__(self, name: str, reason: str, log_file: Path) -> None:
        super().__init__(f"{name}: {reason}; see {log_file}")


WATCH_SECONDS = 0.5
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0  # before a child that ended is started again; doubled every time
STEADY_SECONDS = 30.0  # a child that ran for so long is started again at once; only one that keeps ending is paused
RESTART_SECONDS = 3.0
"""How long a child that needs a restart may take to stop. SeaweedFS never stops once its disk was full: it waits to
write a log of its own into the volumes that it closed."""

LOG_SECONDS = 10.0  # how often the length of the logs is looked at

OnChange = Callable[[dict[str, ProcessIdentity], dict[str, Endings]], None]


class Supervisor:
    """Starts children, starts them again when they end, and stops them in order."""

    def __init__(
        self,
        log_folder: Path,
        on_change: OnChange,
        *,
        first_pause_seconds: float = FIRST_PAUSE_SECONDS,
        longest_log_bytes: int = LONGEST_LOG_BYTES,
    ) -> None:
        """Prepare an empty stack.

        When a child was started or has ended by itself, ``on_change`` gets the running ones and how the others ended.
        """
        self._log_folder = log_folder
        self._on_change = on_change
        self._first_pause = first_pause_seconds
        self._longest_log = longest_log_bytes
        self._children: list[Child] = []
        self._endings: dict[str, Endings] = {}

    def start(self, spec: ChildSpec) -> Child:
        """Start a child; does not wait for it."""
        child = Child(spec, self._log_folder / f"{spec.name}.log")
        child.start()
        self._children.append(child)
        self._report()
        return child

    async def watch(self, stop: asyncio.Event) -> None:
        """Restart children that end by themselves, each with its own pauses, until ``stop`` is set."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._bound_logs(stop))
            for child in self._children:
                group.create_task(self._keep(child, stop))

    async def stop(self) -> None:
        """Stop every child, those that others need last."""
        for stops_last in (False, True):
            wave = [child for child in self._children if child.spec.stops_last == stops_last]
            await asyncio.gather(*(child.stop() for child in wave))

    async def _keep(self, child: Child, stop: asyncio.Event) -> None:
        pause = self._first_pause
        while not stop.is_set():
            if child.exit_code is None and _wants_restart(child):
                log.warning("starting process anew", name=child.spec.name)
                await child.stop(RESTART_SECONDS)
                await self._start_again(child, stop)
                continue
            if child.exit_code is None:
                await unless_stopped(stop, asyncio.sleep(WATCH_SECONDS))
                continue
            if child.age_seconds >= STEADY_SECONDS:
                pause = 0.0
            before = self._endings.get(child.spec.name, Endings(0, 0))
            self._endings[child.spec.name] = Endings(before.count + 1, child.exit_code)
            self._report()
            log.warning(
                "process ended, starting it again", name=child.spec.name, exit_code=child.exit_code, in_seconds=pause
            )
            await unless_stopped(stop, asyncio.sleep(pause))
            if not stop.is_set():
                pause = min(max(2 * pause, self._first_pause), LONGEST_PAUSE_SECONDS)
                await self._start_again(child, stop)

    async def _start_again(self, child: Child, stop: asyncio.Event) -> None:
        try:
            child.start()
        except OSError as error:
            log.warning("process cannot be started", name=child.spec.name, reason=str(error))
            return
        self._report()
        try:
            await unless_stopped(stop, child.wait_ready(LONGEST_PAUSE_SECONDS))
        except ChildFailedError as error:
            log.warning("process is not ready", reason=str(error))

    async def _bound_logs(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            for log_file in [self._log_folder / UP_LOG, *(child.log_file for child in self._children)]:
                try:
                    bound_log(log_file, self._longest_log)
                except OSError as error:
                    log.warning("a log cannot be bounded", file=str(log_file), reason=str(error))
            await unless_stopped(stop, asyncio.sleep(LOG_SECONDS))

    def _report(self) -> None:
        running = {
            child.spec.name: ProcessIdentity.of(child.pid)
            for child in self._children
            if child.pid is not None and child.exit_code is None
        }
        try:
            self._on_change(running, dict(self._endings))
        except OSError as error:
            # A full disk must not end the watch: the record is only for people and for the next supervisor.
            log.warning("the record of the stack cannot be written", reason=str(error))


def _wants_restart(child: Child) -> bool:
    try:
        return child.spec.wants_restart()
    except OSError as error:
        log.warning("it cannot be told whether a process does its work", name=child.spec.name, reason=str(error))
        return False
