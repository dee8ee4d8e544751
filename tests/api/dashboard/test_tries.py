"""Trying again and again."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest

from domain.authentication import throttles
from tests.api.dashboard.browser import Browser, words
from tests.api.dashboard.login_scene import NETWORKS, OTHER, LoginPages, is_inside, log_in, new_address


def network(login_pages: LoginPages) -> Iterator[Browser]:
    """Browsers that nobody has seen before, all in one network that nobody has seen before."""
    peer = next(NETWORKS).rpartition(".")[0]
    return (login_pages.browser(f"{peer}.{host}") for host in itertools.count(1))


@pytest.mark.usefixtures("slow_limits")
async def test_tries_of_a_network_are_slowed_down_per_address_however_they_come(login_pages: LoginPages) -> None:
    email, browsers = new_address(), network(login_pages)
    await login_pages.verified(email)
    spellings = (email, email.upper(), f" {email}", email.title())
    answers = await asyncio.gather(
        *(log_in(next(browsers), spelled, OTHER) for spelled in itertools.chain(*[spellings] * 3))
    )
    assert sorted(answer.status_code for answer in answers) == [422] * 5 + [429] * 7
    refused = await log_in(next(browsers), email)  # with the right password
    assert refused.status_code == 429
    assert "Too many attempts" in words(refused)
    assert 0 < int(refused.headers["Retry-After"]) <= 900


@pytest.mark.usefixtures("slow_limits")
async def test_eight_networks_do_not_lock_an_owner_out(login_pages: LoginPages) -> None:
    email, home = new_address(), network(login_pages)
    await login_pages.verified(email, next(home))
    for attackers in [network(login_pages) for _ in range(8)]:
        statuses = [(await log_in(next(attackers), email, OTHER)).status_code for _ in range(6)]
        assert statuses == [422] * 5 + [429]
    assert is_inside(await log_in(next(home), email))
    assert is_inside(await log_in(login_pages.browser(), email)), "from a network that was never there before"


@pytest.mark.usefixtures("slow_limits")
async def test_an_attack_from_everywhere_slows_strangers_and_not_the_owner(
    login_pages: LoginPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttles, "SIGN_IN_BY_STRANGERS", throttles.Limit(20, 20, timedelta(minutes=1), throttles.DAY))
    monkeypatch.setattr(throttles, "MOST_BY_CLEAN_NETWORKS", 30)
    email, home = new_address(), network(login_pages)
    await login_pages.verified(email, next(home))
    for _ in range(10):
        attackers = network(login_pages)
        assert [(await log_in(next(attackers), email, OTHER)).status_code for _ in range(2)] == [422] * 2
    assert (await log_in(next(attackers), email, OTHER)).status_code == 429, "its clean tries are used up"
    assert is_inside(await log_in(login_pages.browser(), email)), "another network's are not"
    statuses = [(await log_in(login_pages.browser(), email, OTHER)).status_code for _ in range(15)]
    assert statuses == [422] * 10 + [429] * 5, "who has thousands of networks has no more guesses"
    assert [(await log_in(next(home), email, OTHER)).status_code for _ in range(4)] == [422] * 4
    assert is_inside(await log_in(next(home), email))


@pytest.mark.usefixtures("slow_limits")
async def test_an_unknown_address_is_locked_like_a_known_one(login_pages: LoginPages) -> None:
    email, browsers = new_address(), network(login_pages)
    statuses = [(await log_in(next(browsers), email)).status_code for _ in range(6)]
    assert statuses == [422] * 5 + [429]


@pytest.mark.usefixtures("slow_limits")
async def test_a_network_is_locked_for_all_addresses_together(login_pages: LoginPages) -> None:
    browsers = list(itertools.islice(network(login_pages), 10))
    statuses = [(await log_in(browser, new_address())).status_code for browser in browsers * 5]
    assert statuses == [422] * 50
    assert (await log_in(browsers[0], new_address())).status_code == 429
    assert (await log_in(login_pages.browser(), new_address())).status_code == 422


async def test_mail_to_one_address_is_limited_in_silence(login_pages: LoginPages) -> None:
    email = new_address()
    await login_pages.verified(email)
    locations = {(await login_pages.browser().post("/forgot", {"email": email})).headers["Location"] for _ in range(4)}
    assert locations == {"/dashboard/check-mail?about=reset"}
    assert len(await login_pages.mail(email)) == 3


async def test_mail_from_one_network_is_limited_out_loud(login_pages: LoginPages) -> None:
    browser = login_pages.browser()
    form = {"form_token": re.findall(r'name="form_token" value="([^"]+)"', (await browser.get("/forgot")).text)[0]}

    async def ask() -> httpx.Response:
        return await browser.client.post("/dashboard/forgot", data={**form, "email": new_address()})

    answers = await asyncio.gather(*(ask() for _ in range(21)))
    assert sorted(answer.status_code for answer in answers) == [303] * 20 + [429]
