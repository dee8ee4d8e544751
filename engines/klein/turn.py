"""Taking turns at something that only one thread may use at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from engines.base import OnStep, RenderStopped, ShouldStop

PATIENCE_SECONDS = 0.5
"""How often a thread that waits says so and asks whether it should go on."""


class Turn:
    """A lock whose waiters go on giving signs of life."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def taken(self, stage: str, on_step: OnStep, should_stop: ShouldStop) -> Iterator[None]:
        """Hold the turn.

        Args:
            stage: What the waiting is called.
            on_step: Told the stage again and again while another thread holds the turn.
            should_stop: Asked as often, and once when the turn has come.

        Raises:
            RenderStopped: ``should_stop`` said so; the turn is not held then.
        """
        while not self._lock.acquire(timeout=PATIENCE_SECONDS):
            on_step(stage)
            if should_stop():
                raise RenderStopped
        try:
            if should_stop():
                raise RenderStopped
            yield
        finally:
            self._lock.release()
