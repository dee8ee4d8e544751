"""Trying again and again."""

from __future__ import annotations

import asyncio
import itertools
import re

import httpx
import pytest

from tests.api.dashboard.browser import words
from tests.api.dashboard.entrance_scene import NETWORKS, OTHER, Entrance, log_in, new_address


@pytest.mark.usefixtures("slow_limits")
async def test_tries_are_slowed_down_per_address_however_they_come(entrance: Entrance) -> None:
    email = new_address()
    await entrance.verified(email)
    spellings = (email, email.upper(), f" {email}", email.title())
    answers = await asyncio.gather(
        *(log_in(entrance.browser(), spelled, OTHER) for spelled in itertools.chain(*[spellings] * 3))
    )
    assert sorted(answer.status_code for answer in answers) == [422] * 5 + [429] * 7
    refused = await log_in(entrance.browser(), email)  # with the right password
    assert refused.status_code == 429
    assert "too many tries" in words(refused)
    assert 0 < int(refused.headers["Retry-After"]) <= 900


@pytest.mark.usefixtures("slow_limits")
async def test_an_unknown_address_is_locked_like_a_known_one(entrance: Entrance) -> None:
    email = new_address()
    statuses = [(await log_in(entrance.browser(), email)).status_code for _ in range(6)]
    assert statuses == [422] * 5 + [429]


@pytest.mark.usefixtures("slow_limits")
async def test_a_network_is_locked_for_all_addresses_together(entrance: Entrance) -> None:
    peer = next(NETWORKS)
    browsers = [entrance.browser(f"{peer.rpartition('.')[0]}.{host}") for host in range(1, 11)]
    statuses = [(await log_in(browser, new_address())).status_code for browser in browsers * 5]
    assert statuses == [422] * 50
    assert (await log_in(browsers[0], new_address())).status_code == 429
    assert (await log_in(entrance.browser(), new_address())).status_code == 422


async def test_mail_to_one_address_is_limited_in_silence(entrance: Entrance) -> None:
    email = new_address()
    await entrance.verified(email)
    locations = {(await entrance.browser().post("/forgot", {"email": email})).headers["Location"] for _ in range(4)}
    assert locations == {"/dashboard/check-mail?about=reset"}
    assert len(await entrance.mail(email)) == 3


async def test_mail_from_one_network_is_limited_out_loud(entrance: Entrance) -> None:
    browser = entrance.browser()
    form = {"form_token": re.findall(r'name="form_token" value="([^"]+)"', (await browser.get("/forgot")).text)[0]}

    async def ask() -> httpx.Response:
        return await browser.client.post("/dashboard/forgot", data={**form, "email": new_address()})

    answers = await asyncio.gather(*(ask() for _ in range(21)))
    assert sorted(answer.status_code for answer in answers) == [303] * 20 + [429]
