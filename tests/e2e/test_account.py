from __future__ import annotations

import io

import httpx
import numpy as np
from PIL import Image
from playwright.async_api import Browser

from tests.e2e.person import JOB_MS, Person
from tests.e2e.site import Site
from tests.logos import ORANGE


async def sample_result(person: Person) -> Image.Image:
    """Try the samples on in the playground, and fetch what the page shows."""
    await person.open("/playground")
    await person.press("Fill in samples")
    await person.page.locator("#go").click()
    await person.page.locator("#done").wait_for(state="visible", timeout=JOB_MS)
    address = await person.page.locator("#download").get_attribute("href")
    fetched = await person.page.request.get(f"{person.site.address}{address}")
    return Image.open(io.BytesIO(await fetched.body())).convert("RGB")


def orange_share(picture: Image.Image) -> float:
    """How much of the lower right corner has the logo's colour."""
    corner = np.asarray(picture.crop((int(picture.width * 0.78), int(picture.height * 0.75), *picture.size)), float)
    return float((np.abs(corner - ORANGE).max(axis=2) < 30).mean())


async def test_a_watermark_that_is_switched_on_is_on_the_next_result(person: Person) -> None:
    await person.sign_up()
    assert orange_share(await sample_result(person)) < 0.01
    await person.site.keep_logo(person.email)
    await person.visit("Settings")
    await person.press("Turn on")
    await person.reads("on")
    assert orange_share(await sample_result(person)) > 0.1
    assert person.complaints == []


async def test_a_check_says_under_each_picture_what_to_change(person: Person) -> None:
    await person.sign_up()
    await person.open("/playground")
    await person.press("Fill in samples")
    category = person.page.locator("[name='garments[0].category']")
    await category.select_option("lower_body")
    await person.press("Check the pictures")
    found = person.page.locator("[data-found='garments[0].garmentImageUrl'] .problem")
    await found.wait_for(timeout=JOB_MS)
    assert "garment for the lower body" in await found.inner_text()
    await person.reads("These pictures cannot be used.")
    await category.select_option("upper_body")
    assert await person.page.locator(".found:visible").count() == 0
    await person.press("Check the pictures")
    await person.reads("The pictures can be used.", JOB_MS)
    assert await person.page.locator("#done").is_hidden()
    assert person.complaints == []


async def test_a_blocked_account_is_told_why_and_its_calls_are_refused(chromium: Browser, site: Site) -> None:
    async with Person.before(chromium, site) as owner, Person.before(chromium, site) as operator:
        await owner.sign_up()
        key = {"Authorization": f"Bearer {await owner.new_key()}"}
        await operator.sign_up()
        await operator.become_operator()
        await operator.open(f"/admin/accounts?q={owner.email}")
        await operator.page.get_by_role("link", name=owner.email).click()
        await operator.page.locator("#reason").fill("The invoice of May is open.")
        await operator.press("Block account")
        await operator.reads("Unblock account")
        assert httpx.get(f"{site.address}/api/v1/usage", headers=key).status_code == 403
        await owner.open("/keys")
        await owner.reads("The invoice of May is open.")
        await owner.page.locator("#name").fill("Shop")
        await owner.press("Create key")
        await owner.reads("This account is blocked: The invoice of May is open.")
        await operator.press("Unblock account")
        await operator.reads("Block account")
        assert httpx.get(f"{site.address}/api/v1/usage", headers=key).status_code == 200
