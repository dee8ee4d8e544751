from __future__ import annotations

import gzip
import re
import uuid
from typing import Any

import httpx
import pytest

from api.tryon.checking import OF_PHOTOS
from api.widget.router import HERE, LANGUAGES, kept
from domain.access.keys import EVERYTHING, PublishableTerms, create_key
from domain.errors import CATALOGUE, Audience
from engines.advice import SENTENCES
from tests.api.conftest import Api

SHOP = "https://shop.example"
ENGLISH = LANGUAGES["en"]


@pytest.fixture
async def key(api: Api) -> str:
    with api.parts.database.transaction() as session:
        terms = PublishableTerms((SHOP, "https://www.shop.example"))
        _, made = create_key(
            session, api.parts.digester, account_id=api.caller.account_id, terms=EVERYTHING, publishable=terms
        )
    return made


async def dialog(api: Api, **query: str) -> httpx.Response:
    return await api.client.get("/widget/dialog", params=query, headers={"Authorization": ""})


async def test_the_script_is_for_pages_of_every_origin(api: Api) -> None:
    answer = await api.client.get("/widget/try-on.js", headers={"Origin": SHOP})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cache-Control"] == "public, max-age=3600"


async def test_a_dialog_is_framed_on_the_keys_pages_alone(api: Api, key: str) -> None:
    answer = await dialog(api, key=key)
    assert answer.status_code == 200
    policy = dict(each.split(" ", 1) for each in answer.headers["Content-Security-Policy"].split("; "))
    assert policy["frame-ancestors"] == f"{SHOP} https://www.shop.example"
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "camera=(self)" in answer.headers["Permissions-Policy"]
    assert "after 1 hour" in answer.text
    assert "Fitting Room" in answer.text


@pytest.mark.parametrize("lang", [*LANGUAGES, "xx", ""])
async def test_a_dialog_speaks_the_visitors_language(api: Api, key: str, lang: str) -> None:
    text = LANGUAGES.get(lang, ENGLISH)
    shown = (await dialog(api, key=key, lang=lang)).text
    assert f'<html lang="{lang if lang in LANGUAGES else "en"}">' in shown
    assert text["no_script"] in shown


@pytest.mark.parametrize("which", ["none", "unknown", "secret"])
async def test_no_other_key_opens_a_dialog(api: Api, which: str) -> None:
    keys = {"none": "", "unknown": f"vto_pub_live_{'a' * 43}", "secret": api.caller.key}
    answer = await dialog(api, key=keys[which])
    assert answer.status_code == 404
    assert "publishable key" in answer.text


async def test_the_dialog_may_call_and_a_page_elsewhere_may_not(api: Api, key: str) -> None:
    path, bearer = f"/api/v1/tryon/{uuid.uuid4()}", {"Authorization": f"Bearer {key}"}
    own = await api.client.get(path, headers={**bearer, "Sec-Fetch-Site": "same-origin"})
    assert own.headers["X-Error-Code"] == "job_not_found"
    for site in ("cross-site", "same-site", "none"):
        refused = await api.client.get(path, headers={**bearer, "Sec-Fetch-Site": site})
        assert refused.headers["X-Error-Code"] == "origin_not_allowed"


def test_every_language_says_everything() -> None:
    shopper = {code for code, entry in CATALOGUE.items() if entry.audience is Audience.SHOPPER} | {*OF_PHOTOS}
    shopper |= {code for code in SENTENCES if code != "garment_small"}
    # What the dialog says by itself comes without a sentence of the service, and the caps are a shop's usual refusal.
    script = (HERE / "static" / "dialog.js").read_text()
    always = {*re.findall(r'sentence\("(\w+)"', script), "internal", "daily_cap_reached", "key_daily_cap_reached"}
    assert always >= {"image_not_readable", "timed_out", "unreachable"}
    for language, text in LANGUAGES.items():
        assert text.keys() == ENGLISH.keys(), language
        assert {type(value) for value in text.values()} == {str, list, dict}
        assert len(text["advice"]) == len(ENGLISH["advice"])
        known = text["errors"].keys()
        assert known >= ENGLISH["errors"].keys() | always, language
        if language != "en":
            assert known >= shopper, language
        for name in ("{service}", "{kept}"):
            assert text["consent"].count(name) == 1


def test_the_button_and_the_way_out_are_called_as_in_the_dialog() -> None:
    script = (HERE / "static" / "try-on.js").read_text()
    for language, text in LANGUAGES.items():
        assert f'{language}: "{text["title"]}"' in script
        assert f'{language}: "{text["close"]}"' in script


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "as soon as I have seen it"),
        (3600, "after 1 hour"),
        (7200, "after 2 hours"),
        (30 * 86400, "after 30 days"),
        (90, "after 2 minutes"),
    ],
)
def test_how_long_a_picture_is_kept_is_said_as_people_do(seconds: int, said: str) -> None:
    assert kept(ENGLISH, seconds) == said


def test_all_of_it_is_small() -> None:
    files: list[Any] = [*(HERE / "static").iterdir(), *(HERE / "templates").iterdir()]
    assert sum(len(gzip.compress(each.read_bytes())) for each in files) <= 20 * 1024
