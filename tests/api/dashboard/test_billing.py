"""Usage and billing: what is shown, ordered, paid, withdrawn and listed, and to nobody else."""

from __future__ import annotations

import csv
import io
import re
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest

from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.billing import payments
from domain.billing.payments import MOST_OPEN
from domain.jobs import jobs
from domain.money import quota
from domain.tables import Payment
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.billing_scene import hidden, orders_of
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import PLANS, create_caller, new_job

HOUR = timedelta(hours=1)


async def complete_job(api: Api, at: datetime | None = None) -> uuid.UUID:
    new, now = new_job(api.caller), at or datetime.now(UTC)
    with api.parts.database.transaction() as session:
        jobs.accept_job(session, PLANS, new, now=now)
        jobs.complete_job(session, job_id=new.job_id, result_key="r", engine="warp", report={}, keep=HOUR, now=now)
    return new.job_id


async def order_by_hand(api: Api, generations: int = 250) -> Payment:
    return await api.parts.database.write(
        payments.order_topup,
        PLANS,
        account_id=api.caller.account_id,
        generations=generations,
        provider="manual",
        now=datetime.now(UTC),
    )


async def approve(api: Api, payment: Payment) -> None:
    with api.parts.database.transaction() as session:
        assert payments.approve(session, PLANS, payment_id=payment.id, now=datetime.now(UTC))


async def test_the_page_of_a_new_account(browser: Browser) -> None:
    page = await browser.get("/billing")
    read = words(page)
    assert page.status_code == 200
    assert len(page.content) < 150 * 1024
    for sentence in ("Starter current", "$49.99 a month", "$149.00", "$399.00", "50 for $10.00", "250 for $50.00"):
        assert sentence in read
    assert "Enterprise" not in read, "what has to be agreed cannot be ordered"
    assert "Nothing used yet" in read


async def test_what_is_left_and_where_it_went(api: Api, browser: Browser) -> None:
    job_id = await complete_job(api)
    await approve(api, await order_by_hand(api))
    page = await browser.get("/billing")
    read = words(page)
    assert "Try-ons 499 Of these in packs 250" in read
    assert "Pack credited Pack +250 250" in read
    assert "Reserved for a job Plan \N{MINUS SIGN}1 249" in read
    assert "Try-ons of the period Plan +250 250" in read
    assert f"/dashboard/jobs/{job_id}" in page.text


async def test_agreed_terms_are_shown_and_count(open_api: OpenApi) -> None:
    agreed = OwnTerms(included=7, daily_cap=3, monthly_price=Decimal(12), extra_price=Decimal("0.08"))
    async with open_api(own_terms=agreed) as api:
        browser = await signed_in(api)
        read = words(await browser.get("/billing"))
        assert "Price per month $12.00" in read
        assert "50 for $4.00" in read
        assert "Your agreed try-ons, daily limit, request rate and prices end" in words(
            await browser.get("/billing/plan?plan=growth")
        )
        await browser.client.aclose()


async def test_a_pack_from_the_button_to_the_ledger(api: Api, browser: Browser) -> None:
    asked = await browser.get("/billing/top-up?generations=250")
    read = words(asked)
    assert "250 try-ons Each $0.20 Total $50.00" in read
    assert "The operator of Fitting Room receives your order and arranges the payment with you" in read
    assert "invoice" not in read, "nobody sends one"
    fields = {name: hidden(asked.text, name) for name in ("order", "generations")}
    placed = await browser.post("/billing/top-up", fields, page="/billing/top-up?generations=250")
    order = await browser.follow(placed)
    assert "Your order is placed" in words(order)
    assert "Status open Price $50.00" in words(order)
    assert "The operator of Fitting Room will arrange the payment with you" in words(order)
    assert "Your pack is credited when the payment is confirmed" in words(order)
    [payment] = await orders_of(api)
    assert (payment.generations, payment.price_cents, payment.provider) == (250, 5000, "manual")
    await approve(api, payment)
    assert "Status paid" in words(await browser.get(f"/billing/orders/{payment.id}"))
    assert "Of these in packs 250" in words(await browser.get("/billing"))


async def test_a_form_that_is_sent_twice_orders_once(api: Api, browser: Browser) -> None:
    page = "/billing/top-up?generations=50"
    fields = {"order": hidden((await browser.get(page)).text, "order"), "generations": "50"}
    sent = [await browser.post("/billing/top-up", fields, page=page) for _ in range(2)]
    assert len({answer.headers["Location"] for answer in sent}) == 1
    assert len(await orders_of(api)) == 1


async def test_a_plan_says_what_ends_and_what_stays(api: Api, browser: Browser) -> None:
    await complete_job(api)
    page = "/billing/plan?plan=growth"
    asked = await browser.get(page)
    read = words(asked)
    assert "A new period starts then" in read
    assert "Unused try-ons of Starter are lost" in read
    assert "You keep your packs" in read
    assert "$149.00 a month" in read
    fields = {name: hidden(asked.text, name) for name in ("order", "plan")}
    await browser.post("/billing/plan", fields, page=page)
    [payment] = await orders_of(api)
    assert (payment.plan, payment.price_cents, payment.status) == ("growth", 14900, "open")
    waiting = await browser.get("/billing")
    assert "You have ordered a plan: Growth" in words(waiting)
    assert "billing/plan?plan=" not in waiting.text
    assert f'<a href="/dashboard/billing/orders/{payment.id}">Growth</a>' in waiting.text
    await approve(api, payment)
    assert "Growth Try-ons used 0 of 1,000" in words(await browser.get("/billing"))


async def test_beside_an_open_order_another_plan_offers_no_button(api: Api, browser: Browser) -> None:
    page = "/billing/plan?plan=growth"
    await browser.post("/billing/plan", {"plan": "growth"}, page=page)
    [payment] = await orders_of(api)
    asked = await browser.get("/billing/plan?plan=scale")
    assert "Withdraw that order before" in words(asked)
    assert f'<a href="/dashboard/billing/orders/{payment.id}">Growth</a>' in asked.text
    assert 'action="/dashboard/billing/plan"' not in asked.text
    await browser.post(f"/billing/orders/{payment.id}/withdraw", page=page)
    assert "Order Scale for $399.00" in words(await browser.get("/billing/plan?plan=scale"))


async def test_who_is_asked_for_more_than_the_largest_plan(browser: Browser) -> None:
    assert "Ask the operator of Fitting Room for a custom plan" in words(await browser.get("/billing"))


async def test_a_trial_is_asked_to_choose_a_plan(api: Api, digester: KeyDigester) -> None:
    caller = await create_caller(api.parts.database, digester, plan="trial")
    browser = await signed_in(api, caller.account_id)
    read = words(await browser.get("/billing"))
    assert "Packs need a plan" in read
    assert "Packs need a plan. Choose a plan first." in read
    assert "Choose Starter" in read
    refused = await browser.get("/billing/top-up?generations=50")
    assert (refused.status_code, "Packs need a plan" in words(refused)) == (422, True)
    await browser.client.aclose()


@pytest.mark.parametrize("generations", ["", "7", "-50", "many", "9" * 30, "\N{ARABIC-INDIC DIGIT FIVE}0"])
async def test_a_pack_that_there_is_not(api: Api, browser: Browser, generations: str) -> None:
    asked = await browser.get("/billing/top-up", params={"generations": generations})
    sent = await browser.post("/billing/top-up", {"generations": generations}, page="/billing/top-up?generations=50")
    for answer in (asked, sent):
        assert (answer.status_code, "There is no pack of this size" in words(answer)) == (422, True)
    assert await orders_of(api) == []


@pytest.mark.parametrize("plan", ["", "starter", "enterprise", "trial", "<b>"])
async def test_a_plan_that_cannot_be_ordered(api: Api, browser: Browser, plan: str) -> None:
    asked = await browser.get("/billing/plan", params={"plan": plan})
    sent = await browser.post("/billing/plan", {"plan": plan}, page="/billing/plan?plan=growth")
    assert (asked.status_code, sent.status_code) == (422, 422)
    assert await orders_of(api) == []


async def test_too_many_orders_are_refused_with_a_way_out(api: Api, browser: Browser) -> None:
    for _ in range(MOST_OPEN):
        await order_by_hand(api)
    sent = await browser.post("/billing/top-up", {"generations": "50"}, page="/billing/top-up?generations=50")
    assert (sent.status_code, "withdraw one first" in words(sent)) == (422, True)


async def test_an_order_is_withdrawn_once(api: Api, browser: Browser) -> None:
    payment = await order_by_hand(api)
    path = f"/billing/orders/{payment.id}"
    first = await browser.follow(await browser.post(f"{path}/withdraw", page=path))
    assert "The order is withdrawn" in words(first)
    assert "Status withdrawn" in words(first)
    assert "/withdraw" not in first.text
    again = await browser.follow(await browser.post(f"{path}/withdraw", page="/billing/top-up?generations=50"))
    assert "already closed" in words(again)


async def test_a_rejected_order_says_why(api: Api, browser: Browser) -> None:
    payment = await order_by_hand(api)
    await api.parts.database.write(
        payments.reject, payment_id=payment.id, note="No <money> came.", now=datetime.now(UTC)
    )
    page = await browser.get(f"/billing/orders/{payment.id}")
    assert "Status rejected" in words(page)
    assert "No &lt;money&gt; came." in page.text


async def test_all_orders_are_listed_in_pages(api: Api, browser: Browser) -> None:
    for _ in range(12):
        payment = await order_by_hand(api)
        await api.parts.database.write(
            payments.withdraw, payment_id=payment.id, account_id=api.caller.account_id, now=datetime.now(UTC)
        )
    assert "All orders" in words(await browser.get("/billing"))
    assert (await browser.get("/billing/orders")).text.count("/dashboard/billing/orders/") == 12


async def test_the_ledger_is_leafed_through(api: Api, browser: Browser) -> None:
    start = datetime.now(UTC)
    for index in range(40):
        await complete_job(api, start + timedelta(seconds=index))
    first = await browser.get("/billing")
    link = re.search(r'rel="next" href="([^"#]+)#ledger"', first.text)
    assert link
    second = await browser.get(unescape(link[1]).removeprefix("/dashboard"))
    jobs_on = [set(re.findall(r"/dashboard/jobs/([0-9a-f-]{36})", page.text)) for page in (first, second)]
    assert len(jobs_on[0] | jobs_on[1]) == 40
    assert "Try-ons of the period" in words(second)
    assert "Try-ons of the period" not in words(first)
    assert (await browser.get("/billing?before=nonsense")).status_code == 200
    refused = await browser.post("/billing/top-up", {"generations": "1"}, page="/settings")
    assert (refused.status_code, f'href="{link[1]}#ledger"' in refused.text) == (422, True)


async def test_the_export_holds_every_movement(api: Api, browser: Browser) -> None:
    await complete_job(api)
    await api.parts.database.write(
        quota.add_topup, PLANS, account_id=api.caller.account_id, generations=50, now=datetime.now(UTC) + HOUR
    )
    answer = await browser.get("/billing/ledger.csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="ledger.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["kind"], row["change"], row["source"], row["left_after"]) for row in rows] == [
        ("grant", "250", "included", "250"),
        ("reserve", "-1", "included", "249"),
        ("settle", "0", "included", "249"),
        ("topup", "50", "topup", "50"),
    ]


async def test_another_accounts_orders_and_entries_are_not_there(
    api: Api, browser: Browser, digester: KeyDigester
) -> None:
    payment, job_id = await order_by_hand(api), await complete_job(api)
    caller = await create_caller(api.parts.database, digester)
    other = await signed_in(api, caller.account_id)
    for path in (f"/billing/orders/{payment.id}", f"/billing/orders/{payment.id}/pay", "/billing/orders/nonsense"):
        assert (await other.get(path)).status_code == 404
    tried = await other.post(f"/billing/orders/{payment.id}/withdraw", page="/billing/top-up?generations=50")
    assert tried.status_code == 404
    for path in ("/billing", "/billing/orders", "/billing/ledger.csv"):
        shown = (await other.get(path)).text
        assert str(payment.id) not in shown
        assert str(job_id) not in shown
    taken = {"generations": "50", "order": str(payment.id)}
    assert (await other.post("/billing/top-up", taken, page="/billing/top-up?generations=50")).status_code == 422
    assert [each.status for each in await orders_of(api)] == ["open"]
    await other.client.aclose()


async def test_an_order_without_the_forms_token_is_refused(api: Api, browser: Browser) -> None:
    sent = await browser.client.post(
        "/dashboard/billing/top-up", data={"generations": "50"}, headers={"Sec-Fetch-Site": "same-origin"}
    )
    assert sent.status_code == 403
    assert await orders_of(api) == []
