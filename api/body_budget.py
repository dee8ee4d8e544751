"""How many bytes of request bodies a process holds, and for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from domain.errors import TryOnError


class BodyBudget:
    """Bytes of bodies that are being received or worked on, counted as they arrive.

    What is only announced costs nothing and counts for nothing. One body alone always gets through, however small the
    budget, and so does one that is small; a holder who has several in flight may not fill more than a quarter.
    """

    def __init__(self, total: int, small: int) -> None:
        """Nothing is held yet.

        Args:
            total: Bytes of all bodies together.
            small: Bytes of a body that is never refused, so that who uploads pictures can still erase and manage.
        """
        self.total = total
        self.small = small
        self.in_flight = 0
        self.of_holder: Counter[Hashable] = Counter()

    def share(self, holder: Hashable) -> BodyShare:
        """What one body of ``holder`` is going to take of the budget."""
        return BodyShare(self, holder)


class BodyShare:
    """The part of the budget that one body takes."""

    def __init__(self, budget: BodyBudget, holder: Hashable) -> None:
        self._budget = budget
        self._holder = holder
        self.held = 0

    def take(self, more: int) -> None:
        """Count what has arrived.

        Raises:
            TryOnError: ``busy``; it was not counted.
        """
        if self.held + more > self._budget.small:
            self._check(more)
        self._count(more)

    def give_back(self) -> None:
        """Forget the body; a second time changes nothing."""
        self._count(-self.held)
        if not self._budget.of_holder[self._holder]:
            del self._budget.of_holder[self._holder]

    def _check(self, more: int) -> None:
        in_flight, own = self._budget.in_flight, self._budget.of_holder[self._holder]
        if in_flight > self.held and in_flight + more > self._budget.total:
            raise TryOnError("busy")
        if own > self.held and own + more > self._budget.total // 4:
            raise TryOnError("busy")

    def _count(self, more: int) -> None:
        self.held += more
        self._budget.in_flight += more
        self._budget.of_holder[self._holder] += more
