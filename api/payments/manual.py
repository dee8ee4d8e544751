"""Orders that an operator approves: for services that collect by other means, and for trying everything out."""

from __future__ import annotations

from datetime import datetime

from domain.tables import Payment


class ManualPayments:
    """Takes no money itself."""

    name, label, online = "manual", "By hand", False

    async def begin(self, payment: Payment, *, subject: str, return_url: str, cancel_url: str, now: datetime) -> None:
        """There is no page; the order waits for an operator."""

    async def give_up(self, payment: Payment) -> bool:  # noqa: ARG002  # as the protocol has it
        """Nobody pays an order that is withdrawn."""
        return True

    async def close(self) -> None:
        """Nothing is held."""
