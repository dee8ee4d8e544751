"""What the tests of billing do and look at again and again."""

from __future__ import annotations

import re
from html import unescape

from domain.billing import payments
from domain.tables import Payment
from tests.api.conftest import Api


async def orders_of(api: Api) -> list[Payment]:
    with api.parts.database.reading() as session:
        return list(payments.page_of_account(session, account_id=api.caller.account_id, limit=100))


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, name
    return unescape(found[1])
