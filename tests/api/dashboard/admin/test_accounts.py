"""Finding accounts, looking at one, and what is done to it."""

from __future__ import annotations

import asyncio
import re
import uuid
from datetime import UTC, datetime
from html import unescape

import httpx
import pytest

from api.dashboard.admin import accounts as pages
from domain import accounts, erasure
from domain.jobs import jobs
from domain.money.quota import usage_of
from domain.operation import audit
from domain.tables import Account, Login
from tests.api.conftest import Api, single
from tests.api.dashboard.billing_scene import hidden
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import NOBODYS_ID, PLANS, Caller, create_caller, create_job


async def account_of(api: Api, caller: Caller) -> Account:
    with api.parts.database.reading() as session:
        return session.get_one(Account, caller.account_id)


async def acts(api: Api, caller: Caller) -> list[tuple[str, uuid.UUID | None]]:
    with api.parts.database.reading() as session:
        return [(each.action, each.operator_id) for each in audit.page(session, limit=50, account_id=caller.account_id)]


async def done(browser: Browser, caller: Caller, act: str, **fields: str) -> httpx.Response:
    path = f"/admin/accounts/{caller.account_id}"
    return await browser.post(f"{path}/{act}", fields, page=path)


def field_of(answer: httpx.Response, at: str) -> str:
    """What stands in the field of this id."""
    field = re.search(rf'<input id="{at}"[^>]*>', answer.text)
    assert field, at
    return unescape(field[0].partition(' value="')[2].partition('"')[0])


async def test_accounts_are_found_by_how_the_address_begins_and_by_id(
    api: Api, operator: Browser, customer: Caller
) -> None:
    email = (await account_of(api, customer)).email
    for text in (email[:12], email.upper(), str(customer.account_id), f" {customer.account_id.hex} "):
        shown = words(await operator.get("/admin", params={"q": text}))
        assert email in shown
        assert "active" in shown
    for text in (email[1:12], "%", "_", str(uuid.uuid4()), "'--", "\0"):
        assert "No account found" in words(await operator.get("/admin/accounts", params={"q": text}))


async def test_pages_follow_each_other_in_the_order_of_addresses(
    api: Api, operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PER_PAGE", 2)
    prefix = f"p{uuid.uuid4().hex[:8]}"
    emails = [f"{prefix}-{letter}@example.com" for letter in "edcba"]
    with api.parts.database.transaction() as session:
        for email in emails:
            accounts.create_account(session, PLANS, email=email, plan="starter", now=datetime.now(UTC))
    seen: list[str] = []
    address = f"/dashboard/admin/accounts?q={prefix}"
    for _ in range(3):
        answer = await operator.client.get(address, headers={"Sec-Fetch-Site": "same-origin"})
        seen += [email for email in sorted(emails) if email in words(answer)]
        more = answer.text.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
        address = more
    assert seen == sorted(emails)
    assert more == ""


async def test_one_account_is_shown_with_its_jobs_and_their_runs(api: Api, operator: Browser, customer: Caller) -> None:
    job_id = (await api.post(single())).json()["jobId"]
    answer = await operator.get(f"/admin/accounts/{customer.account_id}")
    shown = words(answer)
    assert job_id[:8] in shown
    assert f"/namespaces/tryon/workflows/tryon-{job_id}" in answer.text
    for each in ("Starter", "0 of 250", "processing", "Nothing was ordered"):
        assert each in shown


@pytest.mark.parametrize("account_id", ["nobody", NOBODYS_ID])
async def test_an_account_that_there_is_not(operator: Browser, account_id: str) -> None:
    answer = await operator.get(f"/admin/accounts/{account_id}")
    assert (answer.status_code, "no such account" in words(answer)) == (404, True)
    answer = await operator.post(f"/admin/accounts/{account_id}/unblock", page=f"/admin/accounts/{operator.account_id}")
    assert answer.status_code == 404


async def test_blocking_and_unblocking(api: Api, operator: Browser, customer: Caller) -> None:
    job_id = await create_job(api.parts.database, customer)
    answer = await done(operator, customer, "block", reason="Chargeback on the last order")
    assert "The account is blocked" in words(await operator.follow(answer))
    assert (await api.poll(str(job_id))).status_code == 403
    with api.parts.database.reading() as session:
        assert jobs.get_job(session, job_id=job_id).error_code == "cancelled"
    owner = await signed_in(api)
    assert "Chargeback on the last order" in words(await owner.get("/keys"))
    answer = await done(operator, customer, "unblock")
    assert "The account is unblocked" in words(await operator.follow(answer))
    assert (await api.poll(str(job_id))).status_code == 200
    assert await acts(api, customer) == [
        ("account.unblocked", operator.account_id),
        ("account.blocked", operator.account_id),
    ]
    assert "Chargeback on the last order" in words(await operator.get(f"/admin/accounts/{customer.account_id}"))


@pytest.mark.parametrize("reason", ["", "   ", "x" * 201])
async def test_blocking_needs_a_reason(api: Api, operator: Browser, customer: Caller, reason: str) -> None:
    answer = await done(operator, customer, "block", reason=reason)
    assert (answer.status_code, "Give a reason" in words(answer)) == (422, True)
    assert (await account_of(api, customer)).blocked_at is None
    assert await acts(api, customer) == []


async def test_a_plan_with_terms_of_its_own(api: Api, operator: Browser, customer: Caller) -> None:
    terms = {"included": "40,000", "daily_cap": "5000", "monthly_price": "$4,000", "extra_price": "0.08"}
    terms |= {"requests": "200", "window_seconds": "60"}
    answer = await done(operator, customer, "plan", plan="enterprise", **terms)
    shown = words(await operator.follow(answer))
    assert "40,000 included, 5,000 a day, $4,000.00 a month, $0.08 for an extra try-on" in shown
    assert "200 requests in 1 minute" in shown
    assert "200 in 1 minute for each key" in words(await (await signed_in(api, customer.account_id)).get("/billing"))
    account = await account_of(api, customer)
    assert (account.plan, account.custom_included, account.custom_extra_cents) == ("enterprise", 40_000, 8)
    assert await acts(api, customer) == [("account.plan_changed", operator.account_id)]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"plan": "gold"}, "There is no plan 'gold'"),
        ({"plan": "trial"}, "A trial is for new accounts only"),
        ({"plan": "enterprise"}, "needs included generations"),
        ({"plan": "growth", "included": "many"}, "must be a whole number"),
        ({"plan": "growth", "included": "99999999999"}, "must be a whole number"),
        ({"plan": "growth", "daily_cap": "-1"}, "must be a whole number"),
        ({"plan": "growth", "monthly_price": "much"}, "must be an amount"),
        ({"plan": "growth", "monthly_price": "NaN"}, "must be an amount"),
        ({"plan": "growth", "monthly_price": "1e99"}, "must be an amount"),
        ({"plan": "growth", "extra_price": "0.001"}, "must be an amount"),
        ({"plan": "growth", "requests": "20"}, "A request rate needs both numbers"),
        ({"plan": "growth", "requests": "20", "window_seconds": "0"}, "A request rate is 1 to"),
    ],
)
async def test_terms_that_make_no_sense_change_nothing(
    api: Api, operator: Browser, customer: Caller, fields: dict[str, str], sentence: str
) -> None:
    answer = await done(operator, customer, "plan", **fields)
    assert (answer.status_code, sentence in words(answer)) == (422, True), words(answer)
    assert (await account_of(api, customer)).plan == "starter"
    assert await acts(api, customer) == []


async def test_a_plan_that_was_refused_is_still_in_its_form(operator: Browser, customer: Caller) -> None:
    """Or the corrected number would be sent with the plan that the account has already."""
    fields = {"plan": "scale", "included": "4.000", "daily_cap": "12", "monthly_price": "9", "extra_price": "0.1"}
    fields |= {"requests": "7", "window_seconds": "8"}
    answer = await done(operator, customer, "plan", **fields)
    assert answer.status_code == 422
    assert '<option value="scale" selected>' in answer.text
    assert '<option value="starter" selected>' not in answer.text
    for name, value in fields.items():
        assert name == "plan" or field_of(answer, name) == value, name


@pytest.mark.parametrize(
    ("act", "fields", "at"),
    [
        ("block", {"reason": "Long <i>" + 200 * "x"}, "reason"),
        ("credit", {"generations": "7", "reason": "Paid <by> bank"}, "credit-reason"),
    ],
)
async def test_a_reason_is_still_there_when_it_was_refused(
    operator: Browser, customer: Caller, act: str, fields: dict[str, str], at: str
) -> None:
    answer = await done(operator, customer, act, **fields)
    assert answer.status_code == 422
    assert {each: field_of(answer, each) for each in ("reason", "credit-reason")} == {
        "reason": "",
        "credit-reason": "",
        at: fields["reason"],
    }


async def in_packs(api: Api, caller: Caller) -> int:
    usage = await api.parts.database.read(usage_of, PLANS, account_id=caller.account_id, now=datetime.now(UTC))
    return usage.topup_remaining


async def credited(operator: Browser, customer: Caller, pack: str, **fields: str) -> httpx.Response:
    return await done(operator, customer, "credit", pack=pack, reason="Paid by bank transfer", **fields)


async def test_a_pack_is_credited_with_a_reason(api: Api, operator: Browser, customer: Caller) -> None:
    shown = await operator.get(f"/admin/accounts/{customer.account_id}")
    answer = await credited(operator, customer, hidden(shown.text, "pack"), generations="50")
    assert "The pack is credited" in words(await operator.follow(answer))
    assert await in_packs(api, customer) == 50
    assert await acts(api, customer) == [("account.topped_up", operator.account_id)]


async def test_a_form_credits_one_pack_however_often_it_is_sent(api: Api, operator: Browser, customer: Caller) -> None:
    """Its answer may be lost."""
    pack = str(uuid.uuid4())
    answers = await asyncio.gather(*(credited(operator, customer, pack, generations="50") for _ in range(3)))
    assert [answer.status_code for answer in answers] == [303] * 3
    assert (await in_packs(api, customer), len(await acts(api, customer))) == (50, 1)
    other = await create_caller(api.parts.database, api.parts.digester)
    for who, size in ((customer, "250"), (other, "50")):
        assert (await credited(operator, who, pack, generations=size)).status_code == 422
    assert (await in_packs(api, customer), await in_packs(api, other)) == (50, 0)
    assert (await credited(operator, customer, str(uuid.uuid4()), generations="50")).status_code == 303
    assert await in_packs(api, customer) == 100


@pytest.mark.parametrize(
    "fields",
    [
        {"pack": NOBODYS_ID, "generations": "50"},
        {"pack": NOBODYS_ID, "generations": "7", "reason": "x"},
        {"pack": NOBODYS_ID, "reason": "x"},
        {"generations": "50", "reason": "x"},
    ],
)
async def test_a_pack_needs_a_size_a_reason_and_the_forms_own_id(
    api: Api, operator: Browser, customer: Caller, fields: dict[str, str]
) -> None:
    assert (await done(operator, customer, "credit", **fields)).status_code == 422
    assert await acts(api, customer) == []


async def test_an_owner_becomes_an_operator_and_no_longer_one(api: Api, operator: Browser) -> None:
    other = await create_caller(api.parts.database, api.parts.digester)
    owner = await signed_in(api, other.account_id)
    for wanted, status in (("yes", 200), ("no", 404)):
        await operator.follow(await done(operator, other, "operator", operator=wanted))
        assert (await owner.get("/admin")).status_code == 303, "a session does not gain or keep rights"
        owner = await signed_in(api, other.account_id)
        assert (await owner.get("/admin")).status_code == status
    assert await acts(api, other) == [
        ("operator.removed", operator.account_id),
        ("operator.added", operator.account_id),
    ]


async def test_nobody_shuts_themselves_out(api: Api, operator: Browser) -> None:
    path = f"/admin/accounts/{operator.account_id}"
    for act, fields in (("block", {"reason": "x"}), ("operator", {"operator": "no"})):
        answer = await operator.post(f"{path}/{act}", fields, page="/admin/system")
        assert (answer.status_code, "You cannot" in words(answer)) == (422, True)
    assert (await operator.get("/admin")).status_code == 200
    with api.parts.database.reading() as session:
        login = session.get_one(Login, operator.account_id)
    assert login.operator


async def test_an_erased_account_is_shown_and_left_alone(api: Api, operator: Browser) -> None:
    gone = await create_caller(api.parts.database, api.parts.digester)
    await api.parts.database.write(erasure.begin_erasure, account_id=gone.account_id, now=datetime.now(UTC))
    answer = await operator.get(f"/admin/accounts/{gone.account_id}")
    assert "what it stored is being deleted" in words(answer)
    assert "<form" not in answer.text.partition("<main")[2]
    for act in ("block", "unblock", "plan", "credit", "operator"):
        fields = {"reason": "x", "plan": "growth", "generations": "50", "operator": "yes"}
        answer = await operator.post(f"/admin/accounts/{gone.account_id}/{act}", fields, page="/admin/system")
        assert (answer.status_code, "was erased" in words(answer)) == (400, True)
