"""Mail on a page: there for whoever sits at the machine, and for nobody else."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from domain import mails
from runtime.own_machine import is_own
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.browser import Browser, words
from tests.api.dashboard.login_scene import PASSWORD, new_address, sign_up
from workflows.queues import mail_workflow_id

HERE = "http://127.0.0.1:8000"


def browser(api: Api, peer: str = "127.0.0.1", base_url: str = HERE) -> Browser:
    transport = httpx.ASGITransport(api.app, client=(peer, 50_000))
    return Browser(httpx.AsyncClient(transport=transport, base_url=base_url, timeout=30))


@pytest.fixture
async def local(api: Api) -> AsyncIterator[Browser]:
    opened = browser(api)
    yield opened
    await opened.client.aclose()


async def test_from_check_your_mail_to_the_link(local: Browser) -> None:
    email = new_address()
    # A browser keeps cookies for https over http to this machine; this client does not.
    form = await local.get("/sign-up")
    token = re.findall(r'name="form_token" value="([^"]+)"', form.text)[0]
    cookie = form.headers["set-cookie"].partition(";")[0]
    answer = await local.client.post(
        "/dashboard/sign-up",
        data={"form_token": token, "email": email, "password": PASSWORD},
        headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"},
    )
    assert 'href="/dashboard/outbox"' in (await local.follow(answer)).text
    shown = await local.get("/outbox")
    assert f"To {email}" in words(shown)
    assert re.search(rf'href="{HERE}/dashboard/verify\?token=[\w-]{{43}}"', shown.text)


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"X-Real-IP": "127.0.0.1"},
        {"Via": "1.1 proxy"},
        {"Host": "tryon.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Referer": "https://tryon.example/dashboard/check-mail"},
    ],
    ids="".join,
)
async def test_nobody_reads_it_through_a_proxy_or_under_another_name(local: Browser, headers: dict[str, str]) -> None:
    assert (await local.get("/outbox")).status_code == 200
    assert (await local.get("/outbox", headers=headers)).status_code == (400 if "Host" in headers else 404)
    assert "outbox" not in (await local.get("/check-mail", headers=headers)).text


async def test_nobody_reads_it_through_a_proxy_that_was_told_nothing(api: Api) -> None:
    """nginx puts its own upstream's name into ``Host``, adds no header, and speaks HTTP/1.0."""

    async def old(scope: Scope, receive: Receive, send: Send) -> None:
        await api.app({**scope, "http_version": "1.0"}, receive, send)

    transport = httpx.ASGITransport(old, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
        assert (await client.get("/dashboard/outbox")).status_code == 404


async def test_nobody_reads_it_from_elsewhere(api: Api) -> None:
    for peer in ("192.0.2.1", "10.0.0.1", "2001:db8::1"):
        assert (await browser(api, peer).get("/outbox")).status_code == 404
    assert (await browser(api, "::1", "http://[::1]:8000").get("/outbox")).status_code == 200


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TRYON_MAIL_HOST", "mail.example"),
        ("TRYON_API_HOST", "0.0.0.0"),
        ("TRYON_DASHBOARD_PUBLIC_URL", "https://tryon.example"),
    ],
)
async def test_a_service_for_others_has_no_such_page(
    open_api: OpenApi, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    async with open_api(Settings()) as api:
        assert (await browser(api).get("/outbox")).status_code == 404


async def test_mail_is_started_where_a_server_is_set(open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_MAIL_HOST", "mail.example")
    async with open_api(Settings()) as api:
        email = new_address()
        assert (await sign_up(browser(api, "10.255.1.1", "https://tryon.example"), email)).status_code == 303
        with api.parts.database.reading() as session:
            (mail,) = [each for each in mails.list_mail(session, limit=1000) if each.to_address == email]
        run = await api.parts.temporal.client.get_workflow_handle(mail_workflow_id(str(mail.id))).describe()
        assert run.workflow_type == "SendMailWorkflow"
        assert email not in str(run.raw_description)


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("192.168.1.2", False),
        ("localhost.evil.example", False),
        ("", False),
        (None, False),
    ],
)
def test_what_is_this_machine(host: str | None, own: bool) -> None:
    assert is_own(host) == own
