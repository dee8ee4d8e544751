"""Signing up, in and out, as browsers do it: several of them, from networks of their own."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape

import httpx
import pytest
from sqlalchemy import select, update

from api.dashboard import credentials
from api.dashboard.cookies import SESSION, cookie_name
from api.dashboard.entrance import signing_up
from api.dashboard.entrance.router import own_path
from api.dashboard.entrance.signing_up import SHORTEST_SECONDS
from domain import accounts, operators
from domain.tables import Account, EmailToken, Login, LoginSession, Mail
from domain.throttles import Limit
from domain.usage import usage_of
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.browser import HOST, Browser, words
from tests.factories import PLANS

PASSWORD, OTHER = "three plain words", "three other words"
NETWORKS = (f"10.{a}.{b}.7" for a, b in itertools.product(range(256), range(256)))
LINK = re.compile(r"https?://\S+/dashboard(/[a-z-]+)\?token=(\S+)")


@pytest.fixture
async def entrance(api: Api) -> AsyncIterator[Entrance]:
    opened = Entrance(api)
    yield opened
    for browser in opened.browsers:
        await browser.client.aclose()


class Entrance:
    """People at the door, and the mail that they get."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.browsers: list[Browser] = []

    def browser(self, peer: str | None = None, base_url: str = f"https://{HOST}") -> Browser:
        """One that nobody has seen before, in a network of its own."""
        transport = httpx.ASGITransport(self.api.app, client=(peer or next(NETWORKS), 50_000))
        self.browsers.append(Browser(httpx.AsyncClient(transport=transport, base_url=base_url, timeout=30)))
        return self.browsers[-1]

    async def mail(self, email: str) -> list[Mail]:
        """What was written to an address, oldest first."""
        async with self.api.parts.database.reading() as session:
            found = await session.scalars(select(Mail).where(Mail.to_address == email).order_by(Mail.created_at))
            return list(found.all())

    async def link(self, email: str) -> tuple[str, str]:
        """Page and token of the newest link to an address."""
        found = LINK.search((await self.mail(email))[-1].body)
        assert found
        return found[1], found[2]

    async def account(self, email: str) -> Account | None:
        async with self.api.parts.database.reading() as session:
            return await accounts.find_account_by_email(session, email=email)

    async def verified(self, email: str, browser: Browser | None = None) -> Browser:
        """A browser where somebody has signed up and confirmed the address."""
        browser = browser or self.browser()
        await sign_up(browser, email)
        page, token = await self.link(email)
        answer = await confirm(browser, page, token, PASSWORD)
        assert answer.status_code == 303, words(answer)
        return browser


def new_address() -> str:
    return f"{uuid.uuid4().hex}@example.com"


async def sign_up(browser: Browser, email: str, password: str = PASSWORD) -> httpx.Response:
    return await browser.post("/sign-up", {"email": email, "password": password})


async def log_in(browser: Browser, email: str, password: str = PASSWORD, **fields: str) -> httpx.Response:
    return await browser.post("/log-in", {"email": email, "password": password, **fields})


async def confirm(browser: Browser, page: str, token: str, password: str | None = None) -> httpx.Response:
    fields = {"token": token} | ({} if password is None else {"password": password})
    return await browser.post(page, fields, page=f"{page}?token={token}")


def is_inside(answer: httpx.Response) -> bool:
    """Whether a page sent on to the overview."""
    return answer.status_code == 303 and answer.headers["Location"].partition("?")[0] == "/dashboard/"


async def is_signed_in(browser: Browser) -> bool:
    return (await browser.get("/log-in")).status_code == 303


async def test_from_signing_up_to_the_overview(entrance: Entrance) -> None:
    browser, email = entrance.browser(), new_address()
    answer = await sign_up(browser, f" {email.upper()} ")
    assert answer.headers["Location"] == "/dashboard/check-mail?about=sign-up"
    assert "We wrote to the address you gave" in words(await browser.follow(answer))
    (mail,) = await entrance.mail(email)
    assert "10 generations within 7 days" in mail.body
    page, token = await entrance.link(email)
    assert page == "/verify"
    assert "Enter the password you signed up with" in words(await browser.get(f"{page}?token={token}"))
    answer = await confirm(browser, page, token, PASSWORD)
    assert answer.headers["Location"] == "/dashboard/?notice=verified"
    assert await is_signed_in(browser)
    account = await entrance.account(email)
    assert account is not None
    async with entrance.api.parts.database.reading() as session:
        usage = await usage_of(session, PLANS, account_id=account.id, now=datetime.now(UTC))
    assert (usage.plan, usage.included) == ("trial", 10)


async def test_nothing_but_waiting_for_mail_before_the_address_is_confirmed(entrance: Entrance) -> None:
    browser, email = entrance.browser(), new_address()
    await sign_up(browser, email)
    assert is_inside(await log_in(browser, email))
    answer = await browser.get("/keys")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/dashboard/check-mail")
    assert f"Confirm {email}" in words(await browser.get("/check-mail"))
    answer = await browser.post("/check-mail")
    assert answer.headers["Location"] == "/dashboard/check-mail?notice=mail_sent"
    first, second = await entrance.mail(email)
    (old,), (new,) = LINK.findall(first.body), LINK.findall(second.body)
    assert (await browser.get(f"/verify?token={old[1]}")).status_code == 404
    # Signed in to that very account, so no password is asked for.
    assert "Enter the password" not in words(await browser.get(f"/verify?token={new[1]}"))
    before = browser.client.cookies.get(cookie_name(SESSION, Settings().dashboard))
    assert is_inside(await confirm(browser, *new))
    assert browser.client.cookies.get(cookie_name(SESSION, Settings().dashboard)) != before


async def test_looking_at_a_link_uses_nothing_up_and_using_it_does(entrance: Entrance) -> None:
    browser, email = entrance.browser(), new_address()
    await sign_up(browser, email)
    page, token = await entrance.link(email)
    for _ in range(3):
        assert (await browser.get(f"{page}?token={token}")).status_code == 200
    assert is_inside(await confirm(browser, page, token, PASSWORD))
    answer = await entrance.browser().get(f"{page}?token={token}")
    assert answer.status_code == 404
    assert "does not work any more" in words(answer)


async def test_one_link_used_in_two_browsers_at_once_works_in_one(entrance: Entrance) -> None:
    email = new_address()
    await entrance.verified(email)
    await entrance.browser().post("/forgot", {"email": email})
    page, token = await entrance.link(email)
    answers = await asyncio.gather(
        *(
            each.post(page, {"token": token, "password": OTHER}, page=f"{page}?token={token}")
            for each in (entrance.browser(), entrance.browser())
        )
    )
    assert sorted(answer.status_code for answer in answers) == [303, 404]


async def test_a_strangers_sign_up_is_not_completed_by_the_owners_click(entrance: Entrance) -> None:
    stranger, owner, email = entrance.browser(), entrance.browser(), new_address()
    await sign_up(stranger, email, OTHER)
    assert is_inside(await log_in(stranger, email, OTHER))  # and waits
    page, token = await entrance.link(email)
    refused = await owner.post(page, {"token": token}, page=f"{page}?token={token}")
    assert refused.status_code == 422
    assert not await is_signed_in(stranger)
    # The owner chooses a password; the stranger is out.
    await owner.post("/forgot", {"email": email})
    reset, reset_token = await entrance.link(email)
    assert (await confirm(owner, reset, reset_token, PASSWORD)).headers["Location"].endswith("notice=password_changed")
    assert (await stranger.get("/check-mail")).status_code == 200
    assert (await log_in(stranger, email, OTHER)).status_code == 422
    assert is_inside(await log_in(owner, email))
    assert (await owner.get(f"{page}?token={token}")).status_code == 404


async def test_signing_up_again_replaces_a_password_that_nobody_confirmed(entrance: Entrance) -> None:
    stranger, owner, email = entrance.browser(), entrance.browser(), new_address()
    await sign_up(stranger, email, OTHER)
    await log_in(stranger, email, OTHER)
    _, old = await entrance.link(email)
    await sign_up(owner, email)
    page, token = await entrance.link(email)
    assert (await owner.get(f"{page}?token={old}")).status_code == 404
    assert (await log_in(entrance.browser(), email, OTHER)).status_code == 422
    assert "Confirm" not in words(await stranger.get("/check-mail"))
    assert is_inside(await confirm(owner, page, token, PASSWORD))


@pytest.mark.parametrize("known", ["signed up", "made on the command line"])
async def test_who_has_an_account_is_told_by_mail_alone(entrance: Entrance, known: str) -> None:
    email = new_address()
    if known == "signed up":
        await entrance.verified(email)
    else:
        async with entrance.api.parts.database.transaction() as session:
            await accounts.create_account(session, PLANS, email=email, plan="starter", now=datetime.now(UTC))
    stranger = entrance.browser()
    answers = [await sign_up(stranger, each, OTHER) for each in (email, new_address())]
    assert len({(answer.status_code, answer.headers["Location"]) for answer in answers}) == 1
    assert "You have an account" in (await entrance.mail(email))[-1].subject
    assert (await log_in(stranger, email, OTHER)).status_code == 422


async def test_an_account_of_the_command_line_gets_its_login_by_a_reset(entrance: Entrance) -> None:
    email, browser = new_address(), entrance.browser()
    async with entrance.api.parts.database.transaction() as session:
        account = await accounts.create_account(session, PLANS, email=email, plan="starter", now=datetime.now(UTC))
        await operators.set_operator(session, account_id=account.id, operator=True, now=datetime.now(UTC))
    assert (await log_in(browser, email)).status_code == 422
    await browser.post("/forgot", {"email": email})
    assert (await confirm(browser, *await entrance.link(email), PASSWORD)).status_code == 303
    assert is_inside(await log_in(browser, email))
    found = await entrance.account(email)
    assert found is not None
    assert found.custom_included is None


async def test_unknown_wrong_and_unconfirmed_read_the_same(entrance: Entrance) -> None:
    known, waiting, browser = new_address(), new_address(), entrance.browser()
    await entrance.verified(known)
    await sign_up(entrance.browser(), waiting)
    answers = [await log_in(browser, email, OTHER) for email in (known, waiting, new_address(), "no address")]
    pages = {re.sub(r'value="[^"]*"', "", answer.text) for answer in answers}
    assert len(pages) == 1
    assert "The address or the password is not right." in pages.pop()
    assert {answer.status_code for answer in answers} == {422}


async def test_answers_about_an_address_take_equally_long(entrance: Entrance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing_up, "SHORTEST_SECONDS", SHORTEST_SECONDS)
    email, browser = new_address(), entrance.browser()
    await entrance.verified(email)
    for each in (email, new_address()):
        for page, fields in (("/forgot", {}), ("/sign-up", {"password": PASSWORD})):
            await browser.get(page)
            began = time.monotonic()
            assert (await browser.post(page, {"email": each, **fields})).status_code == 303
            assert time.monotonic() - began >= SHORTEST_SECONDS  # a sleep, so no machine is too fast for it


async def test_a_forgotten_password_of_nobody_writes_to_nobody(entrance: Entrance) -> None:
    email = new_address()
    answer = await entrance.browser().post("/forgot", {"email": email})
    assert answer.headers["Location"] == "/dashboard/check-mail?about=reset"
    assert await entrance.mail(email) == []


async def test_who_is_signed_in_may_ask_for_a_new_password_too(entrance: Entrance) -> None:
    email = new_address()
    browser = await entrance.verified(email)
    shown = words(await browser.follow(await browser.post("/forgot", {"email": email})))
    assert "Choose a new password with it within an hour" in shown
    assert "Send the link again" not in shown
    assert is_inside(await browser.get("/check-mail"))


@pytest.mark.usefixtures("slow_limits")
async def test_a_new_password_signs_every_browser_out_and_lifts_the_lock(entrance: Entrance) -> None:
    email = new_address()
    first = await entrance.verified(email)
    second = entrance.browser()
    assert is_inside(await log_in(second, email))
    for _ in range(6):
        refused = await log_in(entrance.browser(), email, OTHER)
    assert refused.status_code == 429
    await second.post("/forgot", {"email": email}, page="/keys")
    page, token = await entrance.link(email)
    assert (await confirm(entrance.browser(), page, token, "short")).status_code == 422
    assert (await confirm(entrance.browser(), page, token, OTHER)).status_code == 303
    assert [await is_signed_in(each) for each in (first, second)] == [False, False]
    assert (await log_in(first, email)).status_code == 422
    assert is_inside(await log_in(first, email, OTHER))


async def test_a_link_that_is_too_old_is_dead(entrance: Entrance) -> None:
    email, browser = new_address(), entrance.browser()
    await sign_up(browser, email)
    page, token = await entrance.link(email)
    account = await entrance.account(email)
    assert account is not None
    async with entrance.api.parts.database.transaction() as session:
        over = datetime.now(UTC) - timedelta(seconds=1)
        await session.execute(update(EmailToken).where(EmailToken.account_id == account.id).values(expires_at=over))
    assert (await browser.get(f"{page}?token={token}")).status_code == 404


async def test_a_link_is_good_for_its_own_page_alone(entrance: Entrance) -> None:
    email, browser = new_address(), entrance.browser()
    await sign_up(browser, email)
    _, token = await entrance.link(email)
    for page in ("/reset", "/change-address"):
        assert (await browser.get(f"{page}?token={token}")).status_code == 404


async def test_signing_in_leads_to_the_page_that_was_asked_for(entrance: Entrance) -> None:
    email = new_address()
    await entrance.verified(email)
    browser = entrance.browser()
    answer = await browser.get("/keys?kind=live")
    asked = await browser.follow(answer)
    found = re.search(r'name="next" value="([^"]+)"', asked.text)
    assert found
    answer = await log_in(browser, email, next=unescape(found[1]))
    assert answer.headers["Location"] == "/dashboard/keys?kind=live"


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ("/dashboard/jobs?page=2", "/jobs?page=2"),
        ("https://evil.example/dashboard/", "/"),
        ("//evil.example/dashboard/", "/"),
        ("/dashboard//evil.example", "/"),
        ("/dashboard/\\evil.example", "/"),
        ("/dashboardevil", "/"),
        ("/dashboard/jobs\r\nSet-Cookie: x=1", "/"),
        ("/dashboard/log-in?next=/", "/"),
        ("/api/v1/usage", "/"),
        ("", "/"),
    ],
)
def test_only_own_pages_are_gone_to(wanted: str, path: str) -> None:
    assert own_path(wanted) == path


async def test_every_signing_in_makes_another_session_and_ends_the_one_before(entrance: Entrance) -> None:
    email = new_address()
    browser = await entrance.verified(email)
    name = cookie_name(SESSION, Settings().dashboard)
    before = browser.client.cookies[name]
    token = (await browser.get("/log-in", headers={"Cookie": ""})).text
    assert token is not None
    other = entrance.browser()
    other.client.cookies.set(name, before, domain=HOST, path="/")
    form = await other.get("/forgot")
    found = re.search(r'name="form_token" value="([^"]+)"', form.text)
    assert found
    fields = {"form_token": found[1], "email": email, "password": PASSWORD}
    answer = await other.client.post("/dashboard/log-in", data=fields, headers={"Sec-Fetch-Site": "same-origin"})
    assert is_inside(answer)
    assert other.client.cookies[name] != before
    assert not await is_signed_in(browser)


async def test_logging_out_ends_the_session_on_the_server(entrance: Entrance) -> None:
    browser = await entrance.verified(new_address())
    name = cookie_name(SESSION, Settings().dashboard)
    kept = browser.client.cookies[name]
    answer = await browser.post("/log-out", page="/forgot")
    assert answer.headers["Location"] == "/dashboard/log-in?notice=signed_out"
    assert name not in browser.client.cookies
    browser.client.cookies.set(name, kept, domain=HOST, path="/")
    assert not await is_signed_in(browser)


@pytest.fixture
def slow_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual numbers of free tries, and then waits that no machine is slow enough to sit out."""
    for name in ("SIGN_IN_PER_ADDRESS", "SIGN_IN_PER_NETWORK"):
        limit: Limit = getattr(credentials, name)
        monkeypatch.setattr(credentials, name, replace(limit, locked_at=limit.free))


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


async def test_a_second_account_of_a_mailbox_has_no_trial(entrance: Entrance) -> None:
    name = uuid.uuid4().hex
    await entrance.verified(f"{name}@gmail.com")
    browser, email = entrance.browser(), f"{name[:4]}.{name[4:]}+shop@googlemail.com"
    await sign_up(browser, email)
    answer = await confirm(browser, *await entrance.link(email), PASSWORD)
    assert answer.headers["Location"] == "/dashboard/?notice=verified_without_trial"
    account = await entrance.account(email)
    assert account is not None
    assert account.custom_included == 0


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"email": "nobody", "password": PASSWORD}, "not an e-mail address"),
        ({"email": "ann@example.com", "password": "short"}, "at least 10 characters"),
        ({"email": "ann@example.com", "password": "ann@example.com"}, "is no password"),
        ({"email": "ann@example.com", "password": "password123"}, "first that anybody would try"),
    ],
)
async def test_a_form_that_is_not_right_says_why(entrance: Entrance, fields: dict[str, str], sentence: str) -> None:
    answer = await entrance.browser().post("/sign-up", fields)
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert fields["password"] not in answer.text or fields["password"] == fields["email"]
    assert await entrance.account("ann@example.com") is None


async def test_two_sign_ups_with_one_address_at_once_make_one_account(entrance: Entrance) -> None:
    email = new_address()
    answers = await asyncio.gather(*(sign_up(entrance.browser(), email) for _ in range(3)))
    assert [answer.status_code for answer in answers] == [303] * 3
    async with entrance.api.parts.database.reading() as session:
        found = await session.scalars(select(Account).where(Account.email == email))
        assert len(found.all()) == 1


async def test_what_is_kept_tells_neither_password_nor_token_nor_where_tries_came_from(entrance: Entrance) -> None:
    email = new_address()
    browser = await entrance.verified(email)
    account = await entrance.account(email)
    assert account is not None
    async with entrance.api.parts.database.reading() as session:
        login = await session.get_one(Login, account.id)
        kept = (await session.scalars(select(LoginSession).where(LoginSession.account_id == account.id))).one()
    assert login.password_hash is not None
    assert login.password_hash.startswith("$argon2id$")
    assert kept.digest != browser.client.cookies[cookie_name(SESSION, Settings().dashboard)]


async def test_a_browser_that_will_not_keep_its_cookie_is_told_so(entrance: Entrance, open_api: OpenApi) -> None:
    plain = entrance.browser(base_url="http://192.0.2.8:8000").client
    assert "will not keep you signed in" in words(await plain.get("/dashboard/log-in"))
    for headers in ({"Sec-Fetch-Site": "none"}, {"X-Forwarded-Proto": "https"}):
        assert "will not keep" not in words(await plain.get("/dashboard/log-in", headers=headers))
    assert "will not keep" not in words(await entrance.browser().get("/log-in"))
