"""Who takes the money: providers behind one protocol, and Stripe Checkout as one of them.

With the other one an operator approves orders by hand: for services that collect by other means, and for trying
everything out. What is paid for, and what becomes of it, is decided in `domain.billing.payments`.

At Stripe an order is paid on a page of Stripe's, and Stripe's signed message closes it (`api.stripe_webhook`). For one
order there is ever only one page: it is asked for under the order's id as idempotency key, with nothing in it that
changes, and it ends before Stripe forgets such keys. The `stripe` package is imported late, since only those who take
money this way need it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

import structlog
from aiohttp import ClientError, ClientTimeout

from domain.tables import Payment
from runtime.settings import PaymentSettings

if TYPE_CHECKING:
    from stripe.params.checkout import SessionCreateParams

OPEN_FOR = timedelta(hours=23)
"""Life of a page, from the order on. Stripe remembers idempotency keys for 24 hours, and takes no page longer."""

LAST_BEGIN = timedelta(hours=22)
"""Afterwards a page is not opened: Stripe wants it to be there for half an hour at least."""

RETRIES = 1

BROKEN_OFF = (ClientError, OSError)
"""What the package lets through when an answer breaks off in the middle."""

AWAY = "The payment page could not be opened. Your order is kept; try again in a minute."
TOO_LATE = "This order is from yesterday and can no longer be paid. Withdraw it and order again."

log = structlog.get_logger(__name__)


class PaymentPageError(Exception):
    """The provider cannot be asked now. Its sentence is for the owner; the order is as it was."""


@dataclass(frozen=True)
class PaymentPage:
    """Where the browser goes to pay, and what the provider calls this purchase."""

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

        Asked again for the same order it is the same page, so that an order is never paid on two. It names what is
        bought by ``subject``, and leads back to ``return_url`` once paid, or to ``cancel_url``.

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
    """Takes no money itself: there is no page, and the order waits for an operator."""

    name, label, online = "manual", "By hand", False

    async def begin(self, payment: Payment, *, subject: str, return_url: str, cancel_url: str, now: datetime) -> None:
        """Open nothing."""

    async def give_up(self, payment: Payment) -> bool:  # noqa: ARG002  # as the protocol has it
        """Nobody pays an order that is withdrawn."""
        return True

    async def close(self) -> None:
        """Nothing is held."""


class StripePayments:
    """Speaks to Stripe's API, and knows its webhook's secret."""

    name, label, online = "stripe", "Stripe", True

    def __init__(self, settings: PaymentSettings) -> None:
        """Make a client; nothing is sent.

        Raises:
            ValueError: A secret is missing, or the extra ``stripe`` is not installed.
        """
        if settings.stripe_secret_key is None or settings.stripe_webhook_secret is None:
            raise ValueError(
                "TRYON_PAYMENTS_PROVIDER=stripe needs TRYON_PAYMENTS_STRIPE_SECRET_KEY and "
                "TRYON_PAYMENTS_STRIPE_WEBHOOK_SECRET"
            )
        if find_spec("stripe") is None:
            raise ValueError(
                "TRYON_PAYMENTS_PROVIDER=stripe needs the extra `stripe` of this package. "
                "Run: pip install -c constraints.txt -e '.[stripe]'"
            )
        self.webhook_secret = settings.stripe_webhook_secret
        from stripe import AIOHTTPClient, StripeClient

        self._http = AIOHTTPClient(timeout=ClientTimeout(total=settings.timeout_seconds))
        self._client = StripeClient(
            settings.stripe_secret_key.get_secret_value(),
            http_client=self._http,
            max_network_retries=RETRIES,
            base_addresses={"api": str(settings.stripe_api_base).rstrip("/")} if settings.stripe_api_base else {},
        )

    async def begin(
        self, payment: Payment, *, subject: str, return_url: str, cancel_url: str, now: datetime
    ) -> PaymentPage:
        """Open the page; see `PaymentProvider.begin`."""
        from stripe import StripeError

        if now - payment.created_at > LAST_BEGIN:
            raise PaymentPageError(TOO_LATE)
        try:
            session = await self._client.v1.checkout.sessions.create_async(
                _page_of(payment, subject, return_url, cancel_url), {"idempotency_key": str(payment.id)}
            )
        except (StripeError, *BROKEN_OFF) as error:
            log.warning("Stripe opened no page", payment_id=str(payment.id), **_facts(error))
            raise PaymentPageError(AWAY) from error
        if session.url is None:  # it is paid, or over
            raise PaymentPageError(TOO_LATE)
        return PaymentPage(session.url, session.id)

    async def give_up(self, payment: Payment) -> bool:
        """Close the page, if there is one; False once something was paid there."""
        from stripe import InvalidRequestError, StripeError

        if payment.reference is None:
            return True
        sessions = self._client.v1.checkout.sessions
        try:
            try:
                session = await sessions.expire_async(payment.reference)
            except InvalidRequestError:  # it is not open any more
                session = await sessions.retrieve_async(payment.reference)
        except (StripeError, *BROKEN_OFF) as error:
            log.warning("Stripe closed no page", payment_id=str(payment.id), **_facts(error))
            raise PaymentPageError("The payment provider did not answer. Try again in a minute.") from error
        return session.status == "expired"

    async def close(self) -> None:
        """Close its connections."""
        await self._http.close_async()  # type: ignore[no-untyped-call]  # Stripe's own client is untyped here


def _facts(error: Exception) -> dict[str, object]:
    """What may be logged; the message itself may repeat what was sent."""
    return {"kind": type(error).__name__} | {name: getattr(error, name, None) for name in ("http_status", "request_id")}


def _page_of(payment: Payment, subject: str, return_url: str, cancel_url: str) -> SessionCreateParams:
    order, price = str(payment.id), payment.price_cents
    return {
        "mode": "payment",
        "client_reference_id": order,
        "metadata": {"payment_id": order},
        "payment_intent_data": {"metadata": {"payment_id": order}, "description": subject},
        "line_items": [
            {
                "quantity": 1,
                "price_data": {"currency": "usd", "unit_amount": price, "product_data": {"name": subject}},
            }
        ],
        "success_url": return_url,
        "cancel_url": cancel_url,
        # Stripe may otherwise ask for the amount in the buyer's own currency, and what it tells then fits no order.
        "adaptive_pricing": {"enabled": False},
        "expires_at": int((payment.created_at + OPEN_FOR).timestamp()),
    }


def open_provider(settings: PaymentSettings) -> PaymentProvider:
    """The provider that the settings name.

    Raises:
        ValueError: It lacks a secret or a package.
    """
    return StripePayments(settings) if settings.provider == "stripe" else ManualPayments()
