"""The audit log as operators read it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from api.dashboard.admin import audit as pages
from domain.accounts import addresses_of
from domain.operation import audit
from domain.operation.audit import Act
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, words
from tests.factories import Caller

PAGE = "/admin/audit"


async def noted(
    api: Api, act: Act, caller: Caller, by: uuid.UUID | None, minutes: int = 0, **details: str | int
) -> None:
    await api.parts.database.write(
        audit.add_entry,
        action=act,
        operator_id=by,
        account_id=caller.account_id,
        details=details,
        now=datetime.now(UTC) + timedelta(minutes=minutes),
    )


def test_every_act_has_words() -> None:
    assert pages.ACTS.keys() == set(Act)


async def test_an_entry_is_read_in_words(api: Api, operator: Browser, customer: Caller) -> None:
    await noted(api, Act.TOPPED_UP, customer, operator.account_id, generations=50, priceCents=1000, reason="<b>thanks")
    await noted(api, Act.ACCOUNT_BLOCKED, customer, None, reason="abuse")
    await noted(api, Act.ACCOUNT_ERASED, customer, customer.account_id)
    named = await api.parts.database.read(
        addresses_of, account_ids=[customer.account_id, operator.account_id or uuid.uuid4()]
    )
    answer = await operator.get(PAGE, params={"account": str(customer.account_id)})
    shown = words(answer)
    assert "Credited a pack" in shown
    assert "Try-ons: 50; Price: $10.00; Reason: <b>thanks" in shown
    assert "<b>thanks" not in answer.text
    for each in ("command line", "the owner", "Erased the account", *named.values()):
        assert each in shown


async def test_one_account_by_address_or_id(api: Api, operator: Browser, customer: Caller) -> None:
    await noted(api, Act.PLAN_CHANGED, customer, None, plan="growth")
    with api.parts.database.reading() as session:
        email = addresses_of(session, account_ids=[customer.account_id])[customer.account_id]
    for name in (email, email.upper(), str(customer.account_id)):
        assert "Changed the plan" in words(await operator.get(PAGE, params={"account": name}))
    for name in ("nobody", "nobody@example.com", str(uuid.uuid4()), "\0"):
        assert "No entries" in words(await operator.get(PAGE, params={"account": name}))


async def test_pages_follow_each_other_newest_first(
    api: Api, operator: Browser, customer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PER_PAGE", 2)
    for number in range(5):
        await noted(api, Act.TOPPED_UP, customer, None, minutes=number, reason=f"number {number}!")
    seen: list[int] = []
    address = f"/dashboard{PAGE}?account={customer.account_id}"
    while True:
        answer = await operator.client.get(address, headers={"Sec-Fetch-Site": "same-origin"})
        seen += [number for number in (4, 3, 2, 1, 0) if f"number {number}!" in words(answer)]
        more = answer.text.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
        if not more:
            break
        address = more
    assert seen == [4, 3, 2, 1, 0]
