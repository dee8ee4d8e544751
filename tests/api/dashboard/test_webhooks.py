from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from domain import webhooks
from domain.mails import Letterhead
from domain.tables import WebhookDelivery, WebhookEndpoint
from domain.webhooks import Attempt
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, words

FORM = {"url": "https://shop.example/hook", "description": "Orders", "event_tryon.failed": "yes"}

SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")


async def created(browser: Browser) -> str:
    """Path of the page of a new endpoint."""
    answer = await browser.post("/webhooks", FORM)
    assert answer.status_code == 303, words(answer)
    return str(answer.headers["Location"]).removeprefix("/dashboard").partition("?")[0]


async def endpoints(api: Api) -> list[WebhookEndpoint]:
    return list(await api.parts.database.read(webhooks.list_endpoints, account_id=api.caller.account_id))


async def deliveries(api: Api) -> list[WebhookDelivery]:
    (endpoint,) = await endpoints(api)
    return list(await api.parts.database.read(webhooks.list_deliveries, endpoint_id=endpoint.id, limit=10))


async def test_an_endpoint_is_added_shown_with_its_secret_and_changed(api: Api, browser: Browser) -> None:
    assert "No endpoint yet" in words(await browser.get("/webhooks"))
    path = await created(browser)
    (made,) = await endpoints(api)
    shown = await browser.get(path)
    assert SECRET.findall(shown.text) == [made.secret]
    assert "https://shop.example/hook" in words(await browser.get("/webhooks"))
    changed = await browser.post(path, {"url": "https://shop.example/new", "event_volume.low": "yes"})
    assert changed.status_code == 303
    (made,) = await endpoints(api)
    assert (made.url, made.events, made.description) == ("https://shop.example/new", ["volume.low"], "")
    assert f'action="/dashboard{path}/rotate" data-once' in (await browser.get(path)).text
    await browser.post(f"{path}/rotate", page=path)
    assert made.secret not in (await browser.get(path)).text
    assert "Signs too until" in words(await browser.get(path))


async def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(api: Api, browser: Browser) -> None:
    answer = await browser.post("/webhooks", {"url": "http://shop.example/hook", "description": "Mine"})
    assert answer.status_code == 422
    assert "Must be a public https:// address on port 443" in words(answer)
    assert "Choose at least one event." in words(answer)
    assert 'value="Mine"' in answer.text
    assert await endpoints(api) == []
    path = await created(browser)
    assert (await browser.post(path, {"url": "https://10.0.0.1/", "event_volume.low": "yes"})).status_code == 422
    assert (await endpoints(api))[0].url == FORM["url"]


async def test_an_example_is_sent_and_what_came_of_it_is_shown(
    api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await created(browser)
    await browser.post(f"{path}/example", {"event": "tryon.failed"}, page=path)
    (delivery,) = await deliveries(api)
    attempt = Attempt(datetime.now(UTC).isoformat(), 42, 500, "The endpoint answered 500.", "<b>oops</b>")
    head = Letterhead("Fitting Room", "https://tryon.example")
    await api.parts.database.write(
        webhooks.record_attempt, head, delivery_id=delivery.id, attempt=attempt, now=datetime.now(UTC)
    )
    page = await browser.get(path)
    assert "The endpoint answered 500. 42 ms" in words(page)
    assert "&lt;b&gt;oops" in page.text
    assert "Attempts have failed since" in words(page)
    assert "Send again" not in words(page)  # it is still tried
    delivered = Attempt(**{**asdict(attempt), "status": 200, "fault": ""})
    await api.parts.database.write(
        webhooks.record_attempt, head, delivery_id=delivery.id, attempt=delivered, now=datetime.now(UTC)
    )
    await browser.post(f"/webhooks/deliveries/{delivery.id}/resend", page=path)
    assert {each.message_id for each in await deliveries(api)} == {delivery.message_id}
    assert len(await deliveries(api)) == 2
    monkeypatch.setattr("api.dashboard.webhooks.DELIVERIES_ON_A_PAGE", 1)
    link = re.search(r'rel="next" href="/dashboard([^"]+)"', (await browser.get(path)).text)
    assert link
    assert "The endpoint answered 500. 42 ms" in words(await browser.get(link[1]))


async def test_an_endpoint_is_switched_off_and_on_and_deleted(api: Api, browser: Browser) -> None:
    path = await created(browser)
    await browser.post(f"{path}/switch", {"to": "off"}, page=path)
    page = words(await browser.get(path))
    assert "You switched it off." in page
    assert "Send example" not in page
    await browser.post(f"{path}/switch", {"to": "on"}, page=path)
    assert (await endpoints(api))[0].enabled
    answer = await browser.post(f"{path}/delete", page=f"{path}/delete")
    assert "The endpoint is deleted." in words(await browser.follow(answer))
    assert await endpoints(api) == []
