"""Somebody before a browser, who reads labels and headings and presses what they name."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, ConsoleMessage, Locator, Page, expect

from tests.e2e.site import Site

PATIENCE_MS = 40_000
"""A page that takes longer is taken for broken; the machines that run this are busy."""

JOB_MS = 120_000
"""The same for a picture."""

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@dataclass
class Person:
    """One browser of one person.

    Attributes:
        complaints: What the browser's console said of errors, a broken content policy among them.
    """

    page: Page
    site: Site
    email: str
    password: str = "a few words in a row"
    complaints: list[str] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def before(cls, chromium: Browser, site: Site, **context: Any) -> AsyncIterator[Person]:
        """Somebody new; ``context`` is what Playwright's contexts take, such as ``viewport``."""
        opened = await chromium.new_context(**{"viewport": DESKTOP, "accept_downloads": True, **context})
        opened.set_default_timeout(PATIENCE_MS)
        page = await opened.new_page()
        somebody = cls(page, site, f"{uuid.uuid4().hex[:12]}@example.com")
        page.on("console", somebody.hear)
        page.on("pageerror", lambda error: somebody.complaints.append(str(error)))
        try:
            yield somebody
        finally:
            await opened.close()

    def hear(self, said: ConsoleMessage) -> None:
        """Note an error; but a 503 is what a busy machine answers, and what becomes of it is seen on the page."""
        if said.type == "error" and "status of 503" not in said.text:
            self.complaints.append(said.text)

    async def open(self, path: str = "/") -> None:
        """A page of the dashboard by its address."""
        await self.page.goto(f"{self.site.address}/dashboard{path}")

    async def visit(self, place: str) -> None:
        """A page by its name in the navigation."""
        menu = self.page.locator("details.menu > summary")
        if await menu.is_visible():
            await menu.click()
        links = self.page.get_by_role("navigation").get_by_role("link", name=place, exact=True)
        await links.locator("visible=true").click()

    def label(self, text: str | re.Pattern[str]) -> Locator:
        """The field with this label."""
        return self.page.get_by_label(text)

    async def press(self, name: str | re.Pattern[str]) -> None:
        """The button of this name, or the link that looks like one."""
        button = self.page.get_by_role("button", name=name)
        await button.or_(self.page.get_by_role("link", name=name)).locator("visible=true").first.click()

    async def reads(self, text: str | re.Pattern[str], milliseconds: float = PATIENCE_MS) -> None:
        """Wait until this stands on the page."""
        await expect(self.page.get_by_text(text).locator("visible=true").first).to_be_visible(timeout=milliseconds)

    async def sees_heading(self, text: str | re.Pattern[str]) -> None:
        """Wait until the page is called so."""
        await expect(self.page.get_by_role("heading", level=1, name=text)).to_be_visible(timeout=PATIENCE_MS)

    async def sign_up(self) -> None:
        """From nothing to the overview, by the outbox of a service that has no mail server."""
        await self.open("/sign-up")
        await self.label("E-mail address").fill(self.email)
        await self.label("Password").fill(self.password)
        await self.press("Create account")
        await self.sees_heading("Check your mail")
        await self.finish_signing_up()

    async def finish_signing_up(self) -> None:
        """From the page that says that a letter is on its way."""
        await self.press("Open the outbox")
        letter = self.page.get_by_role("article").filter(has_text=self.email)
        await letter.get_by_role("link").first.click()
        await self.label("Password").fill(self.password)
        await self.press("Confirm and continue")
        await self.sees_heading("Overview")

    async def sign_in(self) -> None:
        """With the password."""
        await self.open("/log-in")
        await self.label("E-mail address").fill(self.email)
        await self.label("Password").fill(self.password)
        await self.press("Sign in")
        await self.sees_heading("Overview")

    async def become_operator(self) -> None:
        """As whoever has the machine makes somebody one; it signs them out."""
        self.site.tryon("operator", "add", self.email)
        await self.sign_in()

    async def new_key(self, mode: str = "live") -> str:
        """An API key, copied from the page that shows it once."""
        await self.open("/keys")
        await self.page.locator("#name").fill("Shop")
        await self.page.locator(f"input[name=mode][value={mode}]").check()
        await self.press("Create key")
        await self.sees_heading("Your new key")
        return await self.page.locator("#new-key").inner_text()

    async def new_webhook(self) -> None:
        """Add an endpoint that nobody serves, send it an example, and wait until its page tells of the attempt."""
        await self.open("/webhooks")
        await self.label("URL").fill("https://hooks.invalid/try-on?token=s3cret")
        await self.label("Description").fill("Order pages")
        await self.press("Add endpoint")
        await self.sees_heading("Order pages")
        await self.press("Send example")
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while not await self.page.get_by_text("1 attempt").count():
                await asyncio.sleep(0.1)
                await self.page.reload()

    async def saved(self, name: str) -> bytes:
        """What a download link of this name gives."""
        async with self.page.expect_download() as downloading:
            await self.press(name)
        return Path(await (await downloading.value).path()).read_bytes()
