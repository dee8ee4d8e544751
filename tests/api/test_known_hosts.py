"""Names that the service answers to, and that nothing it answers leads to another's."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from pydantic import ValidationError
from starlette.routing import BaseRoute, Mount

from api.admission import LOOPBACK_NAMES, hosts_of
from api.routes import each_route
from runtime.settings import ApiSettings, Settings
from tests.api.conftest import Api
from tests.api.dashboard.browser import signed_in
from tests.api.raw_call import call


def settings_with(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return Settings()


def test_the_names_are_those_of_the_settings_and_loopbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hosts_of(Settings()) == LOOPBACK_NAMES
    settings = settings_with(
        monkeypatch,
        TRYON_API_HOST="192.0.2.7",
        TRYON_API_HOSTS="api, Tryon.Internal.,2001:DB8::0001",
        TRYON_DASHBOARD_PUBLIC_URL="https://TryOn.example.com:8443/",
    )
    named = {"192.0.2.7", "api", "tryon.internal", "2001:db8::1", "tryon.example.com"}
    assert hosts_of(settings) == LOOPBACK_NAMES | named


@pytest.mark.parametrize("value", ["https://tryon.example.com", "tryon.example.com:8000", "a b", "*"])
def test_what_is_no_name_is_refused(value: str) -> None:
    with pytest.raises(ValidationError, match="hosts"):
        ApiSettings(hosts=value)


async def test_the_address_that_a_request_came_to_is_known(api: Api) -> None:
    assert (await call(api.app, "GET", "/healthz", headers=[(b"host", b"tryon:80")])).status == 200
    refused = await call(api.app, "GET", "/healthz", headers=[(b"host", b"other")])
    assert (refused.status, refused.code) == (400, "host_refused")


async def test_a_request_names_one_host(api: Api) -> None:
    for known, other in ((b"tryon", b"other"), (b"other", b"tryon"), (b"tryon", b"tryon")):
        answer = await call(api.app, "GET", "/healthz", headers=[(b"host", known), (b"host", other)])
        assert (answer.status, answer.code) == (400, "host_refused")


def addresses(routes: list[BaseRoute]) -> Iterator[str]:
    """Every address of the application, with something in place of what varies."""
    yield from (route.path for route in routes if isinstance(route, Mount))
    for path, _ in each_route(routes):
        yield "/".join("0" if part.startswith("{") else part for part in path.split("/"))


def variants(path: str) -> set[str]:
    return {path, f"{path}/", path.rstrip("/") or "/", f"/{path}", f"//evil.example{path}"}


async def test_no_answer_leads_to_another_host(api: Api) -> None:
    asked = {variant for path in addresses(api.app.routes) for variant in variants(path)}
    assert {"/docs/", "/healthz/", "/dashboard/jobs/", "/api/v1/usage/", "/dashboard/keys"} <= asked
    async with (await signed_in(api)).client as owner:
        cookies = "; ".join(f"{name}={value}" for name, value in owner.cookies.items()).encode()
    for path in sorted(asked):
        for headers in ([], [(b"cookie", cookies)]):
            answer = await call(api.app, "GET", path, headers=[(b"host", b"tryon"), *headers])
            where = answer.headers.get("location", "/")
            assert where.startswith("/"), (path, where)
            assert urlsplit(where).netloc == "", (path, where)


@pytest.mark.parametrize("path", ["/", "/dashboard"])
async def test_the_bare_address_leads_to_the_dashboard(api: Api, path: str) -> None:
    async with (await signed_in(api)).client as owner:
        answer = await owner.get(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard/")
