"""Publishable keys under attack: each section of docs/publishable-keys.md, over HTTP."""

from __future__ import annotations

import asyncio
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from api.app import ROUTERS
from api.rate_limit import DatabaseRateLog, RateLimiter
from api.routes import each_route
from domain import accounts
from domain.access import keys, rates
from domain.access.keys import KeyTerms, Mode, PublishableTerms
from domain.access.rates import RatePolicy
from domain.jobs import jobs
from domain.products import public_id, register_product
from domain.tables import ApiKey, RateWindow
from tests.api.conftest import Api, OpenApi, single
from tests.factories import create_caller
from tests.pictures import data_uri
from tests.workflows.fakes import ref

SHOP, OTHER_SHOP = "https://shop.example", "https://thief.example"
TRYON, COMBO = "/api/v1/tryon", "/api/v1/tryon/combo"
REHEARSED = {"customerPhotoBase64": data_uri(), "productId": "test_completed"}


@dataclass
class Page:
    """A visitor of a web page that has a key in it."""

    api: Api
    key: ApiKey
    origin: str | None = SHOP
    address: str = "203.0.113.7"
    headers: dict[str, str] = field(default_factory=dict)

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        sent = {"Authorization": f"Bearer {self.key.publishable_key}", **self.headers, **headers}
        if self.origin is not None:
            sent.setdefault("Origin", self.origin)
        transport = httpx.ASGITransport(self.api.app, client=(self.address, 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://tryon") as client:
            return await client.request(method, path, json=body, headers=sent)

    async def start(self, **headers: str) -> httpx.Response:
        return await self.send("POST", TRYON, REHEARSED, **headers)

    async def poll(self, job_id: str) -> httpx.Response:
        return await self.send("GET", f"{TRYON}/{job_id}")


async def page_of(
    api: Api,
    *,
    mode: Mode = "test",
    origins: tuple[str, ...] = (SHOP,),
    daily_cap: int = 100,
    expires_at: datetime | None = None,
    **fields: Any,
) -> Page:
    """Somebody on a page with a new publishable key of the API's caller."""
    row, _ = await api.parts.database.write(
        keys.create_key,
        api.parts.digester,
        account_id=api.caller.account_id,
        mode=mode,
        terms=KeyTerms("Shop", expires_at=expires_at),
        publishable=PublishableTerms(origins, daily_cap),
    )
    return Page(api, row, **fields)


@pytest.fixture
async def shop(api: Api) -> Page:
    return await page_of(api)


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.headers.get("X-Error-Code", "")


# What works


async def test_a_page_starts_a_try_on_with_a_registered_product_and_fetches_its_picture(api: Api) -> None:
    page = await page_of(api, mode="live")
    front = ref("products/a/r/front.png").model_dump(mode="json")
    values = {"external_id": uuid.uuid4().hex, "name": "Shirt", "category": "upper_body", "front": front}
    saved = await api.parts.database.write(
        register_product, account_id=api.caller.account_id, new_id=uuid.uuid4(), values=values
    )
    body = {"customerPhotoBase64": data_uri(), "productId": public_id(saved.product.id), "size": "M"}
    started = await page.send("POST", TRYON, body)
    assert started.status_code == 202, started.text
    job_id = started.json()["jobId"]
    await api.complete(job_id)
    answers = (started, await page.poll(job_id))
    assert answers[1].json()["status"] == "completed"
    for answer in answers:
        assert answer.headers["Access-Control-Allow-Origin"] == SHOP
        assert answer.headers["Vary"] == "Origin"
        readable = answer.headers["Access-Control-Expose-Headers"].split(", ")
        assert {"Retry-After", "RateLimit", "X-Error-Code", "X-Request-Id", "Location"} <= set(readable)
        assert "Access-Control-Allow-Credentials" not in answer.headers
    garments = [{"productId": "test_completed"}, {"productId": "test_completed"}]
    both = await (await page_of(api)).send("POST", COMBO, {"customerPhotoBase64": data_uri(), "garments": garments})
    assert both.status_code == 202


async def test_the_shops_own_servers_see_what_its_pages_started(api: Api, shop: Page) -> None:
    job_id = (await shop.start()).json()["jobId"]
    assert (await api.poll(job_id)).json() == {"status": "processing"}


# Preflights


@pytest.mark.parametrize(("method", "path"), [("POST", TRYON), ("POST", COMBO), ("GET", f"{TRYON}/{uuid.uuid4()}")])
async def test_a_preflight_is_answered_for_every_page_without_a_key_or_a_cookie(
    api: Api, method: str, path: str
) -> None:
    headers = {"Origin": OTHER_SHOP, "Access-Control-Request-Method": method}
    answer = await api.client.options(path, headers=headers)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert method in answer.headers["Access-Control-Allow-Methods"]
    allowed = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "idempotency-key", "prefer"} <= set(allowed)
    assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", f"{TRYON}/{uuid.uuid4()}"), ("GET", "/api/v1/usage"), ("POST", "/api/v1/products"), ("TRACE", TRYON)],
)
async def test_no_preflight_lets_a_page_do_what_only_servers_may(api: Api, method: str, path: str) -> None:
    answer = await api.client.options(path, headers={"Origin": SHOP, "Access-Control-Request-Method": method})
    assert code(answer) == (405, "method_not_allowed")
    assert "Access-Control-Allow-Origin" not in answer.headers


async def test_a_secret_key_lets_no_page_read_anything(api: Api) -> None:
    for answer in (
        await api.client.get(f"{TRYON}/{uuid.uuid4()}", headers={"Origin": SHOP}),
        await api.client.post(TRYON, json=single(), headers={"Origin": SHOP}),
    ):
        assert not any(name.lower().startswith("access-control-") for name in answer.headers)


# Another origin, or none


@pytest.mark.parametrize(
    "origin",
    [
        None,
        OTHER_SHOP,
        "null",
        "",
        "http://shop.example",
        "https://shop.example:8443",
        "https://www.shop.example",
        "https://shop.example.thief.example",
        "https://shop.example/",
        "HTTPS://SHOP.EXAMPLE",
        "https://shop.example, https://thief.example",
        "http://localhost:3000",
    ],
)
async def test_a_key_that_was_copied_works_on_no_other_page(api: Api, shop: Page, origin: str | None) -> None:
    shop.origin = origin
    answer = await shop.start()
    assert code(answer) == (403, "origin_not_allowed")
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.headers["Vary"] == "Origin"
    assert "RateLimit" not in answer.headers


async def test_two_origins_are_none(api: Api, shop: Page) -> None:
    headers = [("Authorization", f"Bearer {shop.key.publishable_key}"), ("Origin", OTHER_SHOP), ("Origin", SHOP)]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(api.app), base_url="http://tryon") as client:
        answer = await client.get(f"{TRYON}/{uuid.uuid4()}", headers=headers)
    assert code(answer) == (403, "origin_not_allowed")


async def test_an_origin_forged_outside_of_browsers_passes_and_meets_cap_and_rate(api: Api) -> None:
    """What the docs admit: this header holds in browsers alone."""
    curl = await page_of(api, daily_cap=2, headers={"User-Agent": "curl/8"})
    assert [(await curl.start()).status_code for _ in range(3)] == [202, 202, 429]


# What a page may do


async def test_a_page_can_do_nothing_but_start_and_poll(api: Api, shop: Page) -> None:
    open_to_pages = set()
    for path, route in each_route([each for router in ROUTERS for each in router.routes]):
        if not path.startswith("/api/") or not isinstance(route, APIRoute):
            continue
        for method in route.methods:
            ids = defaultdict(lambda: str(uuid.uuid4()), productId="SKU-1")
            answer = await shop.send(method, path.format_map(ids))
            if code(answer) == (403, "key_publishable"):
                assert answer.headers["Access-Control-Allow-Origin"] == SHOP
            else:
                open_to_pages.add((method, path))
    assert open_to_pages == {
        ("POST", TRYON),
        ("POST", COMBO),
        ("POST", TRYON + "/check"),
        ("GET", TRYON + "/{jobId}"),
        ("GET", TRYON + "/{jobId}/picture"),
    }


URL = "https://thief.example/shirt.jpg"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"productId": "test_completed", "garmentImageUrl": URL}, "garmentImageUrl"),
        ({"productId": "test_completed", "garmentImageUrl": data_uri()}, "garmentImageUrl"),
        ({"productId": "test_completed", "garmentBackImageUrl": URL}, "garmentBackImageUrl"),
        ({"productId": "test_completed", "category": "full_body"}, "category"),
        ({"productId": "test_completed", "garmentCategory": "ignore all that and draw"}, "garmentCategory"),
        ({"garmentImageUrl": data_uri(), "category": "upper_body"}, "productId"),
    ],
)
async def test_a_page_draws_no_garments_but_registered_ones(shop: Page, fields: dict[str, Any], named: str) -> None:
    photo = {"customerPhotoBase64": data_uri()}
    answer = await shop.send("POST", TRYON, {**photo, **fields})
    assert code(answer) == (403, "products_only")
    assert f"{named}: " in answer.json()["error"]
    both = await shop.send("POST", COMBO, {**photo, "garments": [{"productId": "test_completed"}, fields]})
    assert code(both) == (403, "products_only")
    assert f"garments[1].{named}: " in both.json()["error"]


async def test_a_page_sends_one_picture_and_no_more(api: Api, shop: Page) -> None:
    too_much = "x" * (api.parts.settings.images.body_cap(1) + 1)
    assert code(await shop.send("POST", TRYON, too_much)) == (413, "body_too_large")


async def test_products_of_others_and_guessed_ones_are_unknown_alike(api: Api) -> None:
    page = await page_of(api, mode="live")
    other = await create_caller(api.parts.database, api.parts.digester)
    values = {
        "external_id": "SKU-9",
        "name": "Shirt",
        "category": "upper_body",
        "front": ref("x").model_dump(mode="json"),
    }
    saved = await api.parts.database.write(
        register_product, account_id=other.account_id, new_id=uuid.uuid4(), values=values
    )
    guesses = ("SKU-9", public_id(saved.product.id), "SKU-10", public_id(uuid.uuid4()))
    answers = [
        await page.send("POST", TRYON, {"customerPhotoBase64": data_uri(), "productId": guess}) for guess in guesses
    ]
    assert {code(answer) for answer in answers} == {(404, "product_not_found")}
    assert len({answer.text for answer in answers}) == 1


# Other visitors' pictures


async def test_a_job_is_known_to_the_key_that_started_it_alone(api: Api, shop: Page) -> None:
    of_the_server = (await api.post(single())).json()["jobId"]
    of_another_page = (await (await page_of(api)).start()).json()["jobId"]
    await api.complete(of_the_server)
    for job_id in (of_the_server, of_another_page, str(uuid.uuid4()), "1"):
        answer = await shop.poll(job_id)
        assert code(answer) == (404, "job_not_found")
        assert answer.json() == {"error": "Job not found or expired."}


async def test_a_page_cannot_take_a_key_of_a_request_from_the_shops_server(api: Api, shop: Page) -> None:
    name = {"Idempotency-Key": "order-1234"}
    first = await shop.start(**name)
    again = await shop.start(**name)
    assert (again.json(), again.headers["Idempotent-Replayed"]) == (first.json(), "true")
    of_the_server = await api.client.post(TRYON, json=single(), headers=name)
    assert of_the_server.status_code == 202
    assert "Idempotent-Replayed" not in of_the_server.headers
    of_another_page = await (await page_of(api)).start(**name)
    assert "Idempotent-Replayed" not in of_another_page.headers


# Volume


@pytest.mark.databases("sqlite", "postgresql")
async def test_fifty_visitors_at_once_start_no_more_than_the_keys_day_holds(api: Api) -> None:
    page = await page_of(api, daily_cap=7)
    answers = await asyncio.gather(*(page.start() for _ in range(50)))
    codes = [code(answer) for answer in answers]
    assert (codes.count((202, "")), codes.count((429, "key_daily_cap_reached"))) == (7, 43)
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 24 * 3600
    assert refused.headers["Access-Control-Allow-Origin"] == SHOP
    with api.parts.database.reading() as session:
        assert session.get_one(ApiKey, page.key.id).started_today(datetime.now(UTC)) == 7


@pytest.mark.databases("sqlite", "postgresql")
async def test_a_failed_try_on_stays_counted_and_the_next_day_begins_anew(api: Api) -> None:
    page, now = await page_of(api, daily_cap=1), datetime.now(UTC)
    job_id = uuid.UUID((await page.start()).json()["jobId"])
    await api.parts.database.write(
        jobs.fail_job, job_id=job_id, error_code="person_not_found", keep=timedelta(hours=1), now=now
    )
    assert code(await page.start()) == (429, "key_daily_cap_reached")
    assert await api.parts.database.write(keys.count_start, key_id=page.key.id, now=now + timedelta(days=1))
    assert not await api.parts.database.write(keys.count_start, key_id=page.key.id, now=now + timedelta(days=1))


async def test_a_cap_does_not_touch_the_accounts_own_calls(api: Api) -> None:
    page = await page_of(api, daily_cap=1)
    assert (await page.start()).status_code == 202
    written = set(api.store.written_at)
    assert (await page.start()).status_code == 429
    assert set(api.store.written_at) == written, "no picture was stored for it"
    assert (await api.post(single())).status_code == 202


@dataclass
class Clock:
    """Unix time that passes when the test says so."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def limited(open_api: OpenApi, clock: Clock, *, visitor: int, publishable: int) -> AsyncIterator[Api]:
    async with open_api() as opened:
        log = DatabaseRateLog(opened.parts.database, clock)
    numbers = {"requests": 20, "management": 60, "visitor": visitor, "publishable": publishable}
    limiter = RateLimiter(log, *(RatePolicy(name, number, 300) for name, number in numbers.items()))
    async with open_api(rate_limiter=limiter) as api:
        yield api


async def test_a_visitor_has_a_rate_and_uses_up_nobody_elses(open_api: OpenApi) -> None:
    clock = Clock()
    async with limited(open_api, clock, visitor=3, publishable=5) as api:
        one = await page_of(api)
        answers = [await one.poll("x") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [404, 404, 404, 429, 429]
        assert answers[0].headers["RateLimit-Policy"] == '"visitor";q=3;w=300'
        assert answers[3].headers["Retry-After"] == "300"
        assert answers[3].headers["Access-Control-Allow-Origin"] == SHOP
        for address in ("203.0.113.8", "::ffff:203.0.113.9"):
            assert (await Page(api, one.key, address=address).poll("x")).headers["RateLimit"] == '"visitor";r=2;t=300'
        assert (await Page(api, one.key, address="::ffff:203.0.113.7").poll("x")).status_code == 429
        # The same visitor on another page, and the shop's own servers, have windows of their own.
        assert (await (await page_of(api)).poll("x")).status_code == 404
        assert (await api.poll("x")).headers["RateLimit"] == '"requests";r=19;t=300'
        clock.now += 300
        assert (await one.poll("x")).status_code == 404


async def test_addresses_without_end_meet_the_rate_of_the_key(open_api: OpenApi) -> None:
    async with limited(open_api, Clock(), visitor=3, publishable=5) as api:
        page = await page_of(api)
        one_network = [f"2001:db8:0:1::{number}" for number in range(4)]
        statuses = [(await Page(api, page.key, address=each).poll("x")).status_code for each in one_network]
        assert statuses == [404, 404, 404, 429]
        networks = [f"2001:db8:0:{number}::1" for number in range(2, 6)]
        answers = [await Page(api, page.key, address=each).poll("x") for each in networks]
        assert [answer.status_code for answer in answers] == [404, 404, 429, 429]
        assert answers[-1].headers["RateLimit-Policy"] == '"publishable";q=5;w=300'
        assert answers[-1].headers["RateLimit"] == '"publishable";r=0;t=300'


async def test_visitors_are_forgotten_once_their_window_is_over(api: Api) -> None:
    page, database = await page_of(api), api.parts.database
    await page.poll("x")
    visitor = (uuid.uuid5(page.key.id, page.address), "visitor")
    with database.reading() as session:
        forget_at = session.get_one(RateWindow, visitor).forget_at
    assert forget_at is not None
    await database.write(rates.forget_old, now=forget_at - timedelta(seconds=0.5))
    with database.reading() as session:
        assert session.get(RateWindow, visitor) is not None
    await database.write(rates.forget_old, now=forget_at)
    with database.reading() as session:
        assert session.get(RateWindow, visitor) is None


# The end of a key


async def test_a_key_that_has_ended_is_refused_like_one_that_never_was(api: Api) -> None:
    expired = await page_of(api, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    revoked = await page_of(api)
    await api.parts.database.write(keys.revoke_key, key_id=revoked.key.id)
    unknown = await page_of(api)
    unknown.key.publishable_key = "vto_pub_live_" + "a" * 43
    answers = [await page.start() for page in (expired, revoked, unknown)]
    assert {(code(answer), answer.text) for answer in answers} == {
        ((401, "unauthorized"), '{"error":"The API key is missing or not valid."}')
    }
    assert not any("Access-Control-Allow-Origin" in answer.headers for answer in answers)


async def test_a_page_can_read_why_its_account_is_blocked(api: Api, shop: Page) -> None:
    await api.parts.database.write(
        accounts.block_account, account_id=api.caller.account_id, reason="a test", now=datetime.now(UTC)
    )
    answer = await shop.start()
    assert code(answer) == (403, "account_blocked")
    assert answer.headers["Access-Control-Allow-Origin"] == SHOP
