"""Which items of a backfill are in flight, and whether another may be: bookkeeping alone, without Temporal."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

from workflows.backfills.contracts import BackfillProgress

ITEMS_A_RUN = 200  # about 21 events each: well below the ten thousand at which Temporal warns

ENOUGH_FOR_A_RATE = 20

FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(minutes=5)
"""Before an item is offered again that was refused for want of generations; doubled every time."""


class Window:
    """The items in flight: never more than the concurrency, and one alone after a wait.

    Attributes:
        progress: How far the backfill is; the part that the next run has to know.
        in_flight: Numbers of the items that were taken up and have not ended.
        reason: Why nothing is taken up: a code of the error catalogue; none while the items go on.
        wait_for: How long, before that is tried again; none while it is being tried.
    """

    def __init__(self, progress: BackfillProgress, now: datetime) -> None:
        self.progress = progress
        self.in_flight: set[int] = set()
        self.reason: str | None = None
        self.wait_for: timedelta | None = None
        self._wait = FIRST_WAIT
        self._taken_up = 0
        self._began = now
        self._ended_before = progress.ended

    @property
    def left(self) -> bool:
        """Whether there are items to take up."""
        return bool(self.progress.pending) or self.progress.next_number < self.progress.total

    @property
    def full(self) -> bool:
        """Whether this run has taken up what one run should."""
        return self._taken_up >= ITEMS_A_RUN

    @property
    def has_room(self) -> bool:
        """Whether an item may be taken up now."""
        size = 1 if self.reason is not None else self.progress.concurrency
        held = self.progress.paused or self.wait_for is not None
        return self.left and not held and len(self.in_flight) < size

    @property
    def idle(self) -> bool:
        """Whether nothing happens until somebody, or time, lets the items go on."""
        return not self.in_flight and (self.progress.paused or self.wait_for is not None)

    def take_up(self) -> int:
        """The next item; it is in flight from now on."""
        if self.progress.pending:
            number, *others = self.progress.pending
            self.advance(pending=others)
        else:
            number = self.progress.next_number
            self.advance(next_number=number + 1)
        self._taken_up += 1
        self.in_flight.add(number)
        return number

    def accepted(self) -> None:
        """An item was accepted: whatever was waited for has come."""
        self.reason, self._wait = None, FIRST_WAIT

    def end(self, number: int, status: Literal["completed", "skipped", "failed"]) -> None:
        """The item has ended."""
        self.in_flight.discard(number)
        self.advance(**{status: getattr(self.progress, status) + 1})

    def put_back(self, number: int) -> None:
        """The item has to be taken up again."""
        self.in_flight.discard(number)
        self.advance(pending=sorted([*self.progress.pending, number]))

    def wait(self, reason: str, retry_after: timedelta | None) -> None:
        """Take nothing up for a while, and then one item alone."""
        if self.wait_for is None:
            self.wait_for = min(self._wait, retry_after or LONGEST_WAIT)
            self._wait = min(2 * self._wait, LONGEST_WAIT)
        self.reason = reason

    def advance(self, **changes: Any) -> None:
        """Change what the next run has to know."""
        self.progress = self.progress.model_copy(update=changes)

    def per_minute(self, now: datetime) -> float:
        """Items ended a minute in this run, once there are enough of them; before that, in the one before."""
        ended = self.progress.ended - self._ended_before
        minutes = (now - self._began) / timedelta(minutes=1)
        return ended / minutes if ended >= ENOUGH_FOR_A_RATE and minutes > 0 else self.progress.per_minute
