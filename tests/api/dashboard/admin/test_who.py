"""Every admin page and act is for operators, and unknown to everybody else."""

from __future__ import annotations

import re

import pytest

from api.routes import PAGES
from domain.operation import audit
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.routes import all_routes

ADMIN = [(method, path) for method, path in all_routes() if path.startswith("/admin")]


def address(api: Api, path: str) -> str:
    """With a customer's account in the place of what is variable."""
    return PAGES + re.sub(r"\{[^}]+\}", str(api.caller.account_id), path)


def test_there_are_some() -> None:
    assert {("GET", "/admin"), ("GET", "/admin/system"), ("POST", "/admin/accounts/{accountId}/block")} <= set(ADMIN)


@pytest.mark.parametrize(("method", "path"), ADMIN)
async def test_another_owner_and_a_stranger_find_nothing(
    api: Api, browser: Browser, stranger: Browser, method: str, path: str
) -> None:
    with api.parts.database.reading() as session:
        before = len(audit.page(session, limit=10_000))
    headers = {"Sec-Fetch-Site": "same-origin"}
    fields = {"reason": "x", "plan": "growth", "generations": "50", "operator": "yes"} if method == "POST" else None
    owner = await browser.client.request(method, address(api, path), headers=headers, data=fields)
    assert owner.status_code == 404
    nobody = await stranger.client.request(method, address(api, path), headers=headers, data=fields)
    assert nobody.status_code == 303
    assert "/dashboard/log-in" in nobody.headers["Location"]
    with api.parts.database.reading() as session:
        assert len(audit.page(session, limit=10_000)) == before


async def test_the_way_there_is_shown_to_operators_alone(operator: Browser, browser: Browser) -> None:
    link = 'href="/dashboard/admin"'
    assert link in (await operator.get("/keys")).text
    assert link not in (await browser.get("/keys")).text


@pytest.mark.parametrize(("method", "path"), [each for each in ADMIN if each[0] == "POST"])
async def test_an_act_without_the_pages_own_token_is_refused(
    api: Api, operator: Browser, method: str, path: str
) -> None:
    answer = await operator.client.request(
        method, address(api, path), headers={"Sec-Fetch-Site": "same-origin"}, data={"form_token": "x", "reason": "x"}
    )
    assert answer.status_code == 403
