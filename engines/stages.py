"""The stages of one render: announced, timed, and stoppable between one another."""

from __future__ import annotations

import time

from engines.base import OnStep, RenderStopped, ShouldStop


class Stages:
    """Keeps the time of each stage.

    Args:
        on_step: Told the name of each stage as it begins, and of what happens within one.
        should_stop: Asked before each stage.
    """

    def __init__(self, on_step: OnStep, should_stop: ShouldStop) -> None:
        self.on_step, self.should_stop = on_step, should_stop
        self._timings: dict[str, float] = {}
        self._current: str | None = None
        self._since = 0.0

    def begin(self, name: str) -> None:
        """End the current stage and begin the next; a name used twice adds up.

        Raises:
            RenderStopped: ``should_stop`` said so.
        """
        self._end_current()
        if self.should_stop():
            raise RenderStopped
        self.on_step(name)
        self._current, self._since = name, time.perf_counter()

    def timings_ms(self) -> dict[str, int]:
        """End the current stage and return whole milliseconds per stage, in the order of their first begin."""
        self._end_current()
        return {name: round(1000 * seconds) for name, seconds in self._timings.items()}

    def _end_current(self) -> None:
        if self._current is not None:
            elapsed = time.perf_counter() - self._since
            self._timings[self._current] = self._timings.get(self._current, 0.0) + elapsed
        self._current = None
