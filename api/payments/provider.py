"""What every provider of payments can do, and the one that takes no money itself.

With that one an operator approves orders: for services that collect by other means, and for trying everything out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.tables import Payment


class PaymentPageError(Exception):
    """The provider cannot be asked now. Its sentence is for the owner; the order is as it was."""


@dataclass(frozen=True)
class PaymentPage:
    """Where the browser goes to pay.

    Attributes:
        url: A page of the provider's.
        reference: What the provider calls this purchase.
    """

    url: str
    reference: str


class PaymentProvider(Protocol):
    """Somebody who takes money.

    Attributes:
        name: What orders are marked with; at most 16 characters.
        label: For people.
        online: Whether the owner pays on a page of the provider's; otherwise an operator approves the order.
    """

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def online(self) -> bool: ...

    async def begin(
        self, payment: Payment, *, subject: str, return_url: str, cancel_url: str, now: datetime
    ) -> PaymentPage | None:
        """Open the page on which an order is paid, or none where there is no page.

        Asked again for the same order it is the same page, so that an order is never paid on two.

        Args:
            payment: An open order.
            subject: What is bought, as the page names it.
            return_url: Where the provider sends the browser after paying.
            cancel_url: Where it sends one that turned back.
            now: When.

        Raises:
            PaymentPageError: It cannot be opened.
        """

    async def give_up(self, payment: Payment) -> bool:
        """Make sure that an open order can no longer be paid; False where money may be on its way.

        Raises:
            PaymentPageError: The provider did not answer.
        """

    async def close(self) -> None:
        """Let go of connections."""


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
