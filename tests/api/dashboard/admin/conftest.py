from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, signed_in
from tests.factories import Caller, create_caller


@pytest.fixture
async def operator(api: Api) -> AsyncIterator[Browser]:
    """Somebody who runs the service; the API's own caller is one of the customers."""
    caller = await create_caller(api.parts.database, api.parts.digester)
    opened = await signed_in(api, caller.account_id, operator=True)
    yield opened
    await opened.client.aclose()


@pytest.fixture
async def customer(api: Api) -> Caller:
    return api.caller
