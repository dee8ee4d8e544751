"""One account's owner visits every address of the dashboard with another account's ids."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from api.cursor import cursor_after
from api.routes import PAGES
from domain.access.keys import create_key
from domain.object_keys import backfill_key, import_plan_key, logo_key, own_backfills_prefix
from domain.products import ACTIVE, new_registration_id, public_id
from domain.tables import (
    Account,
    ApiKey,
    Job,
    LoginSession,
    Payment,
    Product,
    Watermark,
    WebhookDelivery,
    WebhookEndpoint,
)
from intake.pages import ImportPlan
from tests.account_rows import FullAccount, full_account, rows_that_hold
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, signed_in
from tests.api.dashboard.routes import all_routes
from tests.pictures import encoded
from workflows.contracts import ObjectRef

NO_IDS = {"name": "clients", "side": "front", "kind": "pictures", "picture": "0" * 32, "ending": "jpg"}
"""What stands in an address and is nobody's."""

ENDS_A_SESSION = ("/log-out", "/settings/sessions/end-others")

_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass
class Victim:
    """An account with something of everything, and what it is called by.

    Attributes:
        ids: By the name of an address's parameter.
        marks: Texts that nobody else may be shown.
    """

    full: FullAccount
    ids: dict[str, list[str]]
    marks: list[str]
    cursor: str

    @property
    def account_id(self) -> uuid.UUID:
        return self.full.caller.account_id

    async def stored(self, api: Api) -> tuple[dict[str, list[dict[str, Any]]], dict[str, tuple[bytes, str]]]:
        """Every row that tells of the account, and every object with its word or its id."""
        needles = (self.full.word, *(each for ids in self.ids.values() for each in ids), *self.marks)
        rows = await rows_that_hold(api.parts.database, *needles)
        owned = (self.full.word, str(self.account_id), *self.ids["jobId"])
        return rows, {key: value for key, value in api.store.objects.items() if any(each in key for each in owned)}


@pytest.fixture
async def victim(api: Api) -> Victim:
    database, digester = api.parts.database, api.parts.digester
    full = await full_account(database, digester, api.store, api.caller)
    account_id, import_id = full.caller.account_id, new_registration_id()
    plan = ImportPlan(name=f"{full.word}.csv", created_at=datetime.now(UTC), rows=0)
    await api.store.put(import_plan_key(str(account_id), import_id), plan.model_dump_json().encode(), "text/plain")
    with database.transaction() as session:
        create_key(session, digester, account_id=account_id, mode="live")
        product = session.scalars(select(Product).where(Product.account_id == account_id)).one()
        product.status = ACTIVE
        await api.store.put(product.front["key"], encoded(), "image/jpeg")
        watermark = session.get_one(Watermark, account_id)
        logo = ObjectRef.of(api.store.bucket, logo_key(str(account_id), "0" * 64), encoded(), "image/jpeg")
        watermark.logo = logo.model_dump(mode="json", by_alias=True)
        await api.store.put(logo.key, encoded(), "image/jpeg")
        keys = session.scalars(select(ApiKey).where(ApiKey.account_id == account_id)).all()
        payments = session.scalars(select(Payment).where(Payment.account_id == account_id)).all()
        login = session.scalars(select(LoginSession).where(LoginSession.account_id == account_id)).one()
        job = session.get_one(Job, full.job_ids[0])
        account = session.get_one(Account, account_id)
        hook = session.scalars(select(WebhookEndpoint).where(WebhookEndpoint.account_id == account_id)).one()
        delivery = session.scalars(select(WebhookDelivery).where(WebhookDelivery.account_id == account_id)).one()
    comparison = f"compare-{full.word}"
    await api.store.put(own_backfills_prefix(str(account_id)) + comparison, b"", "text/plain")
    await api.store.put(backfill_key(comparison, "manifest.jsonl"), b"", "text/plain")
    ids = {
        "jobId": [str(each) for each in full.job_ids],
        "productId": [public_id(product.id)],
        "keyId": [str(key.id) for key in keys],
        "paymentId": [str(payment.id) for payment in payments],
        "sessionId": [str(login.id)],
        "importId": [import_id],
        "webhookId": [str(hook.id)],
        "deliveryId": [str(delivery.id)],
        "comparisonId": [comparison],
        "accountId": [str(account_id)],
    }
    key_ends = [f"{key.prefix}…{key.last_four}" for key in keys]
    return Victim(full, ids, [full.word, account.email, str(account_id), *key_ends], cursor_after(job))


def strangers_id(name: str) -> str:
    """An id of the kind that such a parameter takes, which never was."""
    return {
        "productId": public_id(uuid.uuid4()),
        "importId": new_registration_id(),
        "comparisonId": "compare-none",
    }.get(name, str(uuid.uuid4()))


def with_ids(method: str) -> list[tuple[str, str]]:
    """Addresses that name something, and the name of the parameter that does."""
    found = []
    for each, path in all_routes():
        names = [name for name in _PARAMETER.findall(path) if name not in NO_IDS]
        assert len(names) <= 1, path
        if each == method and names:
            found.append((path, names[0]))
    return found


def filled(path: str, name: str, value: str) -> str:
    return _PARAMETER.sub(lambda found: value if found[1] == name else NO_IDS[found[1]], path)


def fields_with(victim: Victim | None, word: str) -> dict[str, str]:
    """Every field of every form that has to be right for something to happen, with another's ids, or nobody's."""

    def of(name: str) -> str:
        return victim.ids[name][0] if victim else strangers_id(name)

    return {
        "personSource": "sample",
        "run_key": "one",
        "garments[0].source": "product",
        "garments[0].productId": of("productId"),
        "garments[0].category": "upper_body",
        "name": word,
        "category": "upper_body",
        "removeBack": "1",
        "result_ttl": "service",
        "reason": word,
        "note": word,
        "plan": "growth",
        "generations": "50",
        "operator": "yes",
        "to": "off",
    }


async def send(browser: Browser, method: str, path: str, fields: dict[str, str] | None = None) -> httpx.Response:
    """As a script would have it done: with the browser's own token."""
    if method == "GET":
        return await browser.get(path)
    if not browser.extra.get("X-Form-Token"):
        shown = await browser.get("/keys")
        found = re.search(r'name="form_token" value="([^"]+)"', shown.text)
        assert found, shown.text
        browser.extra["X-Form-Token"] = found[1]
    return await browser.client.post(
        f"{PAGES}{path}", data=fields or {}, headers={"Sec-Fetch-Site": "same-origin", **browser.extra}
    )


def without(answer: httpx.Response, *ids: str) -> tuple[int, str, str]:
    """What was answered, with ids that were sent taken out."""
    texts = [answer.headers.get("Location", ""), answer.text]
    for each in ids:
        texts = [text.replace(each, "(id)") for text in texts]
    return answer.status_code, texts[0], texts[1]


def assert_tells_nothing(answer: httpx.Response, marks: Sequence[str]) -> None:
    told = [mark for mark in marks if mark in answer.text or mark in str(answer.headers)]
    assert not told, (answer.request.url, told)


def test_every_parameter_of_an_address_is_known_here(victim: Victim) -> None:
    names = {name for _, path in all_routes() for name in _PARAMETER.findall(path)}
    assert names == {*victim.ids, *NO_IDS}


async def test_addresses_with_anothers_ids_lead_nowhere(api: Api, browser: Browser, victim: Victim) -> None:
    before = await victim.stored(api)
    for method in ("GET", "POST"):
        for path, name in with_ids(method):
            nobodys = strangers_id(name)
            unknown = await send(browser, method, filled(path, name, nobodys), fields_with(None, "mine"))
            for value in victim.ids[name]:
                answer = await send(browser, method, filled(path, name, value), fields_with(victim, "mine"))
                assert answer.status_code in (303, 403, 404), (method, path, answer.status_code)
                assert without(answer, value) == without(unknown, nobodys), (method, path)
                assert_tells_nothing(answer, [mark for mark in victim.marks if mark != value])
    assert await victim.stored(api) == before


async def test_pages_without_ids_show_nothing_of_others(api: Api, browser: Browser, victim: Victim) -> None:
    before = await victim.stored(api)
    job, product = victim.ids["jobId"][0], victim.ids["productId"][0]
    queries = ["", f"?job={job}", f"?productId={product}", f"?before={victim.cursor}", f"?after={victim.cursor}"]
    for method, path in all_routes():
        if method == "GET" and not _PARAMETER.search(path):
            for query in queries:
                assert_tells_nothing(await browser.get(path + query), victim.marks)
    assert await victim.stored(api) == before


async def test_forms_with_anothers_ids_change_nothing_of_theirs(api: Api, victim: Victim) -> None:
    before = await victim.stored(api)
    for method, path in all_routes():
        if method != "POST" or _PARAMETER.search(path):
            continue
        browser = await signed_in(api)
        fields = {**fields_with(victim, "mine"), "order": victim.ids["paymentId"][0]}
        answer = await send(browser, "POST", path, fields)
        assert answer.status_code < 500, (path, answer.status_code)
        assert_tells_nothing(answer, victim.marks)
        await browser.client.aclose()
    assert await victim.stored(api) == before


async def test_anothers_product_is_as_unknown_to_the_playground_as_one_that_never_was(
    browser: Browser, victim: Victim
) -> None:
    theirs, nobodys = fields_with(victim, ""), fields_with(None, "")
    sent = "garments[0].productId"
    answer = await send(browser, "POST", "/playground/run", theirs)
    unknown = await send(browser, "POST", "/playground/run", nobodys)
    assert answer.status_code == 404
    assert without(answer, theirs[sent]) == without(unknown, nobodys[sent])


async def test_the_owner_gets_all_of_it(api: Api, victim: Victim) -> None:
    """Or the tests above would find nothing because there is nothing."""
    owner = await signed_in(api, victim.account_id)
    for method in ("GET", "POST"):
        for path, name in with_ids(method):
            if path.startswith("/admin"):
                continue
            statuses = []
            for value in victim.ids[name]:
                statuses.append((await send(owner, method, filled(path, name, value))).status_code)
                if statuses[-1] in (200, 303, 422):
                    break
            assert statuses[-1] in (200, 303, 422), (method, path, statuses)
    shown = [await owner.get(path) for path in ("/products?status=all", "/settings", "/products/import")]
    assert all(victim.full.word in answer.text for answer in shown)
    await owner.client.aclose()
