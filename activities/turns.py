"""Who may use the device next: what somebody waits for goes first, and a backfill's work in between."""

from __future__ import annotations

import asyncio
from collections import deque


class Turns:
    """A number of places, given to those who wait.

    Urgent work goes before patient work, each in the order of asking. Work that is under way is not interrupted, so
    whoever gives a place back may say that more urgent work follows at once: patient work then stands back a moment
    longer, rather than taking the place between two steps of the same job.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._patient: deque[asyncio.Future[None]] = deque()
        self._held_until = 0.0

    async def take(self, *, urgent: bool) -> None:
        """Wait for a place."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._patient).append(turn)
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given in the very moment
                self.give_back()
            raise

    def give_back(self, *, hold_seconds: float = 0.0) -> None:
        """Leave the place to the next.

        Args:
            hold_seconds: How long patient work stands back for urgent work that follows.
        """
        self._free += 1
        if hold_seconds:
            loop = asyncio.get_running_loop()
            self._held_until = loop.time() + hold_seconds
            loop.call_at(self._held_until, self._hand_out)
        self._hand_out()

    def _hand_out(self) -> None:
        while self._free > 0:
            turn = self._next()
            if turn is None:
                return
            self._free -= 1
            turn.set_result(None)

    def _next(self) -> asyncio.Future[None] | None:
        for waiting in (self._urgent, self._patient):
            if waiting is self._patient and asyncio.get_running_loop().time() < self._held_until:
                return None
            while waiting:
                turn = waiting.popleft()
                if not turn.done():
                    if waiting is self._urgent:
                        self._held_until = 0.0  # what was waited for has come
                    return turn
        return None
