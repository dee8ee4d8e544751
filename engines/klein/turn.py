"""Taking turns at something that only one thread may use at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engines.base import OnStep, RenderStopped, ShouldStop

PATIENCE_SECONDS = 0.5
"""How often a thread that waits says so and asks whether it should go on."""

STILL_SECONDS = 60.0
"""After so long without progress of the holder, waiting threads stop reporting too: the holder may hang, and only a
missing heartbeat shows that."""


class Turn:
    """A lock whose waiting threads report as long as its holder makes progress."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moved_at = time.monotonic()

    @contextmanager
    def taken(self, stage: str, on_step: OnStep, should_stop: ShouldStop) -> Iterator[OnStep]:
        """Hold the turn.

        Args:
            stage: What the waiting is called.
            on_step: Told the stage again and again while another thread holds the turn and moves.
            should_stop: Asked as often, even if that thread does not move, and once when the turn has come.

        Yields:
            A function for the holder to call at each step: it calls ``on_step`` and counts as progress for waiting
            threads.

        Raises:
            RenderStopped: ``should_stop`` said so; the turn is not held then.
        """

        def step(name: str) -> None:
            self._moved_at = time.monotonic()
            on_step(name)

        while not self._lock.acquire(timeout=PATIENCE_SECONDS):
            if time.monotonic() - self._moved_at < STILL_SECONDS:
                on_step(stage)
            if should_stop():
                raise RenderStopped
        try:
            self._moved_at = time.monotonic()
            if should_stop():
                raise RenderStopped
            yield step
        finally:
            self._lock.release()
