"""Signing in and out."""

from __future__ import annotations

import re
import time
from html import unescape

import pytest

from api.dashboard import authentication
from api.dashboard.authentication import SHORTEST_SECONDS, own_path
from api.dashboard.visitor import SESSION, cookie_name
from runtime.settings import Settings
from tests.api.dashboard.browser import HOST
from tests.api.dashboard.login_scene import (
    OTHER,
    PASSWORD,
    LoginPages,
    is_inside,
    is_signed_in,
    log_in,
    new_address,
    sign_up,
)


async def test_unknown_wrong_and_unconfirmed_read_the_same(login_pages: LoginPages) -> None:
    known, waiting, browser = new_address(), new_address(), login_pages.browser()
    await login_pages.verified(known)
    await sign_up(login_pages.browser(), waiting)
    answers = [await log_in(browser, email, OTHER) for email in (known, waiting, new_address(), "no address")]
    pages = {re.sub(r'value="[^"]*"', "", answer.text) for answer in answers}
    assert len(pages) == 1
    assert "The address or the password is wrong." in pages.pop()
    assert {answer.status_code for answer in answers} == {422}


async def test_answers_about_an_address_take_equally_long(
    login_pages: LoginPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "SHORTEST_SECONDS", SHORTEST_SECONDS)
    email, browser = new_address(), login_pages.browser()
    await login_pages.verified(email)
    for each in (email, new_address()):
        for page, fields in (("/forgot", {}), ("/sign-up", {"password": PASSWORD})):
            await browser.get(page)
            began = time.monotonic()
            assert (await browser.post(page, {"email": each, **fields})).status_code == 303
            assert time.monotonic() - began >= SHORTEST_SECONDS  # a sleep, so no machine is too fast for it


async def test_signing_in_leads_to_the_page_that_was_asked_for(login_pages: LoginPages) -> None:
    email = new_address()
    await login_pages.verified(email)
    browser = login_pages.browser()
    answer = await browser.get("/keys?kind=live")
    asked = await browser.follow(answer)
    found = re.search(r'name="next" value="([^"]+)"', asked.text)
    assert found
    answer = await log_in(browser, email, next=unescape(found[1]))
    assert answer.headers["Location"] == "/dashboard/keys?kind=live"


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ("/dashboard/jobs?page=2", "/jobs?page=2"),
        ("https://evil.example/dashboard/", "/"),
        ("//evil.example/dashboard/", "/"),
        ("/dashboard//evil.example", "/"),
        ("/dashboard/\\evil.example", "/"),
        ("/dashboardevil", "/"),
        ("/dashboard/jobs\r\nSet-Cookie: x=1", "/"),
        ("/dashboard/log-in?next=/", "/"),
        ("/api/v1/usage", "/"),
        ("", "/"),
    ],
)
def test_only_own_pages_are_gone_to(wanted: str, path: str) -> None:
    assert own_path(wanted) == path


async def test_every_signing_in_makes_another_session_and_ends_the_one_before(login_pages: LoginPages) -> None:
    email = new_address()
    browser = await login_pages.verified(email)
    name = cookie_name(SESSION, Settings().dashboard)
    before = browser.client.cookies[name]
    token = (await browser.get("/log-in", headers={"Cookie": ""})).text
    assert token is not None
    other = login_pages.browser()
    other.client.cookies.set(name, before, domain=HOST, path="/")
    form = await other.get("/forgot")
    found = re.search(r'name="form_token" value="([^"]+)"', form.text)
    assert found
    fields = {"form_token": found[1], "email": email, "password": PASSWORD}
    answer = await other.client.post("/dashboard/log-in", data=fields, headers={"Sec-Fetch-Site": "same-origin"})
    assert is_inside(answer)
    assert other.client.cookies[name] != before
    assert not await is_signed_in(browser)


async def test_logging_out_ends_the_session_on_the_server(login_pages: LoginPages) -> None:
    browser = await login_pages.verified(new_address())
    name = cookie_name(SESSION, Settings().dashboard)
    kept = browser.client.cookies[name]
    answer = await browser.post("/log-out", page="/forgot")
    assert answer.headers["Location"] == "/dashboard/log-in?notice=signed_out"
    assert name not in browser.client.cookies
    browser.client.cookies.set(name, kept, domain=HOST, path="/")
    assert not await is_signed_in(browser)
