"""The watermark on the page of settings: against a real CPU worker, but for the world with its logos."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import numpy as np
import pytest
from PIL import Image
from temporalio.client import Client

from domain.object_keys import logo_prefix
from domain.tables import Watermark
from domain.watermarks import find_watermark, save_watermark
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller
from tests.logos import LOGO_URL, ORANGE, OneLogo, logo_file
from worker_cpu.main import build_worker
from workflows.contracts import ObjectRef

PREVIEW = "/settings/watermark/preview.jpg"


@pytest.fixture
async def served(open_api: OpenApi, temporal: Client, database: Database) -> AsyncIterator[Api]:
    """An API whose workflows are carried out."""
    async with (
        open_api(client=temporal) as api,
        build_worker(TemporalGateway(temporal), database, api.store, OneLogo(), api.parts.settings),
    ):
        yield api


async def kept(api: Api) -> Watermark | None:
    return await api.parts.database.read(find_watermark, account_id=api.caller.account_id)


async def with_logo(api: Api, *, enabled: bool = False) -> None:
    """As if a logo had been fetched: a disc of 200 pixels."""
    key = f"{logo_prefix(str(api.caller.account_id))}disc.png"
    await api.store.put(key, logo_file(), "image/png")
    await api.parts.database.write(
        save_watermark,
        account_id=api.caller.account_id,
        logo_url=LOGO_URL,
        logo=ObjectRef.of("memory", key, logo_file(), "image/png").model_dump(mode="json", by_alias=True),
        enabled=enabled,
        now=datetime.now(UTC),
    )


async def set_it(browser: Browser, **fields: str) -> httpx.Response:
    return await browser.post("/settings/watermark", fields, page="/settings")


async def test_from_nothing_to_a_logo_and_back(served: Api) -> None:
    browser = await signed_in(served)
    page = await browser.follow(await set_it(browser, logo_url=f" {LOGO_URL} "))
    assert "not on results yet" in words(page)
    assert "on pictures up to 1,111 pixels wide" in words(page)
    watermark = await kept(served)
    assert watermark is not None
    assert (watermark.logo_url, watermark.enabled) == (LOGO_URL, False)
    for to, said in (("on", "carry your logo"), ("off", "no longer carry your logo")):
        answer = await browser.post("/settings/watermark/switch", {"to": to}, page="/settings")
        assert said in words(await browser.follow(answer))
        found = await kept(served)
        assert found is not None
        assert found.enabled is (to == "on")
    page = await browser.follow(await browser.post("/settings/watermark/remove", page="/settings"))
    assert "The logo is deleted" in words(page)
    assert await kept(served) is None
    assert await served.store.list_keys(logo_prefix(str(served.caller.account_id))) == []
    assert (await browser.get(PREVIEW)).status_code == 404


async def test_a_logo_can_be_on_at_once(served: Api) -> None:
    browser = await signed_in(served)
    page = await browser.follow(await set_it(browser, logo_url=LOGO_URL, enabled="yes"))
    assert "Results now carry your logo" in words(page)
    found = await kept(served)
    assert found is not None
    assert found.enabled


@pytest.mark.parametrize(("before", "sent"), [(False, {"enabled": "yes"}), (True, {})])
async def test_a_refused_form_comes_back_as_it_was_sent(api: Api, *, before: bool, sent: dict[str, str]) -> None:
    await with_logo(api, enabled=before)
    answer = await set_it(await signed_in(api), logo_url="http://shop.example/logo.png", **sent)
    assert answer.status_code >= 400
    assert ('name="enabled" value="yes" checked' in answer.text) is bool(sent)


async def test_a_logo_that_cannot_be_had_leaves_the_one_before(served: Api) -> None:
    await with_logo(served, enabled=True)
    browser = await signed_in(served)
    answer = await set_it(browser, logo_url="https://shop.example/other.png")
    assert answer.status_code == 422
    assert "could not be downloaded from its address. What was set before stays as it was." in words(answer)
    assert 'value="https://shop.example/other.png"' in answer.text
    found = await kept(served)
    assert found is not None
    assert (found.logo_url, found.enabled) == (LOGO_URL, True)


@pytest.mark.parametrize("url", ["", "http://shop.example/logo.png", "https://127.0.0.1/logo.png", "x" * 3000])
async def test_addresses_that_lead_nowhere_public_are_refused_before_anything_is_asked(
    api: Api, browser: Browser, url: str
) -> None:
    answer = await set_it(browser, logo_url=url)
    assert answer.status_code == 422
    assert "must be a public https:// address" in words(answer)
    assert await kept(api) is None


async def test_a_logo_that_takes_long_is_waited_for_no_longer(
    api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.dashboard.settings.FETCH_SECONDS", 0.5)
    page = await browser.follow(await set_it(browser, logo_url=LOGO_URL))
    assert "still being fetched" in words(page)
    again = await set_it(browser, logo_url=LOGO_URL)
    assert again.status_code == 409
    assert "Another logo is being fetched" in words(again)
    assert await kept(api) is None


async def test_without_temporal_the_page_says_so(open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr("api.dashboard.settings.FETCH_SECONDS", 2.0)
    settings = Settings()
    async with open_api(settings, await TemporalGateway.connect(settings.temporal, for_requests=True)) as api:
        answer = await set_it(await signed_in(api), logo_url=LOGO_URL)
    assert answer.status_code == 503
    assert "not available" in words(answer)


async def test_nothing_is_switched_on_that_is_not_there(api: Api, browser: Browser) -> None:
    answer = await browser.post("/settings/watermark/switch", {"to": "on"}, page="/settings")
    assert answer.status_code == 422
    assert "There is no logo yet" in words(answer)


@pytest.mark.parametrize("ground", ["light", "dark"])
async def test_the_preview_is_what_results_look_like(api: Api, browser: Browser, ground: str) -> None:
    await with_logo(api)
    answer = await browser.get(f"{PREVIEW}?ground={ground}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/jpeg")
    picture = np.asarray(Image.open(io.BytesIO(answer.content)))
    height, width = picture.shape[:2]
    images = api.parts.settings.images
    middle = round(width * (images.watermark_margin_share + images.watermark_width_share / 2))
    assert np.abs(picture[height - middle, width - middle].astype(int) - ORANGE).max() < 12
    assert np.abs(picture[height - middle, middle].astype(int) - ORANGE).max() > 60


async def test_grounds_that_are_not_there_are_refused(api: Api, browser: Browser) -> None:
    await with_logo(api)
    assert (await browser.get(f"{PREVIEW}?ground=paisley")).status_code == 400


async def test_the_logo_of_another_account_is_not_shown(api: Api, browser: Browser) -> None:
    await with_logo(api, enabled=True)
    other = await create_caller(api.parts.database, api.parts.digester)
    neighbour = await signed_in(api, other.account_id)
    assert (await neighbour.get(PREVIEW)).status_code == 404
    assert LOGO_URL not in (await neighbour.get("/settings")).text
    await neighbour.post("/settings/watermark/remove", page="/settings")
    assert await kept(api) is not None


async def test_the_page_is_there_without_the_logo(api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    await with_logo(api)

    async def away(*_: object) -> bytes:
        raise ObjectStoreUnavailableError("away")

    monkeypatch.setattr(api.store, "get", away)
    page = await browser.get("/settings")
    assert page.status_code == 200
    assert "pixels wide;" not in words(page)
    assert (await browser.get(PREVIEW)).status_code == 503

    async def never(*_: object) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(api.store, "get", never)
    monkeypatch.setattr("api.dashboard.settings.LOGO_SECONDS", 0.05)
    assert (await browser.get("/settings")).status_code == 200


async def test_a_damaged_logo_is_said_to_be_gone(api: Api, browser: Browser) -> None:
    await with_logo(api)
    [key] = await api.store.list_keys(logo_prefix(str(api.caller.account_id)))
    await api.store.put(key, b"no picture", "image/png")
    assert (await browser.get("/settings")).status_code == 200
    assert "Fetch it again" in words(await browser.get(PREVIEW))


async def test_a_logo_that_cannot_be_deleted_is_forgotten_all_the_same(
    api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_logo(api)

    async def away(*_: object) -> int:
        raise ObjectStoreUnavailableError("away")

    monkeypatch.setattr(api.store, "delete_prefix", away)
    answer = await browser.post("/settings/watermark/remove", page="/settings")
    assert answer.status_code == 303
    assert await kept(api) is None
