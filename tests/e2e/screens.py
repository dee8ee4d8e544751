"""``python -m tests.e2e.screens``: a picture of every page, light and dark, on a desktop and on a phone.

The account has three months behind it, a few products, and pictures that the engine has just drawn.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
from PIL import Image
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from api.dashboard.samples import PORTRAIT, SAMPLES, pixels_of
from api.dashboard.visitor import SESSION, cookie_name
from bench.dashboard.account import BusyAccount, write_account
from domain.access import keys
from domain.access.keys import KeyDigester
from domain.authentication import sessions
from domain.money.plans import load_plans
from domain.tables import Account
from domain.webhooks import EndpointTerms, create_endpoint
from runtime.database import Database
from tests.e2e.conftest import CHROMIUM_ARGUMENTS
from tests.e2e.person import DESKTOP, JOB_MS, PHONE, Person
from tests.e2e.site import Site
from tests.pictures import data_uri, encoded
from tests.stack.stack import running_stack, until

OUT = Path("out/screens")
EMAIL = "maria@studio-lind.example"
JOBS = 420
SIGNED_OUT = ("/sign-up", "/log-in", "/forgot", "/check-mail", "/outbox", "/verify-picture")


async def main() -> None:
    """Take them all."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("Chromium is not installed (Debian: apt-get install chromium)")
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack:
        site = Site(stack)
        busy, token, key = await furnish(site)
        job_id, product_id = work(site, key)
        await site.keep_logo(EMAIL)
        async with async_playwright() as playwright:
            chromium = await playwright.chromium.launch(executable_path=program, args=CHROMIUM_ARGUMENTS)
            async with Person.before(chromium, site) as newcomer:
                await newcomer.sign_up()
                await shoot(newcomer.page, site, "/", "first-day-light-desktop")
            for scheme in ("light", "dark"):
                for device, viewport in (("desktop", DESKTOP), ("phone", PHONE)):
                    looks = f"{scheme}-{device}"
                    async with window(chromium, scheme, viewport) as context:
                        for path in SIGNED_OUT:
                            await shoot(await context.new_page(), site, path, f"{name_of(path)}-{looks}")
                    async with window(chromium, scheme, viewport) as context:
                        await sign_in(context, site, token)
                        for name, path in pages(busy, job_id, product_id).items():
                            await shoot(await context.new_page(), site, path, f"{name}-{looks}")
                        await shoot_result(await context.new_page(), site, looks)
                        await shoot_check(await context.new_page(), site, looks)
            await chromium.close()
    sys.stdout.write(f"{len(list(OUT.glob('*.png')))} pictures in {OUT}\n")


def pages(busy: BusyAccount, job_id: str, product_id: str) -> dict[str, str]:
    """Every page of somebody who is signed in, by the name of its picture."""
    return {
        "overview": "/",
        "playground": "/playground",
        "jobs": "/jobs",
        "job": f"/jobs/{job_id}",
        "job-failed": f"/jobs/{busy.failed_job_id}",
        "job-delete": f"/jobs/{job_id}/delete",
        "products": "/products",
        "product": f"/products/{product_id}",
        "product-new": "/products/new",
        "product-edit": f"/products/{product_id}/edit",
        "product-import": "/products/import",
        "keys": "/keys",
        "key": f"/keys/{busy.key_id}",
        "key-revoke": f"/keys/{busy.key_id}/revoke",
        "key-replace": f"/keys/{busy.key_id}/replace",
        "docs-web-pages": "/docs/publishable-keys",
        "webhooks": "/webhooks",
        "billing": "/billing",
        "billing-top-up": "/billing/top-up?generations=250",
        "billing-plan": "/billing/plan?plan=growth",
        "billing-order": f"/billing/orders/{busy.payment_id}",
        "settings": "/settings",
        "settings-erase": "/settings/erase",
        "docs": "/docs",
        "docs-api": "/docs/api",
        "docs-limits": "/docs/limits",
        "admin-accounts": "/admin/accounts",
        "admin-account": f"/admin/accounts/{busy.account_id}",
        "admin-payments": "/admin/payments",
        "admin-system": "/admin/system",
        "admin-comparisons": "/admin/comparisons",
        "admin-audit": "/admin/audit",
        "not-found": "/nothing",
    }


async def furnish(site: Site) -> tuple[BusyAccount, str, str]:
    """An account with a past; returns it with a session's token and an API key."""
    settings, now = site.settings, datetime.now(UTC)
    database, digester = Database(settings.database), KeyDigester(*settings.security.peppers())
    with database.transaction() as session:
        busy = write_account(session, load_plans(), digester, now=now, jobs=JOBS, products=1)
        session.get_one(Account, busy.account_id).email = EMAIL
        _, key = keys.create_key(session, digester, account_id=busy.account_id)
        terms = EndpointTerms("https://studio-lind.example/hooks/try-on", ["tryon.completed", "tryon.failed"], "Shop")
        create_endpoint(session, account_id=busy.account_id, terms=terms)
        token = sessions.open_session(
            session,
            account_id=busy.account_id,
            address="127.0.0.1",
            user_agent="Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0 Safari/537.36",
            now=now,
        )
    database.close()
    return busy, token, key


def work(site: Site, key: str) -> tuple[str, str]:
    """Register the sample garments and try one on, as a shop does; returns the job's and a product's id."""
    with httpx.Client(base_url=site.address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        listed = client.get("/api/v1/products").json()["products"]
        client.delete(f"/api/v1/products/{listed[0]['id']}")  # it has no picture
        for name, sample in SAMPLES.items():
            product = client.post(
                "/api/v1/products",
                json={
                    "externalId": name.upper().replace("_", "-"),
                    "name": name.replace("_", " ").capitalize(),
                    "category": sample.category,
                    "garmentImageUrl": data_uri(encoded(Image.fromarray(pixels_of(name)))),
                },
            ).json()
        portrait = Image.fromarray(pixels_of(PORTRAIT)).resize((1024, 1024), Image.Resampling.LANCZOS)
        body = {
            "customerPhotoBase64": data_uri(encoded(portrait)),
            "productId": "STRIPED-SWEATER",
            "tuckState": "untucked",
            "size": "M",
            "customerSize": "S",
        }
        job_id = str(client.post("/api/v1/tryon", json=body).json()["jobId"])
        until(lambda: client.get(f"/api/v1/tryon/{job_id}").json().get("resultImageBase64"), JOB_MS / 1000)
        return job_id, str(product["id"])


@asynccontextmanager
async def window(chromium: Browser, scheme: str, viewport: dict[str, int]) -> AsyncIterator[BrowserContext]:
    """A browser's window of this look and size."""
    context = await chromium.new_context(color_scheme=scheme, viewport=viewport)  # type: ignore[arg-type]
    yield context
    await context.close()


async def sign_in(context: BrowserContext, site: Site, token: str) -> None:
    """Give a window the session's cookie."""
    await context.add_cookies(
        [
            {
                "name": cookie_name(SESSION, site.settings.dashboard),
                "value": token,
                "domain": "127.0.0.1",
                "path": "/",
                "secure": True,
                "httpOnly": True,
                "sameSite": "Lax",
            }
        ]
    )


async def shoot(page: Page, site: Site, path: str, name: str) -> None:
    """One picture of a whole page."""
    await page.goto(f"{site.address}/dashboard{path}", wait_until="networkidle")
    await page.screenshot(path=OUT / f"{name}.png", full_page=True)
    await page.close()


async def shoot_result(page: Page, site: Site, looks: str) -> None:
    """The playground once it has drawn something."""
    await page.goto(f"{site.address}/dashboard/playground")
    await page.get_by_role("button", name="Fill in samples").click()
    await page.locator("#go").click()
    await page.locator("#done").wait_for(state="visible", timeout=JOB_MS)
    await page.wait_for_load_state("networkidle")
    await page.screenshot(path=OUT / f"playground-result-{looks}.png", full_page=True)
    await page.close()


async def shoot_check(page: Page, site: Site, looks: str) -> None:
    """The playground once a check has found something to change."""
    await page.goto(f"{site.address}/dashboard/playground")
    await page.get_by_role("button", name="Fill in samples").click()
    await page.locator("[name='garments[0].category']").select_option("lower_body")
    await page.locator("#check").click()
    await page.locator(".found:visible").first.wait_for(timeout=JOB_MS)
    await page.screenshot(path=OUT / f"playground-check-{looks}.png", full_page=True)
    await page.close()


def name_of(path: str) -> str:
    """What a picture of a page is called."""
    return path.strip("/").replace("/", "-")


if __name__ == "__main__":
    asyncio.run(main())
