from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

import pytest
from starlette.types import Message

from api.app import create_app
from api.dashboard.admission import ADMIN_PREFIX
from api.routes import PAGES
from domain import accounts
from runtime.settings import Settings
from tests.api.conftest import Api
from tests.api.dashboard.browser import HOST, Browser, signed_in, words
from tests.api.dashboard.routes import all_routes

PUBLIC = {
    f"{PAGES}/{name}"
    for name in (
        *("sign-up", "log-in", "log-out", "check-mail", "verify", "forgot", "reset", "change-address"),
        *("outbox", "verify-picture"),
    )
}


def test_every_page_is_found_with_its_methods() -> None:
    """Also those of routers within routers, which the framework hides."""
    routes = create_app(Settings()).state.routes
    assert len(addresses()) > 60
    for method, path in addresses():
        assert method in routes.find(path).policies, (method, path)


def test_no_other_page_is_public() -> None:
    routes = create_app(Settings()).state.routes
    assert {path for _, path in addresses() if routes.find(path).public} == PUBLIC


def addresses() -> list[tuple[str, str]]:
    """Every method and address of the dashboard, with something in the place of what is variable."""
    return [(method, PAGES + re.sub(r"\{[^}]+\}", uuid.uuid4().hex, path)) for method, path in all_routes()]


async def test_nothing_but_what_is_public_is_shown_to_a_stranger(stranger: Browser) -> None:
    for method, path in addresses():
        answer = await stranger.client.request(method, path, headers={"Sec-Fetch-Site": "same-origin"})
        if path in PUBLIC:
            assert "next=" not in answer.headers.get("Location", "")
            continue
        assert answer.status_code == 303, (method, path, answer.status_code)
        assert answer.headers["Location"].startswith("/dashboard/log-in")


async def test_somebody_unverified_gets_no_further_than_the_mail(api: Api) -> None:
    browser = await signed_in(api, verified=False)
    for method, path in addresses():
        if path in PUBLIC:
            continue
        answer = await browser.client.request(method, path, headers={"Sec-Fetch-Site": "same-origin"})
        assert (answer.status_code, answer.headers.get("Location")) == (303, "/dashboard/check-mail"), (method, path)


async def test_the_admin_pages_are_unknown_to_everybody_else(browser: Browser) -> None:
    for method, path in addresses():
        if path.startswith(ADMIN_PREFIX):
            answer = await browser.client.request(method, path, headers={"Sec-Fetch-Site": "same-origin"})
            assert answer.status_code == 404, (method, path)


@pytest.mark.parametrize("path", ["/admin%0A", "/admin/accounts%0A", "/adm%09in", "//admin", "/admin/", "/%61dmin"])
async def test_no_other_spelling_of_an_address_leads_past_the_door(
    browser: Browser, stranger: Browser, path: str
) -> None:
    assert (await browser.get(path)).status_code == 404
    assert (await stranger.get(path)).status_code in (303, 404)


async def test_an_address_in_no_alphabet_is_answered_like_any_other(api: Api) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "http_version": "1.1", "method": "GET", "scheme": "https", "path": "/dashboard/log-in"}
    scope |= {
        "query_string": b"next=\xff",
        "headers": [(b"host", HOST.encode())],
        "client": ("192.0.2.7", 1),
        "server": (HOST, 443),
    }
    await api.app(scope, receive, send)
    assert sent[0]["status"] == 200
    await api.app({**scope, "path": "/dashboard/jobs"}, receive, send)
    assert any(message.get("status") == 303 for message in sent)


async def test_a_neighbours_cookie_signs_nobody_out(browser: Browser) -> None:
    name, token = next((cookie.name, cookie.value) for cookie in browser.client.cookies.jar)
    for others in ('prefs={"dark": true}', "a b=c", "=", "\xe9=\xe9"):
        cookie = f"{others}; {name}={token}; {others}".encode("latin-1")
        answer = await browser.client.get("/dashboard/nothing", headers=[(b"Cookie", cookie)])
        assert answer.status_code == 404, others


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
async def test_what_another_site_sends_is_refused_before_its_body(browser: Browser, headers: dict[str, str]) -> None:
    for method, path in addresses():
        if method != "GET":
            answer = await browser.client.request(method, path, headers=headers)
            assert answer.status_code == 403, (method, path)
            assert "another site" in words(answer)


async def test_every_form_is_refused_without_its_token(api: Api) -> None:
    browser = await signed_in(api, operator=True)
    for method, path in addresses():
        if method != "GET":
            answer = await browser.client.request(
                method, path, headers={"Sec-Fetch-Site": "same-origin"}, data={"form_token": "x" * 64}
            )
            assert answer.status_code == 403, (method, path, answer.status_code, answer.text)
            assert "You have signed in again since" in words(answer), (method, path)


async def test_a_stranger_whose_cookie_was_not_kept_is_told_so(stranger: Browser) -> None:
    for page in ("log-in", "sign-up", "forgot"):
        answer = await stranger.client.post(f"/dashboard/{page}", data={"form_token": "x" * 64})
        assert answer.status_code == 403
        assert "did not keep its cookie" in words(answer)


async def test_a_blocked_account_may_look_and_do_nothing(api: Api, browser: Browser) -> None:
    await api.parts.database.write(
        accounts.block_account, account_id=api.caller.account_id, reason="Unpaid.", now=datetime.now(UTC)
    )
    for method, path in addresses():
        if method != "GET" and path not in PUBLIC and not path.startswith(ADMIN_PREFIX):
            answer = await browser.client.request(method, path, headers={"Sec-Fetch-Site": "same-origin"})
            assert answer.status_code == 403, (method, path)
            assert "This account is blocked: Unpaid." in words(answer)
    assert "This account is blocked. Unpaid." in words(await browser.get("/nothing"))


async def test_every_answer_closes_the_page_to_others(browser: Browser) -> None:
    for path in ("/nothing", "/static/dashboard.css"):
        headers = (await browser.get(path)).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "form-action 'self';" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "same-origin"


async def test_pages_are_kept_by_nobody_and_files_for_good(browser: Browser) -> None:
    assert (await browser.get("/nothing")).headers["Cache-Control"] == "no-store"
    assert "immutable" in (await browser.get("/static/dashboard.css")).headers["Cache-Control"]


async def test_what_is_not_there_is_a_page_with_a_way_back(browser: Browser) -> None:
    answer = await browser.get("/nothing")
    assert answer.status_code == 404
    assert "Page not found" in words(answer)
    assert 'href="/dashboard/"' in answer.text


async def test_a_script_is_told_in_json(browser: Browser, stranger: Browser) -> None:
    json = {"Accept": "application/json"}
    assert (await browser.get("/nothing", headers=json)).json() == {"error": "There is nothing at this address."}
    answer = await stranger.get("/nothing", headers=json)
    assert (answer.status_code, answer.json()["error"]) == (401, "You are signed out. Sign in again to continue.")


async def test_a_cookie_that_is_worth_nothing_is_forgotten(browser: Browser) -> None:
    browser.client.cookies.clear()
    browser.client.cookies.set("__Host-tryon-session", "x" * 43, domain=HOST, path="/")
    answer = await browser.get("/nothing")
    assert answer.status_code == 303
    assert any(
        "__Host-tryon-session=" in cookie and "Max-Age=0" in cookie for cookie in answer.headers.get_list("set-cookie")
    )


async def test_the_bare_address_leads_to_the_dashboard(browser: Browser) -> None:
    answer = await browser.client.get("/")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard/")
