from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, time, timedelta

import httpx
import pytest

from domain.access import keys
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller

KEY = re.compile(r"vto_(?:pub_)?(?:live|test)_[A-Za-z0-9_-]{43}")

MAY_ALL = {f"scope_{scope}": "yes" for scope in keys.SCOPES}

PAGE_KEY = {
    "page_name": "Shop",
    "page_mode": "live",
    "origins": "https://Shop.example/\r\nhttp://localhost:3000",
    "daily_cap": "40",
}


def secret(mode: str = "live", **fields: str) -> dict[str, str]:
    """A good form for a secret key."""
    return {"name": "Server", "mode": mode, **MAY_ALL, **fields}


def key_in(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    (key,) = set(KEY.findall(answer.text))
    return key


async def created(browser: Browser, mode: str = "live") -> str:
    return key_in(await browser.post("/keys", secret(mode)))


async def key_ids(api: Api) -> list[uuid.UUID]:
    found = await api.parts.database.read(keys.list_keys, account_id=api.caller.account_id)
    return [key.id for key in found if key.revoked_at is None]


async def status_with(api: Api, key: str) -> int:
    answer = await api.client.get(f"/api/v1/tryon/{uuid.uuid4()}", headers={"Authorization": f"Bearer {key}"})
    return answer.status_code


@pytest.mark.parametrize("mode", ["live", "test"])
async def test_a_new_key_works_and_is_shown_once(api: Api, browser: Browser, mode: str) -> None:
    answer = await browser.post("/keys", secret(mode))
    key = key_in(answer)
    assert key.startswith(f"vto_{mode}_")
    assert "will not be shown again" in words(answer)
    assert answer.headers["Cache-Control"] == "no-store"
    assert await status_with(api, key) == 404
    listed = await browser.get("/keys")
    assert KEY.search(listed.text) is None
    assert f"{key[:13]}…{key[-4:]}" in words(listed)


async def test_the_list_tells_the_last_use(api: Api, browser: Browser) -> None:
    assert "Never used" in words(await browser.get("/keys"))
    await status_with(api, api.caller.key)
    assert "Never used" not in words(await browser.get("/keys"))


@pytest.mark.parametrize("mode", ["", "master"])
async def test_a_kind_that_there_is_not_makes_nothing(api: Api, browser: Browser, mode: str) -> None:
    answer = await browser.post("/keys", secret(mode))
    assert (answer.status_code, "Choose live or test" in words(answer)) == (422, True)
    assert await key_ids(api) == [api.caller.key_id]


async def test_there_is_an_end_to_keys_in_use(api: Api, browser: Browser) -> None:
    for _ in range(keys.MOST_IN_USE - 1):
        await created(browser)
    answer = await browser.post("/keys", secret())
    assert (answer.status_code, "20 keys in use" in words(answer)) == (422, True)
    assert len(await key_ids(api)) == keys.MOST_IN_USE
    await browser.post(f"/keys/{api.caller.key_id}/revoke", page=f"/keys/{api.caller.key_id}/revoke")
    await created(browser)


async def test_a_key_is_revoked_after_a_question(api: Api, browser: Browser) -> None:
    path = f"/keys/{api.caller.key_id}/revoke"
    assert "cannot be undone" in words(await browser.get(path))
    assert await status_with(api, api.caller.key) == 404
    shown = words(await browser.follow(await browser.post(path)))
    assert "The key is revoked" in shown
    assert "Revoked" in shown
    assert await status_with(api, api.caller.key) == 401
    again = await browser.get(path)
    assert (again.status_code, "already revoked" in words(again)) == (400, True)


async def test_a_key_is_replaced_by_one_of_its_kind(api: Api, browser: Browser) -> None:
    old = await created(browser, "test")
    (old_id,) = [key_id for key_id in await key_ids(api) if key_id != api.caller.key_id]
    path = f"/keys/{old_id}/replace"
    answer = await browser.post(path)
    new = key_in(answer)
    assert new.startswith("vto_test_")
    assert f"{old[:13]}…{old[-4:]} is revoked" in words(answer)
    assert (await status_with(api, old), await status_with(api, new)) == (401, 404)
    assert (await browser.post(path, page="/keys")).status_code == 404


async def test_an_old_key_works_on_for_as_long_as_was_asked(api: Api, browser: Browser) -> None:
    path = f"/keys/{api.caller.key_id}/replace"
    assert (await browser.post(path, {"overlap": "1 year"})).status_code == 422
    answer = await browser.post(path, {"overlap": "24h"})
    new = key_in(answer)
    assert "works until" in words(answer)
    assert (await status_with(api, api.caller.key), await status_with(api, new)) == (404, 404)
    listed = words(await browser.get("/keys"))
    assert "Replaced; works until" in listed
    again = await browser.get(path)
    assert (again.status_code, "already replaced" in words(again)) == (400, True)
    assert (await browser.post(path, {"overlap": "7d"}, page="/keys")).status_code == 404


async def test_an_overlap_needs_room_for_one_more_key(api: Api, browser: Browser) -> None:
    for _ in range(keys.MOST_IN_USE - 1):
        await created(browser)
    path = f"/keys/{api.caller.key_id}/replace"
    refused = await browser.post(path, {"overlap": "1h"})
    assert (refused.status_code, "20 keys in use" in words(refused)) == (422, True)
    assert KEY.search(refused.text) is None
    key_in(await browser.post(path, {"overlap": "none"}))
    assert len(await key_ids(api)) == keys.MOST_IN_USE


async def test_a_key_may_what_was_ticked_until_the_day_that_was_chosen(api: Api, browser: Browser) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date()
    form = {"name": "Catalogue", "mode": "live", "scope_products": "yes", "expires": tomorrow.isoformat()}
    key = key_in(await browser.post("/keys", form))
    assert await status_with(api, key) == 403
    products = await api.client.get("/api/v1/products", headers={"Authorization": f"Bearer {key}"})
    assert products.status_code == 200
    (row, _) = await api.parts.database.read(keys.list_keys, account_id=api.caller.account_id)
    assert row.expires_at == datetime.combine(tomorrow + timedelta(days=1), time(), UTC)
    listed = words(await browser.get("/keys"))
    assert "Catalogue" in listed
    assert "Register, change, archive and list products" in listed
    assert f"Key ending in {api.caller.key[-4:]}" in listed


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "Give the key a name"),
        ({"name": "x" * 61}, "Give the key a name"),
        (dict.fromkeys(MAY_ALL, ""), ""),
        ({"expires": "2020-01-01"}, "Choose today or a later day"),
        ({"expires": "9999-12-31"}, "Choose today or a later day"),
        ({"expires": "soon"}, "Choose today or a later day"),
    ],
)
async def test_a_form_that_is_not_right_makes_no_secret_key(
    api: Api, browser: Browser, fields: dict[str, str], said: str
) -> None:
    form = secret(**fields)
    if not said:
        form, said = {name: form[name] for name in ("name", "mode")}, "Choose at least one"
    answer = await browser.post("/keys", form)
    assert (answer.status_code, said in words(answer)) == (422, True)
    assert await key_ids(api) == [api.caller.key_id]


async def test_a_publishable_key_is_shown_whenever_its_owner_likes_and_can_be_changed(
    api: Api, browser: Browser
) -> None:
    answer = await browser.post("/keys/publishable", PAGE_KEY, page="/keys")
    key = key_in(answer)
    assert key.startswith("vto_pub_live_")
    assert "is no secret" in words(answer)
    (row, _) = await api.parts.database.read(keys.list_keys, account_id=api.caller.account_id)
    assert (row.origins, row.daily_cap, row.scopes) == (
        ["https://shop.example", "http://localhost:3000"],
        40,
        ["tryons"],
    )
    path = f"/keys/{row.id}"
    assert key_in(await browser.get(path)) == key
    refused = await browser.post(path, {"name": "Shop", "origins": "https://*.shop.example", "daily_cap": "0"})
    assert (refused.status_code, "is not an origin" in words(refused)) == (422, True)
    assert "whole number from 1" in words(refused)
    form = {"name": "New shop", "origins": "https://new.example", "daily_cap": "1,000"}
    assert "The key is changed" in words(await browser.follow(await browser.post(path, form)))
    (row, _) = await api.parts.database.read(keys.list_keys, account_id=api.caller.account_id)
    assert (row.title, row.origins, row.daily_cap) == ("New shop", ["https://new.example"], 1000)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"origins": ""}, "Name 1 to 20 origins"),
        ({"origins": "\n".join(f"https://{number}.shop.example" for number in range(21))}, "Name 1 to 20 origins"),
        ({"origins": "http://shop.example"}, "is not an origin"),
        ({"daily_cap": "many"}, "whole number from 1"),
        ({"page_name": ""}, "Give the key a name"),
        ({"page_mode": "master"}, "Choose live or test"),
    ],
)
async def test_a_form_that_is_not_right_makes_no_publishable_key(
    api: Api, browser: Browser, fields: dict[str, str], said: str
) -> None:
    answer = await browser.post("/keys/publishable", {**PAGE_KEY, **fields}, page="/keys")
    assert (answer.status_code, said in words(answer)) == (422, True)
    assert await key_ids(api) == [api.caller.key_id]


@pytest.mark.parametrize("act", ["revoke", "replace", ""])
async def test_the_key_of_another_account_is_unknown(api: Api, browser: Browser, act: str) -> None:
    other = await create_caller(api.parts.database, api.parts.digester)
    for key_id in (other.key_id, uuid.uuid4(), "x"):
        path = f"/keys/{key_id}/{act}".removesuffix("/")
        asked = await browser.get(path)
        answer = await browser.post(path, {"name": "Mine"}, page="/keys")
        assert (asked.status_code, answer.status_code) == (404, 404)
    assert await status_with(api, other.key) == 404
    neighbour = await signed_in(api, other.account_id)
    assert api.caller.key[-4:] not in words(await neighbour.get("/keys"))


async def test_a_key_stays_out_of_the_log(browser: Browser, capsys: pytest.CaptureFixture[str]) -> None:
    key = await created(browser)
    printed = capsys.readouterr()
    assert key not in printed.out + printed.err
