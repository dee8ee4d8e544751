"""The widget on a shop's page of another origin: the example of the docs as it stands, with an address and a key."""

from __future__ import annotations

import asyncio
import base64
import functools
import http.server
import io
import json
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image
from playwright.async_api import Browser, Frame, FrameLocator, Page, Response, Route, expect

from api.dashboard.samples import PORTRAIT, file_of, picture_of, pixels_of
from tests.e2e.person import JOB_MS, PHONE, Person
from tests.e2e.site import Site
from tests.pictures import data_uri

PROJECT = Path(__file__).parents[2]
SHOP = PROJECT / "docs" / "examples" / "shop"
SERVICE, KEY = "http://localhost:8000", "vto_pub_…"
"""What stands in the example for the service and the key."""

PRODUCTS = {"plain-tee": "plain_tee", "striped-sweater": "striped_sweater"}


class ShopHandler(http.server.SimpleHTTPRequestHandler):
    """Files of the example; in its page, ``replacing`` names what stands for what."""

    def __init__(self, *arguments: Any, replacing: dict[str, str]) -> None:
        self.replacing = replacing
        super().__init__(*arguments, directory=str(SHOP))

    def do_GET(self) -> None:
        if self.path != "/":
            super().do_GET()
            return
        text = (SHOP / "index.html").read_text()
        for old, new in self.replacing.items():
            assert old in text
            text = text.replace(old, new)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(replacing: dict[str, str]) -> Iterator[str]:
    """A shop under its address."""
    handler = functools.partial(ShopHandler, replacing=replacing)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def shop(site: Site) -> Iterator[str]:
    """A shop with two products and a key for its pages; another shop has the same page without being allowed."""
    email = f"{uuid.uuid4().hex[:12]}@example.com"
    site.tryon("account", "create", "--email", email, "--plan", "growth")
    secret = json.loads(site.tryon("key", "create", "--account", email, "--json"))["apiKey"]
    for sku, sample in PRODUCTS.items():
        product = {
            "externalId": sku,
            "name": sku,
            "category": "upper_body",
            "garmentImageUrl": data_uri(picture_of(sample), "image/webp"),
        }
        made = httpx.post(
            f"{site.address}/api/v1/products", json=product, headers={"Authorization": f"Bearer {secret}"}, timeout=60
        )
        assert made.status_code == 201, made.text
    replacing: dict[str, str] = {SERVICE: site.address}
    with served(replacing) as address:
        made_key = site.tryon("key", "create", "--account", email, "--publishable", "--origin", address, "--json")
        replacing[KEY] = json.loads(made_key)["apiKey"]
        yield address


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "me.jpg"
    Image.fromarray(pixels_of(PORTRAIT)).save(path, quality=92)
    return path


def dialog_of(page: Page) -> FrameLocator:
    return page.frame_locator(".try-on-dialog iframe")


async def events_of(page: Page) -> list[dict[str, Any]]:
    noted: list[dict[str, Any]] = await page.evaluate("window.noted")
    return noted


NOTE_EVENTS = """
window.noted = [];
for (const name of ["opened", "completed", "failed", "closed"]) {
  document.addEventListener(`try-on-${name}`, (event) => window.noted.push({ name, ...event.detail }));
}
"""


async def test_a_visitor_sees_two_products_on_themselves(
    chromium: Browser, site: Site, shop: str, photo: Path, axe: str
) -> None:
    async with Person.before(chromium, site) as person:
        page = person.page
        await page.add_init_script(NOTE_EVENTS)
        await page.goto(shop)
        opener = page.locator("try-on[product=plain-tee]")
        await opener.get_by_role("button", name="See it on you").focus()
        await page.keyboard.press("Enter")
        dialog = dialog_of(page)
        await expect(dialog.locator("#product")).to_have_text("Plain tee")
        assert await dialog.locator("html").evaluate("html => getComputedStyle(html).getPropertyValue('--accent')") == (
            "#8a3b12"
        )
        await dialog.get_by_role("button", name="Try it on").click()
        await expect(dialog.get_by_role("alert")).to_have_text("Choose a photo first.")
        await dialog.locator("#file").set_input_files(photo)
        await dialog.get_by_role("button", name="Try it on").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("agree")
        await dialog.get_by_role("checkbox").check()
        await dialog.get_by_role("button", name="Try it on").click()
        await expect(dialog.locator("#result")).to_be_visible(timeout=JOB_MS)
        plain = await dialog.locator("#after").get_attribute("src")
        assert plain is not None
        assert plain.startswith("data:image/jpeg;base64,")
        before = await dialog.locator("#compare").screenshot()
        await dialog.get_by_label("Show how much").press("End")
        assert await dialog.locator("#compare").screenshot() != before
        async with page.expect_download() as downloading:
            await dialog.get_by_role("link", name="Download").click()
        assert (await downloading.value).suggested_filename == "try-on.jpg"
        await dialog.get_by_role("button", name="Striped sweater").click()
        await expect(dialog.locator("#product")).to_have_text("Striped sweater")
        await expect(dialog.locator("#result")).to_be_visible(timeout=JOB_MS)
        assert await dialog.locator("#after").get_attribute("src") != plain
        frame = page.frames[-1]
        await frame.evaluate(axe)
        found = await frame.evaluate("axe.run({resultTypes: ['violations']})")
        assert [each["id"] for each in found["violations"]] == []
        await page.keyboard.press("Escape")
        await expect(page.locator(".try-on-dialog dialog")).to_be_hidden()
        assert await page.evaluate("document.activeElement.getAttribute('product')") == "plain-tee"
        await page.wait_for_function("window.noted.at(-1).name === 'closed'")
        noted = [(each["name"], each["product"]) for each in await events_of(page)]
        assert noted == [
            ("opened", "plain-tee"), ("completed", "plain-tee"), ("completed", "striped-sweater"),
            ("closed", "plain-tee"),
        ]  # fmt: skip
        assert person.complaints == []


async def test_on_a_phone_in_german_with_a_photo_of_nobody(
    chromium: Browser, site: Site, shop: str, tmp_path: Path
) -> None:
    wall = tmp_path / "wall.png"
    Image.new("RGB", (600, 800), (200, 190, 180)).save(wall)
    async with Person.before(chromium, site, viewport=PHONE, locale="de-DE") as person:
        page = person.page
        await page.add_init_script(NOTE_EVENTS)
        await page.goto(shop)
        await page.evaluate("document.documentElement.lang = 'de'")
        await page.locator("try-on[product=plain-tee]").click()
        dialog = dialog_of(page)
        await dialog.get_by_role("checkbox").check()
        await dialog.locator("#file").set_input_files(wall)
        await dialog.get_by_role("button", name="Anprobieren", exact=True).click()
        await expect(dialog.get_by_role("alert")).to_contain_text("kein Mensch zu erkennen", timeout=JOB_MS)
        wide = await dialog.locator("html").evaluate("html => html.scrollWidth - html.clientWidth")
        assert wide == 0
        assert [each["code"] for each in await events_of(page) if each["name"] == "failed"] == ["person_not_found"]


async def test_a_shop_that_copied_the_key_gets_no_dialog(chromium: Browser, site: Site, shop: str) -> None:
    page_of_theirs = httpx.get(shop).text
    key = page_of_theirs.partition('key="')[2].partition('"')[0]
    with served({SERVICE: site.address, KEY: key}) as elsewhere:
        async with Person.before(chromium, site) as person:
            await person.page.goto(elsewhere)
            blocked = person.page.expect_console_message(lambda said: "frame-ancestors" in said.text)
            async with blocked:
                await person.page.locator("try-on[product=plain-tee]").click()
            await expect(dialog_of(person.page).locator("#title")).to_have_count(0)
            await person.page.get_by_role("button", name="Close").click()
            await expect(person.page.locator(".try-on-dialog dialog")).to_be_hidden()


async def test_a_dialog_that_does_not_come_up_can_be_left_and_tried_again(
    chromium: Browser, site: Site, shop: str
) -> None:
    async with Person.before(chromium, site, viewport=PHONE) as person:
        page = person.page
        await page.goto(shop)
        await page.evaluate("document.documentElement.lang = 'de'")
        opener, box = page.locator("try-on[product=plain-tee]"), page.locator(".try-on-dialog dialog")
        way_out = page.get_by_role("button", name="Schließen")
        await page.route("**/widget/dialog?*", answered_by_nothing)
        for key in ("Enter", "Escape"):
            await opener.click()
            await expect(way_out).to_be_focused()
            await page.keyboard.press(key)
            await expect(box).to_be_hidden()
        await page.unroute("**/widget/dialog?*")
        await opener.click()
        await expect(dialog_of(page).locator("#product")).to_have_text("Plain tee")
        await expect(box.locator("> button")).to_be_hidden()
        await page.keyboard.press("Escape")
        await expect(box).to_be_hidden()
        assert person.complaints == []


async def test_a_shop_that_swaps_its_body_takes_the_dialog_away_and_gets_it_back(
    chromium: Browser, site: Site, shop: str
) -> None:
    async with Person.before(chromium, site) as person:
        page = person.page
        await page.goto(shop)
        for _ in range(2):
            await page.locator("try-on[product=plain-tee]").click()
            await expect(dialog_of(page).locator("#product")).to_have_text("Plain tee")
            await page.evaluate("""
                const body = document.body.cloneNode(true);
                body.querySelector(".try-on-dialog").remove();
                document.body.replaceWith(body);
            """)
        assert person.complaints == []


async def becomes_true(frame: Frame, expression: str) -> None:
    """Wait for it; the dialog's content policy keeps Playwright from doing so itself."""
    async with asyncio.timeout(JOB_MS / 1000):
        while not await frame.evaluate(expression):
            await asyncio.sleep(0.05)


async def answered_by_nothing(route: Route) -> None:
    """A page without our script."""
    await route.fulfill(body="")


async def unanswered(_: Route) -> None:
    """A service that takes forever."""


A_CAMERA = """
window.asked = [];
window.streams = [];
navigator.mediaDevices.getUserMedia = () => new Promise((resolve) => window.asked.push(() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 600, height: 800 });
  setInterval(() => canvas.getContext("2d").fillRect(0, 0, 600, 800), 50);
  window.streams.push(canvas.captureStream());
  resolve(window.streams.at(-1));
}));
window.allow = () => window.asked.splice(0).forEach((each) => each());
window.live = () => window.streams.filter((each) => each.active).length;
"""
"""In place of the machine's: streams of it come when a test calls ``allow``."""


@asynccontextmanager
async def before_the_camera(chromium: Browser, site: Site, shop: str) -> AsyncIterator[tuple[Page, Frame]]:
    """A shop's page and the frame of its dialog, in which somebody has just asked for the camera."""
    async with Person.before(chromium, site) as person:
        await person.page.add_init_script(A_CAMERA)
        await person.page.goto(shop)
        await person.page.locator("try-on[product=plain-tee]").click()
        await dialog_of(person.page).get_by_role("button", name="Use the camera").click()
        yield person.page, person.page.frames[-1]
        assert person.complaints == []


async def test_the_camera_takes_a_photo_and_is_off(chromium: Browser, site: Site, shop: str) -> None:
    async with before_the_camera(chromium, site, shop) as (_, frame):
        await frame.get_by_role("button", name="Use the camera").click()  # it has not come yet
        await frame.evaluate("allow()")
        await frame.get_by_role("button", name="Take the photo").click()
        await expect(frame.locator("#chosen")).to_be_visible()
        assert await frame.evaluate("[streams.length, live()]") == [1, 0]


async def test_a_camera_that_is_allowed_too_late_is_not_on(chromium: Browser, site: Site, shop: str) -> None:
    async with before_the_camera(chromium, site, shop) as (page, frame):
        await frame.get_by_role("button", name="Close").click()
        await expect(page.locator(".try-on-dialog dialog")).to_be_hidden()
        await frame.evaluate("allow()")
        assert await frame.evaluate("[streams.length, live()]") == [1, 0]


async def test_the_camera_is_off_when_the_shops_page_closes_the_dialog(
    chromium: Browser, site: Site, shop: str
) -> None:
    async with before_the_camera(chromium, site, shop) as (page, frame):
        await frame.evaluate("allow()")
        await expect(frame.locator("#viewfinder")).to_be_visible()
        assert await frame.evaluate("live()") == 1
        await page.locator(".try-on-dialog dialog").evaluate("dialog => dialog.close()")
        await becomes_true(frame, "live() === 0")


async def test_the_camera_is_off_in_another_tab(chromium: Browser, site: Site, shop: str) -> None:
    hide = "value => { Object.defineProperty(document, 'hidden', { value, configurable: true }); "
    hide += "document.dispatchEvent(new Event('visibilitychange')); }"
    async with before_the_camera(chromium, site, shop) as (_, frame):
        await frame.evaluate(hide, True)
        await frame.evaluate("allow()")
        await becomes_true(frame, "streams.length === 1 && live() === 0")
        await frame.evaluate(hide, False)
        await frame.get_by_role("button", name="Use the camera").click()
        await frame.evaluate("allow()")
        await expect(frame.locator("#viewfinder")).to_be_visible()
        await frame.evaluate(hide, True)
        assert await frame.evaluate("[streams.length, live()]") == [2, 0]


async def test_the_camera_is_off_while_a_picture_is_made(chromium: Browser, site: Site, shop: str, photo: Path) -> None:
    async with before_the_camera(chromium, site, shop) as (page, frame):
        await page.route("**/api/v1/tryon", unanswered)
        await frame.locator("#file").set_input_files(photo)
        await expect(frame.locator("#chosen")).to_be_visible()
        await frame.get_by_role("button", name="Use the camera").click()
        await frame.evaluate("allow()")
        await expect(frame.locator("#viewfinder")).to_be_visible()
        await frame.get_by_role("checkbox").check()
        await frame.get_by_role("button", name="Try it on").click()
        await expect(frame.locator("#progress")).to_be_visible()
        assert await frame.evaluate("live()") == 0


PICTURES_HELD = """
window.held = [];
const read = Response.prototype.json;
Response.prototype.json = async function () {
  const body = await read.call(this);
  if (body.status === "completed") await new Promise((resolve) => window.held.push(resolve));
  return body;
};
"""
"""A picture that has arrived is read when a test lets it: too late for a browser to call it off."""


async def test_a_picture_is_never_shown_under_another_products_name(
    chromium: Browser, site: Site, shop: str, photo: Path
) -> None:
    async with Person.before(chromium, site) as person:
        page, dialog = person.page, dialog_of(person.page)
        await page.add_init_script(NOTE_EVENTS + PICTURES_HELD)
        await page.goto(shop)
        tee, sweater = (page.locator(f"try-on[product={sku}]") for sku in PRODUCTS)
        leave, start = (dialog.get_by_role("button", name=name) for name in ("Close", "Try it on"))
        await tee.click()
        frame = page.frames[-1]
        await dialog.get_by_role("checkbox").check()
        await dialog.locator("#file").set_input_files(photo)
        await start.click()
        await becomes_true(frame, "held.length > 0")
        await leave.click()
        await tee.click()
        await expect(dialog.locator("#product")).to_have_text("Plain tee")
        await expect(dialog.locator("#progress")).to_be_visible()
        await leave.click()
        await sweater.click()
        await expect(dialog.locator("#product")).to_have_text("Striped sweater")
        await start.click()
        await frame.evaluate("held.shift()()")
        await leave.click()
        await sweater.click()
        await expect(dialog.locator("#progress")).to_be_visible()
        await becomes_true(frame, "held.length > 0")
        await frame.evaluate("held.shift()()")
        await expect(dialog.locator("#result")).to_be_visible()
        done = [each["product"] for each in await events_of(page) if each["name"] == "completed"]
        assert done == ["striped-sweater"]
        assert person.complaints == []


async def test_a_try_on_that_goes_on_already_is_found_and_not_started_again(
    chromium: Browser, site: Site, shop: str, photo: Path
) -> None:
    async def lose(route: Route) -> None:
        # As the browser would have sent it; Playwright knows what it adds at the end no more than the rest.
        answer = await route.fetch(headers={**route.request.headers, "sec-fetch-site": "same-origin"})
        assert answer.status == 202
        await route.abort()

    async with Person.before(chromium, site) as person:
        page, dialog = person.page, dialog_of(person.page)
        replayed: list[bool] = []

        def note(answer: Response) -> None:
            if answer.request.method == "POST" and answer.url.endswith("/api/v1/tryon"):
                replayed.append("idempotent-replayed" in answer.headers)

        page.on("response", note)
        await page.add_init_script(NOTE_EVENTS)
        await page.goto(shop)
        tee = page.locator(f"try-on[product={next(iter(PRODUCTS))}]")
        leave, start, stop, again = (
            dialog.get_by_role("button", name=name) for name in ("Close", "Try it on", "Stop", "Use another photo")
        )
        result = dialog.locator("#result")
        await tee.click()
        await dialog.get_by_role("checkbox").check()
        await dialog.locator("#file").set_input_files(photo)
        await page.route("**/api/v1/tryon", lose, times=1)
        await start.click()
        await expect(dialog.get_by_role("alert")).to_contain_text("cannot be reached", timeout=JOB_MS)
        await start.click()
        await expect(result).to_be_visible(timeout=JOB_MS)
        assert replayed == [True]

        await again.click()
        await page.route("**/api/v1/tryon/*", unanswered)
        async with page.expect_response("**/api/v1/tryon"):
            await start.click()
        await stop.click()
        await page.unroute("**/api/v1/tryon/*")
        await start.click()
        await expect(result).to_be_visible(timeout=JOB_MS)
        assert replayed == [True, False, True], "what was shown is settled; what was stopped is not"

        await again.click()
        await start.click()
        await leave.click()
        await becomes_true(page.main_frame, "noted.filter(each => each.name === 'completed').length === 3")
        await tee.click()
        await expect(result).to_be_visible()


RED = (200, 30, 30)


async def test_a_cut_out_stands_before_white(chromium: Browser, site: Site, shop: str, tmp_path: Path) -> None:
    cut_out = Image.new("RGBA", (600, 800), (0, 0, 0, 0))
    cut_out.paste((*RED, 255), (200, 200, 400, 800))
    cut_out.save(tmp_path / "me.png")
    async with Person.before(chromium, site) as person:
        await person.page.goto(shop)
        await person.page.locator("try-on[product=plain-tee]").click()
        dialog = dialog_of(person.page)
        await expect(dialog.locator("#product")).to_have_text("Plain tee")
        await dialog.locator("#file").set_input_files(tmp_path / "me.png")
        await expect(dialog.locator("#chosen")).to_be_visible()
        source = await dialog.locator("#chosen").get_attribute("src") or ""
        taken = np.asarray(Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))))
        assert taken[20, 20].tolist() == [255, 255, 255]
        assert np.abs(taken[500, 300] - np.array(RED)).max() < 20


PHOTOS_HELD = """
window.read = [];
const reader = window.createImageBitmap;
window.createImageBitmap = async (...photo) => {
  const bitmap = await reader(...photo);
  await new Promise((resolve) => window.read.push(resolve));
  return bitmap;
};
"""
"""A photo has been read when a test lets it."""


async def test_the_photo_chosen_last_counts_and_the_one_sent_stands_beside_the_picture(
    chromium: Browser, site: Site, shop: str, photo: Path, tmp_path: Path
) -> None:
    large = tmp_path / "large.jpg"
    with Image.open(photo) as small:
        small.resize((1024, 1024)).save(large)
    async with Person.before(chromium, site) as person:
        page = person.page
        await page.add_init_script(PHOTOS_HELD)
        await page.goto(shop)
        await page.locator("try-on[product=plain-tee]").click()
        await expect(dialog_of(page).locator("#product")).to_have_text("Plain tee")
        frame = page.frames[-1]
        file, chosen = frame.locator("#file"), frame.locator("#chosen")

        for number, path in enumerate((large, photo), 1):
            await file.set_input_files(path)
            await becomes_true(frame, f"read.length === {number}")
        await frame.evaluate("read.pop()()")
        await expect(chosen).to_be_visible()
        shown = await chosen.get_attribute("src")
        await frame.evaluate("read.pop()()")
        assert await chosen.get_attribute("src") == shown

        async def choose_another(route: Route) -> None:
            sent.append(json.loads(route.request.post_data or "")["customerPhotoBase64"])
            await file.set_input_files(large)
            await becomes_true(frame, "read.length === 1")
            await frame.evaluate("read.pop()()")
            assert await chosen.get_attribute("src") != shown
            await route.continue_()

        sent: list[str] = []
        await page.route("**/api/v1/tryon/check", unanswered)
        await page.route("**/api/v1/tryon", choose_another, times=1)
        await frame.get_by_role("checkbox").check()
        await frame.get_by_role("button", name="Try it on").click()
        await expect(frame.locator("#result")).to_be_visible(timeout=JOB_MS)
        assert sent == [shown]
        assert await frame.locator("#before").get_attribute("src") == shown
        assert person.complaints == []


def test_pictures_of_the_example_are_those_of_the_samples() -> None:
    for path in SHOP.glob("*.webp"):
        assert path.read_bytes() == (PROJECT / "api" / "dashboard" / "static" / file_of(path.stem)).read_bytes()
