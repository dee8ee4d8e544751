from __future__ import annotations

import re
import uuid

import httpx
import pytest

from domain.access import keys
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller

KEY = re.compile(r"vto_(?:live|test)_[A-Za-z0-9_-]{43}")


def key_in(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    (key,) = set(KEY.findall(answer.text))
    return key


async def created(browser: Browser, mode: str = "live") -> str:
    return key_in(await browser.post("/keys", {"mode": mode}))


async def key_ids(api: Api) -> list[uuid.UUID]:
    found = await api.parts.database.read(keys.list_keys, account_id=api.caller.account_id)
    return [key.id for key in found if key.revoked_at is None]


async def status_with(api: Api, key: str) -> int:
    answer = await api.client.get(f"/api/v1/tryon/{uuid.uuid4()}", headers={"Authorization": f"Bearer {key}"})
    return answer.status_code


@pytest.mark.parametrize("mode", ["live", "test"])
async def test_a_new_key_works_and_is_shown_once(api: Api, browser: Browser, mode: str) -> None:
    answer = await browser.post("/keys", {"mode": mode})
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
    answer = await browser.post("/keys", {"mode": mode})
    assert (answer.status_code, "Choose live or test" in words(answer)) == (422, True)
    assert await key_ids(api) == [api.caller.key_id]


async def test_there_is_an_end_to_keys_in_use(api: Api, browser: Browser) -> None:
    for _ in range(keys.MOST_IN_USE - 1):
        await created(browser)
    answer = await browser.post("/keys", {"mode": "live"})
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


@pytest.mark.parametrize("act", ["revoke", "replace"])
async def test_the_key_of_another_account_is_unknown(api: Api, browser: Browser, act: str) -> None:
    other = await create_caller(api.parts.database, api.parts.digester)
    for key_id in (other.key_id, uuid.uuid4(), "x"):
        asked = await browser.get(f"/keys/{key_id}/{act}")
        answer = await browser.post(f"/keys/{key_id}/{act}", page="/keys")
        assert (asked.status_code, answer.status_code) == (404, 404)
    assert await status_with(api, other.key) == 404
    neighbour = await signed_in(api, other.account_id)
    assert api.caller.key[-4:] not in words(await neighbour.get("/keys"))


async def test_a_key_stays_out_of_the_log(browser: Browser, capsys: pytest.CaptureFixture[str]) -> None:
    key = await created(browser)
    printed = capsys.readouterr()
    assert key not in printed.out + printed.err
