"""A real browser before a real stack. Everything here is skipped, with the reason, where no Chromium is installed."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.e2e.person import Person
from tests.e2e.site import Site
from tests.stack.stack import Stack

PROJECT = Path(__file__).parents[2]
AXE = PROJECT / ".venv" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"]
"""Containers run as root and have little shared memory; pages are our own."""

LONGEST_TEST_SECONDS = 500
"""Dozens of pages one after the other, beside whatever else the machine does; each page has its own, shorter limit."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(LONGEST_TEST_SECONDS))


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """Debian's Chromium; Playwright's own browsers would have to be downloaded."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=CHROMIUM_ARGUMENTS)
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def site(stack: Stack) -> Site:
    """One stack for every test here; each takes an account of its own."""
    return Site(stack)


@pytest.fixture
async def person(chromium: Browser, site: Site) -> AsyncIterator[Person]:
    """Somebody who has just heard of the service, before a desktop computer."""
    async with Person.before(chromium, site) as somebody:
        yield somebody


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    if not AXE.is_file():
        pytest.skip("axe-core is not there (make test-env fetches it where there is npm)")
    return AXE.read_text()
