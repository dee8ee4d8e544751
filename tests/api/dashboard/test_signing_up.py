"""Signing up, as browsers do it."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from api.dashboard.visitor import SESSION, cookie_name
from domain import accounts
from domain.authentication import logins
from domain.money.quota import usage_of
from domain.tables import Account, Login, LoginSession
from runtime.settings import Settings
from tests.api.conftest import OpenApi
from tests.api.dashboard.browser import words
from tests.api.dashboard.login_scene import (
    LINK,
    OTHER,
    PASSWORD,
    LoginPages,
    confirm,
    is_inside,
    is_signed_in,
    log_in,
    new_address,
    sign_up,
)
from tests.factories import PLANS


async def test_from_signing_up_to_the_overview(login_pages: LoginPages) -> None:
    browser, email = login_pages.browser(), new_address()
    answer = await sign_up(browser, f" {email.upper()} ")
    assert answer.headers["Location"] == "/dashboard/check-mail?about=sign-up"
    assert "We sent a link to the address you gave" in words(await browser.follow(answer))
    (mail,) = await login_pages.mail(email)
    assert "10 try-ons within 7 days" in mail.body
    page, token = await login_pages.link(email)
    assert page == "/verify"
    assert "Enter the password you signed up with" in words(await browser.get(f"{page}?token={token}"))
    answer = await confirm(browser, page, token, PASSWORD)
    assert answer.headers["Location"] == "/dashboard/?notice=verified"
    assert await is_signed_in(browser)
    account = await login_pages.account(email)
    assert account is not None
    usage = await login_pages.api.parts.database.read(usage_of, PLANS, account_id=account.id, now=datetime.now(UTC))
    assert (usage.plan, usage.included) == ("trial", 10)


async def test_nothing_but_waiting_for_mail_before_the_address_is_confirmed(login_pages: LoginPages) -> None:
    browser, email = login_pages.browser(), new_address()
    await sign_up(browser, email)
    assert is_inside(await log_in(browser, email))
    answer = await browser.get("/keys")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard/check-mail")
    assert f"We sent a link to {email}" in words(await browser.get("/check-mail"))
    answer = await browser.post("/check-mail")
    assert answer.headers["Location"] == "/dashboard/check-mail?notice=mail_sent"
    first, second = await login_pages.mail(email)
    (old,), (new,) = LINK.findall(first.body), LINK.findall(second.body)
    assert (await browser.get(f"/verify?token={old[1]}")).status_code == 404
    # Signed in to that very account, so no password is asked for.
    assert "Enter the password" not in words(await browser.get(f"/verify?token={new[1]}"))
    before = browser.client.cookies.get(cookie_name(SESSION, Settings().dashboard))
    assert is_inside(await confirm(browser, *new))
    assert browser.client.cookies.get(cookie_name(SESSION, Settings().dashboard)) != before


async def test_a_strangers_sign_up_is_not_completed_by_the_owners_click(login_pages: LoginPages) -> None:
    stranger, owner, email = login_pages.browser(), login_pages.browser(), new_address()
    await sign_up(stranger, email, OTHER)
    assert is_inside(await log_in(stranger, email, OTHER))  # and waits
    page, token = await login_pages.link(email)
    refused = await owner.post(page, {"token": token}, page=f"{page}?token={token}")
    assert refused.status_code == 422
    assert not await is_signed_in(stranger)
    # The owner chooses a password; the stranger is out.
    await owner.post("/forgot", {"email": email})
    reset, reset_token = await login_pages.link(email)
    assert (await confirm(owner, reset, reset_token, PASSWORD)).headers["Location"].endswith("notice=password_changed")
    assert (await stranger.get("/check-mail")).status_code == 200
    assert (await log_in(stranger, email, OTHER)).status_code == 422
    assert is_inside(await log_in(owner, email))
    assert (await owner.get(f"{page}?token={token}")).status_code == 404


async def test_signing_up_again_replaces_a_password_that_nobody_confirmed(login_pages: LoginPages) -> None:
    stranger, owner, email = login_pages.browser(), login_pages.browser(), new_address()
    await sign_up(stranger, email, OTHER)
    await log_in(stranger, email, OTHER)
    _, old = await login_pages.link(email)
    await sign_up(owner, email)
    page, token = await login_pages.link(email)
    assert (await owner.get(f"{page}?token={old}")).status_code == 404
    assert (await log_in(login_pages.browser(), email, OTHER)).status_code == 422
    assert "Confirm" not in words(await stranger.get("/check-mail"))
    assert is_inside(await confirm(owner, page, token, PASSWORD))


@pytest.mark.parametrize("known", ["signed up", "made on the command line"])
async def test_who_has_an_account_is_told_by_mail_alone(login_pages: LoginPages, known: str) -> None:
    email = new_address()
    if known == "signed up":
        await login_pages.verified(email)
    else:
        await login_pages.api.parts.database.write(
            accounts.create_account, PLANS, email=email, plan="starter", now=datetime.now(UTC)
        )
    stranger = login_pages.browser()
    answers = [await sign_up(stranger, each, OTHER) for each in (email, new_address())]
    assert len({(answer.status_code, answer.headers["Location"]) for answer in answers}) == 1
    assert "You have an account" in (await login_pages.mail(email))[-1].subject
    assert (await log_in(stranger, email, OTHER)).status_code == 422


async def test_a_second_account_of_a_mailbox_has_no_trial(login_pages: LoginPages) -> None:
    name = uuid.uuid4().hex
    await login_pages.verified(f"{name}@gmail.com")
    browser, email = login_pages.browser(), f"{name[:4]}.{name[4:]}+shop@googlemail.com"
    await sign_up(browser, email)
    answer = await confirm(browser, *await login_pages.link(email), PASSWORD)
    assert answer.headers["Location"] == "/dashboard/?notice=verified_without_trial"
    account = await login_pages.account(email)
    assert account is not None
    assert account.custom_included == 0


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"email": "nobody", "password": PASSWORD}, "not an e-mail address"),
        ({"email": "ann@example.com", "password": "short"}, "at least 10 characters"),
        ({"email": "ann@example.com", "password": "ann@example.com"}, "Do not use your address"),
        ({"email": "ann@example.com", "password": "password123"}, "too easy to guess"),
    ],
)
async def test_a_form_that_is_not_right_says_why(
    login_pages: LoginPages, fields: dict[str, str], sentence: str
) -> None:
    answer = await login_pages.browser().post("/sign-up", fields)
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert fields["password"] not in answer.text or fields["password"] == fields["email"]
    assert await login_pages.account("ann@example.com") is None


async def test_two_sign_ups_with_one_address_at_once_make_one_account(login_pages: LoginPages) -> None:
    email = new_address()
    answers = await asyncio.gather(*(sign_up(login_pages.browser(), email) for _ in range(3)))
    assert [answer.status_code for answer in answers] == [303] * 3
    with login_pages.api.parts.database.reading() as session:
        found = session.scalars(select(Account).where(Account.email == email))
        assert len(found.all()) == 1


@pytest.mark.parametrize("late", [1, 2], ids=["between two looks", "between look and insert"])
async def test_who_is_first_by_a_moment_is_not_told_to_the_second(
    login_pages: LoginPages, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    email = new_address()
    await sign_up(login_pages.browser(), email)
    looks, look = itertools.count(), accounts.find_account_by_email

    def look_late(session: Session, *, email: str) -> Account | None:
        return None if next(looks) < late else look(session, email=email)

    for module in (accounts, logins):
        monkeypatch.setattr(module, "find_account_by_email", look_late)
    answer = await sign_up(login_pages.browser(), email)
    assert answer.headers["Location"] == "/dashboard/check-mail?about=sign-up"
    assert next(looks) > late
    assert len(await login_pages.mail(email)) == 2


async def test_what_is_kept_tells_neither_password_nor_token_nor_where_tries_came_from(login_pages: LoginPages) -> None:
    email = new_address()
    browser = await login_pages.verified(email)
    account = await login_pages.account(email)
    assert account is not None
    with login_pages.api.parts.database.reading() as session:
        login = session.get_one(Login, account.id)
        kept = session.scalars(select(LoginSession).where(LoginSession.account_id == account.id)).one()
    assert login.password_hash is not None
    assert login.password_hash.startswith("$argon2id$")
    assert kept.digest != browser.client.cookies[cookie_name(SESSION, Settings().dashboard)]


async def test_a_browser_that_will_not_keep_its_cookie_is_told_so(login_pages: LoginPages, open_api: OpenApi) -> None:
    plain = login_pages.browser(base_url="http://192.0.2.8:8000").client
    assert "will not keep you signed in" in words(await plain.get("/dashboard/log-in"))
    for headers in ({"Sec-Fetch-Site": "none"}, {"X-Forwarded-Proto": "https"}):
        assert "will not keep" not in words(await plain.get("/dashboard/log-in", headers=headers))
    assert "will not keep" not in words(await login_pages.browser().get("/log-in"))
