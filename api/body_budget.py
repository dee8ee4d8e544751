"""How many bytes of request bodies a process holds, and for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from domain.errors import TryOnError


class BodyBudget:
    """Bytes of bodies that are being received or worked on, counted as they arrive.

    What is only announced costs nothing and counts for nothing. One body alone always gets through, however small the
    budget; a holder who has several in flight may not fill more than a quarter with them.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._share = total // 4
        self._in_flight = 0
        self._of_holder: Counter[Hashable] = Counter()

    def hold(self, holder: Hashable, held: int, more: int) -> None:
        """Count what has arrived of a body.

        Args:
            holder: Whose body it is.
            held: What was counted of this body before.
            more: What came now.

        Raises:
            TryOnError: ``busy``; nothing was counted.
        """
        others, own_others = self._in_flight - held, self._of_holder[holder] - held
        if others and self._in_flight + more > self._total:
            raise TryOnError("busy")
        if own_others and self._of_holder[holder] + more > self._share:
            raise TryOnError("busy")
        self._in_flight += more
        self._of_holder[holder] += more

    def give_back(self, holder: Hashable, held: int) -> None:
        """Forget a body."""
        self._in_flight -= held
        self._of_holder[holder] -= held
        if not self._of_holder[holder]:
            del self._of_holder[holder]
