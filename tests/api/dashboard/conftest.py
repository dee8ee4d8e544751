from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from api.dashboard.entrance import signing_up
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, new_browser, signed_in


@pytest.fixture(autouse=True)
def answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers about addresses do not wait for each other; the test of that sets it back."""
    monkeypatch.setattr(signing_up, "SHORTEST_SECONDS", 0.0)


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
