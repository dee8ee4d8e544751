"""Phones, keyboards, screen readers, dark rooms."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser

from tests.e2e.person import JOB_MS, PHONE, Person
from tests.e2e.site import Site

PLACES = ("Overview", "Playground", "Jobs", "Products", "API keys", "Webhooks", "Billing", "Settings", "Docs")
PAGES = (
    *("/", "/playground", "/jobs", "/products", "/products/new", "/products/import", "/keys", "/webhooks"),
    *("/billing", "/settings"),
    *("/docs", "/admin/accounts", "/admin/payments", "/admin/system", "/admin/comparisons", "/admin/audit"),
)
SIGNED_OUT = ("/sign-up", "/log-in", "/forgot", "/check-mail", "/outbox", "/verify-picture")
NARROW = {"width": 360, "height": 740}


async def test_everything_is_reached_on_a_phone_and_nothing_is_wider(chromium: Browser, site: Site) -> None:
    async with Person.before(chromium, site, viewport=NARROW, has_touch=True, is_mobile=True) as person:
        await person.sign_up()
        await person.become_operator()
        for place in PLACES:
            await person.visit(place)
            await person.page.wait_for_load_state()
        wide = []
        for path in (*PAGES, *SIGNED_OUT):
            await person.open(path)
            width, seen = await person.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            wide += [(path, width)] if width > seen else []
        assert wide == []
        assert person.complaints == []


async def test_the_keyboard_is_enough(person: Person) -> None:
    press, focused = person.page.keyboard.press, person.page.evaluate
    await person.open("/sign-up")
    await person.page.wait_for_function("document.activeElement.id === 'email'")  # it has the focus by itself
    await person.page.keyboard.type(person.email)
    await press("Tab")
    await person.page.keyboard.type(person.password)
    await press("Enter")
    await person.sees_heading("Check your mail")
    await person.finish_signing_up()
    await press("Tab")
    assert await focused("document.activeElement.textContent") == "Skip to content"
    for _ in range(40):
        await press("Tab")
        if await focused("document.activeElement.textContent.trim()") == "API keys":
            break
    await press("Enter")
    await person.sees_heading("API keys")
    for _ in range(40):
        await press("Tab")
        if await focused("document.activeElement.id") == "name":
            break
    await person.page.keyboard.type("Shop")
    for _ in range(10):
        await press("Tab")
        if await focused("document.activeElement.type") == "radio":
            break
    await press("ArrowDown")  # from a live key to a test key
    await press("Tab")
    outline = await focused("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    await press("Enter")
    await person.sees_heading("Your new key")
    assert (await person.page.locator("#new-key").inner_text()).startswith("vto_test_")


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 900}], ids=["phone", "desktop"])
async def test_axe_finds_nothing_serious(chromium: Browser, site: Site, axe: str, viewport: dict[str, int]) -> None:
    async with Person.before(chromium, site, viewport=viewport, bypass_csp=True) as person:
        found = {path: await serious(person, axe, path) for path in SIGNED_OUT}
        await person.sign_up()
        await person.become_operator()
        await person.new_key("test")
        found["new key"] = await complaints_of_axe(person, axe)
        await person.press("Done")
        await person.page.get_by_role("link", name="Shop").click()
        await person.sees_heading("Shop")
        found["key"] = await complaints_of_axe(person, axe)
        await person.new_webhook()
        await person.page.get_by_text("Show the secret").click()
        await person.page.get_by_text("1 attempt").click()
        found["webhook"] = await complaints_of_axe(person, axe)
        found |= {path: await serious(person, axe, path) for path in PAGES}
        await person.open("/playground")
        await person.press("Fill in samples")
        await person.page.locator("[name='garments[0].category']").select_option("lower_body")
        await person.press("Check the pictures")
        await person.page.locator(".found:visible").wait_for(timeout=JOB_MS)
        found["checked pictures"] = await complaints_of_axe(person, axe)
        assert {path: each for path, each in found.items() if each} == {}


async def serious(person: Person, axe: str, path: str) -> list[str]:
    """What axe-core finds on a page that keeps somebody from using it."""
    await person.open(path)
    return await complaints_of_axe(person, axe)


async def complaints_of_axe(person: Person, axe: str) -> list[str]:
    """By light with every rule, in the dark with the one that colours can break."""
    await person.page.add_script_tag(content=axe)
    found = []
    for scheme, options in (("light", "{}"), ("dark", "{runOnly: ['color-contrast']}")):
        await person.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # no colour half way
        found += await _complaints(person, f"axe.run({{...{options}, resultTypes: ['violations']}})")
    return found


async def _complaints(person: Person, run: str) -> list[str]:
    result: dict[str, Any] = await person.page.evaluate(run)
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in result["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


SWAGGERS_OWN = {"nested-interactive"}
"""What Swagger UI is built of: its summaries are buttons with links in them."""


async def test_the_pages_of_the_document_load_nothing_from_elsewhere_and_can_be_read(
    person: Person, site: Site, axe: str
) -> None:
    loaded: list[str] = []
    page = person.page
    page.on("response", lambda answer: loaded.append(answer.url))
    for path, there in (("/redoc", "h1"), ("/docs", ".opblock-summary-control")):
        await page.goto(f"{site.address}{path}")
        await page.locator(there).first.wait_for()
    assert [url for url in loaded if not url.startswith((site.address, "data:", "blob:"))] == []
    await page.evaluate(axe)
    found = await page.evaluate("axe.run()")
    assert {violation["id"] for violation in found["violations"]} <= SWAGGERS_OWN
