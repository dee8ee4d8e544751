"""What a key is for: every route of the API names a scope, and a key without it is refused by that name."""

from __future__ import annotations

import uuid
from collections import defaultdict
from typing import get_args

import pytest
from fastapi.routing import APIRoute

from api.app import ROUTERS
from api.routes import RoutePolicy, each_route
from domain.access import keys
from domain.access.keys import KeyScope, KeyTerms
from tests.api.conftest import Api


def with_ids(path: str) -> str:
    """An address with an id in each of its places, whatever they are called."""
    return path.format_map(defaultdict(lambda: str(uuid.uuid4()), productId="SKU-1"))


def policies() -> dict[tuple[str, str], RoutePolicy | None]:
    """Method and path of every route under ``/api/``, and what stands beside it."""
    return {
        (method, path): getattr(route.endpoint, "route_policy", None)
        for path, route in each_route([each for router in ROUTERS for each in router.routes])
        if path.startswith("/api/") and isinstance(route, APIRoute)
        for method in route.methods
    }


def test_every_route_of_the_api_names_a_scope_that_there_is() -> None:
    found = policies()
    assert len(found) >= 9
    assert {where for where, policy in found.items() if policy is None or policy.scope not in keys.SCOPES} == set()
    assert {policy.scope for policy in found.values() if policy} == set(get_args(KeyScope))


def test_a_route_that_pages_may_call_is_about_try_ons() -> None:
    assert {policy.scope for policy in policies().values() if policy and policy.publishable} == {"tryons"}


@pytest.mark.parametrize("scope", get_args(KeyScope))
async def test_a_key_opens_the_routes_of_its_scope_and_no_others(api: Api, scope: KeyScope) -> None:
    _, key = await api.parts.database.write(
        keys.create_key, api.parts.digester, account_id=api.caller.account_id, terms=KeyTerms("Part", [scope])
    )
    for (method, path), policy in policies().items():
        address = with_ids(path)
        answer = await api.client.request(method, address, headers={"Authorization": f"Bearer {key}"})
        assert policy is not None
        if policy.scope == scope:
            assert answer.status_code != 403, (method, path)
            assert "RateLimit" in answer.headers
        else:
            assert answer.status_code == 403, (method, path)
            assert answer.json() == {"error": f"This API key lacks the scope {policy.scope}."}
            assert answer.headers["X-Error-Code"] == "key_scope_missing"
            assert "RateLimit" not in answer.headers


async def test_a_key_without_a_list_of_scopes_may_do_everything(api: Api) -> None:
    for method, path in policies():
        address = with_ids(path)
        assert (await api.client.request(method, address)).status_code != 403, (method, path)
