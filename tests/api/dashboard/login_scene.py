"""People at the door: several browsers, from networks of their own, and the mail that they get."""

from __future__ import annotations

import itertools
import re
import uuid

import httpx
from sqlalchemy import select

from domain import accounts
from domain.tables import Account, Mail
from tests.api.conftest import Api
from tests.api.dashboard.browser import HOST, Browser, words

PASSWORD, OTHER = "three plain words", "three other words"
NETWORKS = (f"10.{a}.{b}.7" for a, b in itertools.product(range(256), range(256)))
LINK = re.compile(r"https?://\S+/dashboard(/[a-z-]+)\?token=(\S+)")


class LoginPages:
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
        with self.api.parts.database.reading() as session:
            found = session.scalars(select(Mail).where(Mail.to_address == email).order_by(Mail.created_at))
            return list(found.all())

    async def link(self, email: str) -> tuple[str, str]:
        """Page and token of the newest link to an address."""
        found = LINK.search((await self.mail(email))[-1].body)
        assert found
        return found[1], found[2]

    async def account(self, email: str) -> Account | None:
        return await self.api.parts.database.read(accounts.find_account_by_email, email=email)

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
