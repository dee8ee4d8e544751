"""Orders that an operator decides about: once, whoever else decides too."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from api.dashboard.admin import payments as pages
from domain import accounts
from domain.billing import payments
from domain.money.quota import usage_of
from domain.operation import audit
from domain.tables import Payment
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, words
from tests.factories import NOBODYS_ID, PLANS, Caller

PAGE = "/admin/payments"


async def ordered(api: Api, caller: Caller, generations: int = 50) -> uuid.UUID:
    payment = await api.parts.database.write(
        payments.order_topup,
        PLANS,
        account_id=caller.account_id,
        generations=generations,
        provider="manual",
        now=datetime.now(UTC),
    )
    return payment.id


async def email_of(api: Api, caller: Caller) -> str:
    with api.parts.database.reading() as session:
        return accounts.get_account(session, account_id=caller.account_id).email


async def standing(api: Api, payment_id: uuid.UUID) -> tuple[str, uuid.UUID | None, str | None]:
    with api.parts.database.reading() as session:
        payment = session.get_one(Payment, payment_id)
    return payment.status, payment.closed_by, payment.note


async def in_packs(api: Api, caller: Caller) -> int:
    usage = await api.parts.database.read(usage_of, PLANS, account_id=caller.account_id, now=datetime.now(UTC))
    return usage.topup_remaining


async def acts(api: Api, caller: Caller) -> list[tuple[str, uuid.UUID | None]]:
    found = await api.parts.database.read(audit.page, limit=50, account_id=caller.account_id)
    return [(each.action, each.operator_id) for each in found]


async def test_an_approved_pack_is_credited_once(api: Api, operator: Browser, customer: Caller) -> None:
    payment_id = await ordered(api, customer)
    shown = words(await operator.get(PAGE))
    assert "50 try-ons $10.00" in shown
    for said in ("the order is credited", "already decided"):
        answer = await operator.post(f"{PAGE}/{payment_id}/approve", page="/admin/system")
        assert said in words(await operator.follow(answer))
    assert await in_packs(api, customer) == 50
    assert await standing(api, payment_id) == ("paid", operator.account_id, None)
    assert await acts(api, customer) == [("payment.approved", operator.account_id)]
    assert str(payment_id) not in (await operator.get(PAGE)).text


async def test_approving_is_asked_about_first(api: Api, operator: Browser, customer: Caller) -> None:
    payment_id = await ordered(api, customer)
    page = await operator.get(PAGE)
    assert f'action="/dashboard{PAGE}/{payment_id}/approve"' not in page.text
    assert f'href="/dashboard{PAGE}/{payment_id}/approve"' in page.text
    asked = await operator.get(f"{PAGE}/{payment_id}/approve")
    said = words(asked)
    assert f"Has {await email_of(api, customer)} paid $10.00?" in said
    assert "50 try-ons are credited at once" in said
    assert await standing(api, payment_id) == ("open", None, None)
    await operator.post(f"{PAGE}/{payment_id}/approve")
    assert await in_packs(api, customer) == 50
    assert "already decided" in words(await operator.follow(await operator.get(f"{PAGE}/{payment_id}/approve")))


async def test_approving_a_plan_says_what_becomes_of_the_account(api: Api, operator: Browser, customer: Caller) -> None:
    payment = await api.parts.database.write(
        payments.order_plan,
        PLANS,
        account_id=customer.account_id,
        plan="growth",
        provider="manual",
        now=datetime.now(UTC),
    )
    said = words(await operator.get(f"{PAGE}/{payment.id}/approve"))
    assert "The account is put on Growth at once: a new period starts with 1,000 try-ons" in said
    assert "Approve $149.00" in said


@pytest.mark.parametrize("payment_id", ["x", NOBODYS_ID])
async def test_an_order_that_there_is_not_is_not_asked_about(operator: Browser, payment_id: str) -> None:
    assert (await operator.get(f"{PAGE}/{payment_id}/approve")).status_code == 404


async def test_a_rejected_order_credits_nothing_and_says_why(api: Api, operator: Browser, customer: Caller) -> None:
    payment_id = await ordered(api, customer)
    answer = await operator.post(f"{PAGE}/{payment_id}/reject", {"reason": "No money arrived"}, page="/admin/system")
    assert "is rejected" in words(await operator.follow(answer))
    answer = await operator.post(f"{PAGE}/{payment_id}/approve", page="/admin/system")
    assert "already decided" in words(await operator.follow(answer))
    assert await standing(api, payment_id) == ("rejected", operator.account_id, "No money arrived")
    assert (await in_packs(api, customer), await acts(api, customer)) == (
        0,
        [("payment.rejected", operator.account_id)],
    )
    assert "No money arrived" in words(await operator.get(PAGE, params={"status": "rejected"}))


async def test_a_rejection_needs_a_reason(api: Api, operator: Browser, customer: Caller) -> None:
    payment_id = await ordered(api, customer)
    answer = await operator.post(f"{PAGE}/{payment_id}/reject", {"reason": " "}, page="/admin/system")
    assert (answer.status_code, "Give a reason" in words(answer)) == (422, True)
    assert (await standing(api, payment_id))[0] == "open"


@pytest.mark.parametrize("act", ["approve", "reject"])
@pytest.mark.parametrize("payment_id", ["x", NOBODYS_ID])
async def test_an_order_that_there_is_not(operator: Browser, act: str, payment_id: str) -> None:
    answer = await operator.post(f"{PAGE}/{payment_id}/{act}", {"reason": "x"}, page="/admin/system")
    assert answer.status_code == 404


async def test_pages_show_every_open_order_once(
    api: Api, operator: Browser, customer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PER_PAGE", 2)
    wanted = {str(await ordered(api, customer)) for _ in range(5)}
    seen: list[str] = []
    address = f"/dashboard{PAGE}"
    while True:
        answer = await operator.client.get(address, headers={"Sec-Fetch-Site": "same-origin"})
        seen += [payment_id for payment_id in wanted if f"{payment_id}/approve" in answer.text]
        more = answer.text.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
        if not more:
            break
        address = more
    assert sorted(seen) == sorted(wanted)


async def test_a_refusal_leads_to_more_orders_too(
    api: Api, operator: Browser, customer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PER_PAGE", 1)
    await ordered(api, customer)
    payment_id = await ordered(api, customer)
    answer = await operator.post(f"{PAGE}/{payment_id}/reject", {"reason": " "}, page="/admin/system")
    assert (answer.status_code, f'rel="next" href="/dashboard{PAGE}?after=' in answer.text) == (422, True)


@pytest.mark.parametrize("query", [{"after": "x"}, {"after": "AAAA"}])
async def test_a_made_up_cursor_is_refused(operator: Browser, query: dict[str, str]) -> None:
    assert (await operator.get(PAGE, params=query)).status_code == 400


@pytest.mark.parametrize("status", ["gone", "open\0"])
async def test_a_state_that_there_is_not_shows_nothing(operator: Browser, status: str) -> None:
    assert "There are no such payments" in words(await operator.get(PAGE, params={"status": status}))
