"""Billing where Stripe takes the money, played by a stand-in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from domain.accounts import block_account
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.billing_scene import hidden, orders_of
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.api.payments.stand_in import SECRET, StripeStandIn, event, running_stand_in, signature
from tests.factories import create_caller


@pytest.fixture
async def stripe() -> AsyncIterator[StripeStandIn]:
    async with running_stand_in() as stand_in:
        yield stand_in


@pytest.fixture
async def stripe_api(open_api: OpenApi, stripe: StripeStandIn, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Api]:
    monkeypatch.setenv("TRYON_PAYMENTS_PROVIDER", "stripe")
    monkeypatch.setenv("TRYON_PAYMENTS_STRIPE_SECRET_KEY", "sk_test_of_the_tests")
    monkeypatch.setenv("TRYON_PAYMENTS_STRIPE_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("TRYON_PAYMENTS_STRIPE_API_BASE", f"http://127.0.0.1:{stripe.port}")
    monkeypatch.setenv("TRYON_DASHBOARD_PUBLIC_URL", "https://tryon.example")
    async with open_api(settings=Settings()) as opened:
        yield opened
        await opened.parts.payments.close()


@pytest.fixture
async def payer(stripe_api: Api) -> AsyncIterator[Browser]:
    opened = await signed_in(stripe_api)
    yield opened
    await opened.client.aclose()


async def place(browser: Browser) -> str:
    page = "/billing/top-up?generations=250"
    fields = {name: hidden((await browser.get(page)).text, name) for name in ("order", "generations")}
    placed = await browser.post("/billing/top-up", fields, page=page)
    return str(placed.headers["Location"]).removeprefix("/dashboard").partition("?")[0]


async def test_an_order_is_paid_at_stripe(stripe_api: Api, stripe: StripeStandIn, payer: Browser) -> None:
    path = await place(payer)
    assert f'href="/dashboard{path}/pay"' in (await payer.get(path)).text
    first, again = await payer.get(f"{path}/pay"), await payer.get(f"{path}/pay")
    [session] = stripe.sessions.values()
    assert first.status_code == again.status_code == 303
    assert first.headers["Location"] == again.headers["Location"] == session["url"]
    assert session["sent"]["success_url"] == f"https://tryon.example/dashboard{path}?notice=payment_returned"
    [payment] = await orders_of(stripe_api)
    assert payment.reference == session["id"]
    assert "Thank you" in words(await payer.get(f"{path}?notice=payment_returned"))
    body = event("checkout.session.completed", {**session, "payment_status": "paid"})
    for _ in range(2):
        heard = await stripe_api.client.post(
            "/webhooks/stripe", content=body, headers={"Stripe-Signature": signature(body)}
        )
        assert heard.status_code == 200
    assert "Status paid" in words(await payer.get(path))
    assert "Of these in packs 250" in words(await payer.get("/billing"))
    assert (await payer.get(f"{path}/pay")).headers["Location"] == f"/dashboard{path}"


async def test_stripe_being_away_keeps_the_order(stripe_api: Api, stripe: StripeStandIn, payer: Browser) -> None:
    path = await place(payer)
    stripe.away = True
    answer = await payer.get(f"{path}/pay")
    assert (answer.status_code, "Your order is kept" in words(answer)) == (503, True)
    stripe.away = False
    assert (await payer.get(f"{path}/pay")).status_code == 303


async def test_withdrawing_closes_stripes_page_first(stripe_api: Api, stripe: StripeStandIn, payer: Browser) -> None:
    path = await place(payer)
    await payer.get(f"{path}/pay")
    assert "Status withdrawn" in words(await payer.follow(await payer.post(f"{path}/withdraw", page=path)))
    assert [session["status"] for session in stripe.sessions.values()] == ["expired"]


async def test_what_is_being_paid_is_not_withdrawn(stripe_api: Api, stripe: StripeStandIn, payer: Browser) -> None:
    path = await place(payer)
    await payer.get(f"{path}/pay")
    for session in stripe.sessions.values():
        session["status"] = "complete"
    assert (await payer.post(f"{path}/withdraw", page=path)).status_code == 409
    assert [each.status for each in await orders_of(stripe_api)] == ["open"]


async def test_a_blocked_account_pays_nothing(stripe_api: Api, stripe: StripeStandIn, payer: Browser) -> None:
    path = await place(payer)
    await stripe_api.parts.database.write(
        block_account, account_id=stripe_api.caller.account_id, reason="abuse", now=datetime.now(UTC)
    )
    assert (await payer.get("/billing")).status_code == 200
    assert (await payer.get(f"{path}/pay")).status_code == 403
    assert (await payer.post(f"{path}/withdraw", page=path)).status_code == 403
    assert not stripe.sessions


@pytest.mark.parametrize(("act", "status"), [("approve", "paid"), ("reject", "rejected")])
async def test_what_an_operator_decides_cannot_be_paid_any_more(
    stripe_api: Api, stripe: StripeStandIn, payer: Browser, act: str, status: str
) -> None:
    path = await place(payer)
    await payer.get(f"{path}/pay")
    caller = await create_caller(stripe_api.parts.database, stripe_api.parts.digester)
    operator = await signed_in(stripe_api, caller.account_id, operator=True)
    [payment] = await orders_of(stripe_api)
    answer = await operator.post(f"/admin/payments/{payment.id}/{act}", {"reason": "x"}, page="/admin/system")
    assert answer.status_code == 303
    assert [session["status"] for session in stripe.sessions.values()] == ["expired"]
    assert [each.status for each in await orders_of(stripe_api)] == [status]
    await operator.client.aclose()


async def test_what_is_being_paid_when_it_is_rejected_is_credited(
    stripe_api: Api, stripe: StripeStandIn, payer: Browser
) -> None:
    path = await place(payer)
    await payer.get(f"{path}/pay")
    (session,) = stripe.sessions.values()
    session["status"] = "complete"
    caller = await create_caller(stripe_api.parts.database, stripe_api.parts.digester)
    operator = await signed_in(stripe_api, caller.account_id, operator=True)
    [payment] = await orders_of(stripe_api)
    rejected = await operator.post(f"/admin/payments/{payment.id}/reject", {"reason": "x"}, page="/admin/system")
    assert (rejected.status_code, [each.status for each in await orders_of(stripe_api)]) == (303, ["rejected"])
    body = event("checkout.session.completed", {**session, "payment_status": "paid"})
    await stripe_api.client.post("/webhooks/stripe", content=body, headers={"Stripe-Signature": signature(body)})
    assert "Of these in packs 250" in words(await payer.get("/billing"))
    await operator.client.aclose()
