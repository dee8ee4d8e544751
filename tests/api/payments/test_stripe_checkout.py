"""Pages of Stripe's: one for each order, and none that is left open behind an order that is closed."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from importlib import util
from typing import Any

import pytest
from pydantic import SecretStr

from api import payments as stripe_checkout
from api.payments import ManualPayments, PaymentPage, PaymentPageError, StripePayments, open_provider
from domain.tables import Payment
from runtime.settings import PaymentSettings, Settings
from tests.api.payments.stand_in import StripeStandIn

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture
async def stripe(stripe_settings: Settings) -> AsyncIterator[StripePayments]:
    provider = open_provider(stripe_settings.payments)
    assert isinstance(provider, StripePayments)
    yield provider
    await provider.close()


def order(**fields: Any) -> Payment:
    values = {"id": uuid.uuid4(), "provider": "stripe", "price_cents": 5000, "created_at": NOW, **fields}
    return Payment(account_id=uuid.uuid4(), kind="topup", generations=250, status="open", **values)


async def begin(stripe: StripePayments, payment: Payment, now: datetime = NOW) -> PaymentPage:
    return await stripe.begin(
        payment, subject="250 generations", return_url="https://a.example/x", cancel_url="https://a.example/y", now=now
    )


async def test_a_page_knows_the_order_and_its_price(stripe: StripePayments, stripe_api: StripeStandIn) -> None:
    payment = order()
    page = await begin(stripe, payment)
    [session] = stripe_api.sessions.values()
    assert page == PaymentPage(session["url"], session["id"])
    assert (session["amount_total"], session["currency"]) == (5000, "usd")
    sent = session["sent"]
    assert sent["client_reference_id"] == sent["metadata[payment_id]"] == str(payment.id)
    assert sent["payment_intent_data[metadata][payment_id]"] == str(payment.id)
    assert sent["line_items[0][price_data][product_data][name]"] == "250 generations"
    assert (sent["success_url"], sent["cancel_url"]) == ("https://a.example/x", "https://a.example/y")
    assert int(sent["expires_at"]) == (NOW + timedelta(hours=23)).timestamp()
    assert sent["adaptive_pricing[enabled]"] == "false", "dollars whatever the account at Stripe is set to"
    assert stripe_api.asked == [(str(payment.id), "Bearer sk_test_of_the_tests")]


async def test_an_order_has_one_page_however_often_it_is_opened(
    stripe: StripePayments, stripe_api: StripeStandIn
) -> None:
    payment = order()
    assert await begin(stripe, payment) == await begin(stripe, payment, NOW + timedelta(hours=21))
    assert len(stripe_api.sessions) == 1
    await begin(stripe, order())
    assert len(stripe_api.sessions) == 2


async def test_no_page_is_opened_after_stripe_has_forgotten_the_first(
    stripe: StripePayments, stripe_api: StripeStandIn
) -> None:
    with pytest.raises(PaymentPageError, match="Withdraw it"):
        await begin(stripe, order(), NOW + timedelta(hours=23))
    assert stripe_api.asked == []


async def test_stripe_being_away_is_a_sentence_and_costs_nothing(
    stripe: StripePayments, stripe_api: StripeStandIn
) -> None:
    payment = order()
    stripe_api.away = True
    with pytest.raises(PaymentPageError, match="Your order is kept"):
        await begin(stripe, payment)
    stripe_api.away = False
    assert (await begin(stripe, payment)).url


async def test_a_stripe_that_nobody_reaches_is_the_same(stripe_settings: Settings) -> None:
    unreachable = stripe_settings.payments.model_copy(update={"stripe_api_base": "http://127.0.0.1:9"})
    provider = StripePayments(unreachable)
    with pytest.raises(PaymentPageError):
        await begin(provider, order())
    with pytest.raises(PaymentPageError):
        await provider.give_up(order(reference="cs_1"))
    await provider.close()


async def test_giving_up_closes_the_page(stripe: StripePayments, stripe_api: StripeStandIn) -> None:
    payment = order()
    payment.reference = (await begin(stripe, payment)).reference
    assert await stripe.give_up(payment)
    assert await stripe.give_up(payment), "asking again says the same"
    assert [session["status"] for session in stripe_api.sessions.values()] == ["expired"]


async def test_what_is_being_paid_cannot_be_given_up(stripe: StripePayments, stripe_api: StripeStandIn) -> None:
    payment = order()
    payment.reference = (await begin(stripe, payment)).reference
    stripe_api.sessions[payment.reference]["status"] = "complete"
    assert not await stripe.give_up(payment)


async def test_an_order_without_a_page_is_given_up_without_asking(
    stripe: StripePayments, stripe_api: StripeStandIn
) -> None:
    stripe_api.away = True
    assert await stripe.give_up(order())


async def test_by_hand_there_is_no_page() -> None:
    provider = open_provider(PaymentSettings())
    assert isinstance(provider, ManualPayments)
    payment = order(provider="manual")
    assert await provider.begin(payment, subject="x", return_url="/", cancel_url="/", now=NOW) is None
    assert await provider.give_up(payment)


@pytest.mark.parametrize("missing", ["stripe_secret_key", "stripe_webhook_secret"])
def test_stripe_needs_both_secrets(missing: str) -> None:
    secrets = {"stripe_secret_key": SecretStr("sk"), "stripe_webhook_secret": SecretStr("whsec"), missing: None}
    with pytest.raises(ValueError, match=f"TRYON_PAYMENTS_{missing.upper()}"):
        open_provider(PaymentSettings(provider="stripe", **secrets))


def test_a_missing_package_is_said_plainly(stripe_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    real = util.find_spec
    monkeypatch.setattr(stripe_checkout, "find_spec", lambda name: None if name == "stripe" else real(name))
    with pytest.raises(ValueError, match="needs the extra `stripe`"):
        open_provider(stripe_settings.payments)
