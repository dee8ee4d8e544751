"""Keeps the children of a stack running until told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import structlog

from runtime.embedded.child import Child, ChildFailedError, ChildSpec
from runtime.embedded.record import ProcessIdentity

WATCH_SECONDS = 0.5
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0
"""Before a child that ended is started again; doubled every time."""

log = structlog.get_logger(__name__)


class Supervisor:
    """Starts children, starts them again when they end, and stops them in order."""

    def __init__(self, log_folder: Path, on_change: Callable[[dict[str, ProcessIdentity]], None]) -> None:
        """Prepare an empty stack.

        Args:
            log_folder: Where each child's output goes, one file a child.
            on_change: Called with the children whenever one was started.
        """
        self._log_folder = log_folder
        self._on_change = on_change
        self._children: list[Child] = []

    def start(self, spec: ChildSpec) -> Child:
        """Start a child; does not wait for it."""
        child = Child(spec, self._log_folder / f"{spec.name}.log")
        child.start()
        self._children.append(child)
        self._report()
        return child

    async def watch(self, stop: asyncio.Event) -> None:
        """Start children again that end by themselves, until ``stop`` is set."""
        pauses: dict[str, float] = {}
        while not stop.is_set():
            for child in self._children:
                if child.exit_code is not None:
                    await self._restart(child, pauses, stop)
            await _pause(stop, WATCH_SECONDS)

    async def stop(self) -> None:
        """Stop every child, those that others need last."""
        for stops_last in (False, True):
            wave = [child for child in self._children if child.spec.stops_last == stops_last]
            await asyncio.gather(*(child.stop() for child in wave))

    async def _restart(self, child: Child, pauses: dict[str, float], stop: asyncio.Event) -> None:
        name = child.spec.name
        pause = pauses.get(name, FIRST_PAUSE_SECONDS)
        pauses[name] = min(2 * pause, LONGEST_PAUSE_SECONDS)
        log.warning("process ended, starting it again", name=name, exit_code=child.exit_code, in_seconds=pause)
        await _pause(stop, pause)
        if stop.is_set():
            return
        child.start()
        self._report()
        try:
            await child.wait_ready(LONGEST_PAUSE_SECONDS)
        except ChildFailedError as error:
            log.warning("process is not ready", reason=str(error))
        else:
            pauses.pop(name)

    def _report(self) -> None:
        self._on_change(
            {
                child.spec.name: ProcessIdentity.of(child.pid)
                for child in self._children
                if child.pid is not None and child.exit_code is None
            }
        )


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
