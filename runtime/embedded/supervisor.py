"""Keeps the children of a stack running until told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path

import structlog

from runtime.embedded.child import LONGEST_LOG_BYTES, Child, ChildFailedError, ChildSpec, bound_log
from runtime.embedded.record import Endings, ProcessIdentity

WATCH_SECONDS = 0.5
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0
"""Before a child that ended is started again; doubled every time."""

STEADY_SECONDS = 30.0
"""A child that lived this long is well: when it ends, its first pause is the shortest again."""

RESTART_SECONDS = 3.0
"""For a child that does not do its work to end by itself. SeaweedFS never does once its disk was full: it waits to
write a log of its own into the volumes that it closed."""

LOG_SECONDS = 10.0
"""How often the length of the logs is looked at."""

UP_LOG = "up.log"
"""What a supervisor without a terminal says."""

OnChange = Callable[[dict[str, ProcessIdentity], dict[str, Endings]], None]

log = structlog.get_logger(__name__)


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

        Args:
            log_folder: Where each child's output goes, one file a child.
            on_change: Called whenever a child was started or has ended by itself, with those that run and with how
                often each has ended.
            first_pause_seconds: Before a child that ended is started again for the first time.
            longest_log_bytes: A log that is longer is put aside.
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
        """Start children again that end by themselves, each in its own time, until ``stop`` is set."""
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
                await _unless(stop, asyncio.sleep(WATCH_SECONDS))
                continue
            if child.age_seconds >= STEADY_SECONDS:
                pause = self._first_pause
            self._note_ending(child.spec.name, child.exit_code)
            log.warning(
                "process ended, starting it again", name=child.spec.name, exit_code=child.exit_code, in_seconds=pause
            )
            await _unless(stop, asyncio.sleep(pause))
            if not stop.is_set():
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                await self._start_again(child, stop)

    async def _start_again(self, child: Child, stop: asyncio.Event) -> None:
        try:
            child.start()
        except OSError as error:
            log.warning("process cannot be started", name=child.spec.name, reason=str(error))
            return
        self._report()
        try:
            await _unless(stop, child.wait_ready(LONGEST_PAUSE_SECONDS))
        except ChildFailedError as error:
            log.warning("process is not ready", reason=str(error))

    async def _bound_logs(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            for log_file in [self._log_folder / UP_LOG, *(child.log_file for child in self._children)]:
                try:
                    bound_log(log_file, self._longest_log)
                except OSError as error:
                    log.warning("a log cannot be bounded", file=str(log_file), reason=str(error))
            await _unless(stop, asyncio.sleep(LOG_SECONDS))

    def _note_ending(self, name: str, exit_code: int) -> None:
        before = self._endings.get(name, Endings(0, 0))
        self._endings[name] = Endings(before.count + 1, exit_code)
        self._report()

    def _report(self) -> None:
        running = {
            child.spec.name: ProcessIdentity.of(child.pid)
            for child in self._children
            if child.pid is not None and child.exit_code is None
        }
        try:
            self._on_change(running, dict(self._endings))
        except OSError as error:
            # A full disk must not end the watch: the record is for people and for a supervisor that comes after.
            log.warning("the record of the stack cannot be written", reason=str(error))


def _wants_restart(child: Child) -> bool:
    try:
        return child.spec.wants_restart()
    except OSError as error:
        log.warning("it cannot be told whether a process does its work", name=child.spec.name, reason=str(error))
        return False


async def _unless(stop: asyncio.Event, work: Coroutine[object, object, None]) -> None:
    """Do ``work`` to its end, or until ``stop`` is set."""
    working, stopping = asyncio.ensure_future(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        working.cancel()
        stopping.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
