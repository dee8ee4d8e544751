from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from api.dashboard import authentication
from domain.authentication import throttles
from domain.authentication.throttles import Limit
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, new_browser, signed_in
from tests.api.dashboard.login_scene import LoginPages


@pytest.fixture(autouse=True)
def answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers about addresses do not wait for each other; the test of that sets it back."""
    monkeypatch.setattr(authentication, "SHORTEST_SECONDS", 0.0)


@pytest.fixture
async def browser(api: Api) -> AsyncIterator[Browser]:
    """The owner of the API's caller, signed in."""
    opened = await signed_in(api)
    yield opened
    await opened.client.aclose()


@pytest.fixture
async def stranger(api: Api) -> AsyncIterator[Browser]:
    """Somebody who has never been here."""
    opened = new_browser(api)
    yield opened
    await opened.client.aclose()


@pytest.fixture
async def login_pages(api: Api) -> AsyncIterator[LoginPages]:
    opened = LoginPages(api)
    yield opened
    for browser in opened.browsers:
        await browser.client.aclose()


@pytest.fixture
def slow_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual numbers of free tries, and then waits that no machine is slow enough to sit out."""
    for name in ("SIGN_IN_PER_PAIR", "SIGN_IN_PER_NETWORK"):
        limit: Limit = getattr(throttles, name)
        monkeypatch.setattr(throttles, name, replace(limit, locked_at=limit.free))
