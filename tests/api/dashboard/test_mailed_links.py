"""Links that were mailed: what they are good for, how often and how long."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from domain import accounts
from domain.operation import operators
from domain.tables import EmailToken
from tests.api.dashboard.browser import words
from tests.api.dashboard.login_scene import (
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


async def test_looking_at_a_link_uses_nothing_up_and_using_it_does(login_pages: LoginPages) -> None:
    browser, email = login_pages.browser(), new_address()
    await sign_up(browser, email)
    page, token = await login_pages.link(email)
    for _ in range(3):
        assert (await browser.get(f"{page}?token={token}")).status_code == 200
    assert is_inside(await confirm(browser, page, token, PASSWORD))
    answer = await login_pages.browser().get(f"{page}?token={token}")
    assert answer.status_code == 404
    assert "no longer works" in words(answer)


async def test_one_link_used_in_two_browsers_at_once_works_in_one(login_pages: LoginPages) -> None:
    email = new_address()
    await login_pages.verified(email)
    await login_pages.browser().post("/forgot", {"email": email})
    page, token = await login_pages.link(email)
    answers = await asyncio.gather(
        *(
            each.post(page, {"token": token, "password": OTHER}, page=f"{page}?token={token}")
            for each in (login_pages.browser(), login_pages.browser())
        )
    )
    assert sorted(answer.status_code for answer in answers) == [303, 404]


async def test_an_account_of_the_command_line_gets_its_login_by_a_reset(login_pages: LoginPages) -> None:
    email, browser = new_address(), login_pages.browser()
    with login_pages.api.parts.database.transaction() as session:
        account = accounts.create_account(session, PLANS, email=email, plan="starter", now=datetime.now(UTC))
        operators.set_operator(session, account_id=account.id, operator=True, now=datetime.now(UTC))
    assert (await log_in(browser, email)).status_code == 422
    await browser.post("/forgot", {"email": email})
    assert (await confirm(browser, *await login_pages.link(email), PASSWORD)).status_code == 303
    assert is_inside(await log_in(browser, email))
    found = await login_pages.account(email)
    assert found is not None
    assert found.custom_included is None


async def test_a_forgotten_password_of_nobody_writes_to_nobody(login_pages: LoginPages) -> None:
    email = new_address()
    answer = await login_pages.browser().post("/forgot", {"email": email})
    assert answer.headers["Location"] == "/dashboard/check-mail?about=reset"
    assert await login_pages.mail(email) == []


async def test_who_is_signed_in_may_ask_for_a_new_password_too(login_pages: LoginPages) -> None:
    email = new_address()
    browser = await login_pages.verified(email)
    shown = words(await browser.follow(await browser.post("/forgot", {"email": email})))
    assert "Use it within an hour to choose a new password" in shown
    assert "Send the link again" not in shown
    assert is_inside(await browser.get("/check-mail"))


@pytest.mark.usefixtures("slow_limits")
async def test_a_new_password_signs_every_browser_out_and_lifts_the_lock(login_pages: LoginPages) -> None:
    email = new_address()
    first = await login_pages.verified(email)
    second = login_pages.browser()
    assert is_inside(await log_in(second, email))
    tired = login_pages.browser()
    for _ in range(6):
        refused = await log_in(tired, email, OTHER)
    assert refused.status_code == 429
    await second.post("/forgot", {"email": email}, page="/keys")
    page, token = await login_pages.link(email)
    assert (await confirm(login_pages.browser(), page, token, "short")).status_code == 422
    assert (await confirm(login_pages.browser(), page, token, OTHER)).status_code == 303
    assert [await is_signed_in(each) for each in (first, second)] == [False, False]
    assert (await log_in(first, email)).status_code == 422
    assert is_inside(await log_in(first, email, OTHER))
    assert is_inside(await log_in(tired, email, OTHER))


async def test_a_link_that_is_too_old_is_dead(login_pages: LoginPages) -> None:
    email, browser = new_address(), login_pages.browser()
    await sign_up(browser, email)
    page, token = await login_pages.link(email)
    account = await login_pages.account(email)
    assert account is not None
    with login_pages.api.parts.database.transaction() as session:
        over = datetime.now(UTC) - timedelta(seconds=1)
        session.execute(update(EmailToken).where(EmailToken.account_id == account.id).values(expires_at=over))
    assert (await browser.get(f"{page}?token={token}")).status_code == 404


async def test_a_link_is_good_for_its_own_page_alone(login_pages: LoginPages) -> None:
    email, browser = new_address(), login_pages.browser()
    await sign_up(browser, email)
    _, token = await login_pages.link(email)
    for page in ("/reset", "/change-address"):
        assert (await browser.get(f"{page}?token={token}")).status_code == 404
