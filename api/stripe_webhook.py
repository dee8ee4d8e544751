"""``POST /webhooks/stripe``: what Stripe has to tell about orders.

Stripe delivers a message until it is answered with 2xx, often twice and in any order; what becomes of an order is
decided by `domain.billing.payments`, once. It shows who it is by signing the body, so there is neither key nor
session here.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Request, Response
from pydantic import AliasPath, BaseModel, BeforeValidator, Field, ValidationError

from api.body_limit import body_of
from api.parts import ApiParts, Parts
from api.payments import StripePayments
from domain.billing import payments
from domain.billing.payments import Receipt, ReceiptRefusedError
from domain.errors import TryOnError

STRIPE_PATH = "/webhooks/stripe"

SESSION_EVENTS = "checkout.session."
PAID_EVENTS = ("checkout.session.completed", "checkout.session.async_payment_succeeded")
NOTES = {
    "checkout.session.expired": "The payment page was closed before anything was paid.",
    "checkout.session.async_payment_failed": "The payment did not go through.",
}
"""Events after which nothing will be paid any more, and what the owner reads then."""

ARRIVED = ("paid", "no_payment_required")

MOST_AHEAD_SECONDS = 60
"""How far a message's time may be ahead of this clock. Stripe's library refuses old ones only; one from the future
could be sent again for as long as it is ahead. Clocks that NTP keeps differ by less than a second."""

router = APIRouter(include_in_schema=False)
log = structlog.get_logger(__name__)


def _uuid_or_none(value: object) -> object:
    try:
        return uuid.UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


class CheckoutSession(BaseModel):
    """What matters of Stripe's object.

    Attributes:
        client_reference_id: The order; None where somebody else opened the page, as Stripe accounts may be shared.
        amount_total: In the currency's smallest unit.
        payment_status: Some ways of paying take days, then it is ``unpaid`` at first.
    """

    id: str
    client_reference_id: Annotated[uuid.UUID | None, BeforeValidator(_uuid_or_none)] = None
    amount_total: int | None = None
    currency: str | None = None
    payment_status: str | None = None

    @property
    def receipt(self) -> Receipt:
        """What was paid."""
        return Receipt(StripePayments.name, self.id, self.amount_total if self.currency == "usd" else None)


class Event(BaseModel):
    """A message of Stripe's, with the object that it is about."""

    id: str
    type: str
    object: dict[str, Any] = Field(validation_alias=AliasPath("data", "object"))


@router.post(STRIPE_PATH)
async def hear_stripe(request: Request, parts: Parts) -> Response:
    """Act on a message, or ignore one that is about something else."""
    if not isinstance(parts.payments, StripePayments):
        raise TryOnError("route_not_found")
    try:
        event = read_event(parts.payments, body_of(request), request.headers.get("Stripe-Signature"))
        session = CheckoutSession.model_validate(event.object) if event.type.startswith(SESSION_EVENTS) else None
    except ValidationError:
        raise TryOnError("field_invalid", "The message could not be read.") from None
    if session is not None and session.client_reference_id is not None:
        await act_on(parts, event, session, session.client_reference_id)
    return Response(status_code=200)


def read_event(stripe: StripePayments, body: bytes, signature: str | None) -> Event:
    """The message, once it is sure that Stripe signed it a short while ago.

    Raises:
        TryOnError: ``field_invalid``: it did not.
        ValidationError: Stripe signed something else.
    """
    from stripe import SignatureVerificationError, Webhook, WebhookSignature

    secret = stripe.webhook_secret.get_secret_value()
    try:
        text = body.decode()
        WebhookSignature.verify_header(text, signature, secret, Webhook.DEFAULT_TOLERANCE)
    except (SignatureVerificationError, UnicodeDecodeError):
        raise TryOnError("field_invalid", fields={"Stripe-Signature": "missing, or does not match the body."}) from None
    sent_at = next(int(part[2:]) for part in (signature or "").split(",") if part.startswith("t="))
    if sent_at > time.time() + MOST_AHEAD_SECONDS:
        raise TryOnError("field_invalid", fields={"Stripe-Signature": "its time is ahead of this service's clock."})
    return Event.model_validate_json(text)


async def act_on(parts: ApiParts, event: Event, page: CheckoutSession, payment_id: uuid.UUID) -> None:
    """Close the order that the message is about, in one transaction."""
    now, about = datetime.now(UTC), {"payment_id": str(payment_id), "message_id": event.id, "kind": event.type}
    if event.type in PAID_EVENTS and page.payment_status in ARRIVED:
        try:
            done = await parts.database.write(
                payments.receive, parts.plans, payment_id=payment_id, receipt=page.receipt, now=now
            )
        except ReceiptRefusedError as refused:
            # Delivering it again would change nothing; somebody has to look, at the order and not at the code.
            log.error(  # noqa: TRY400  # no traceback helps
                "money came that fits no order", reason=str(refused), reference=page.id, **about
            )
            return
        log.info("an order was paid", first=done, **about)
    elif event.type in NOTES:
        done = await parts.database.write(
            payments.lapse, payment_id=payment_id, provider=StripePayments.name, note=NOTES[event.type], now=now
        )
        log.info("an order was not paid", first=done, **about)
