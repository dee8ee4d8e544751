"""The page of docs/publishable-keys.md in a real browser, which holds to the service's answers about origins."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.async_api import Response, Route, expect

from tests.e2e.person import JOB_MS, Person
from tests.pictures import encoded

DOCS = Path(__file__).parents[2] / "docs" / "publishable-keys.md"


@contextmanager
def shop() -> Iterator[tuple[int, dict[str, str]]]:
    """A shop with one page, in whose place anything can be put; reached as localhost and as 127.0.0.1."""
    page = {"html": ""}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page["html"].encode() if self.path == "/" else b"")

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], page
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_the_page_of_the_docs_works_on_its_origin_and_on_no_other(person: Person) -> None:
    (html,) = re.findall(r"^```html\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    photo = {"name": "me.jpg", "mimeType": "image/jpeg", "buffer": encoded()}
    await person.sign_up()
    with shop() as (port, served):
        await person.open("/keys")
        await person.page.locator("#page_name").fill("Shop")
        await person.page.locator("input[name=page_mode][value=test]").check()
        await person.page.locator("#origins").fill(f"http://localhost:{port}")
        await person.press("Create publishable key")
        await person.sees_heading("Your new key")
        key = await person.page.locator("#new-key").inner_text()
        assert key.startswith("vto_pub_test_")
        served["html"] = html.replace("vto_pub_test_…", key).replace("http://127.0.0.1:8000", person.site.address)
        assert person.complaints == []

        await person.page.goto(f"http://localhost:{port}/")
        await person.page.locator("#photo").set_input_files(photo)
        await expect(person.page.locator("#said")).to_have_text("Done.", timeout=JOB_MS)
        picture = person.page.locator("#picture")
        assert (await picture.get_attribute("src") or "").startswith("data:image/jpeg;base64,")
        assert await picture.evaluate("picture => picture.naturalWidth") > 0

        starts: list[bool] = []

        def note(answer: Response) -> None:
            if answer.request.method == "POST":
                starts.append("idempotent-replayed" in answer.headers)

        async def lose(route: Route) -> None:
            answer = await route.fetch(headers={**route.request.headers, "origin": f"http://localhost:{port}"})
            assert answer.status == 202
            await route.abort()

        person.page.on("response", note)
        await person.page.route("**/api/v1/tryon", lose, times=1)
        for said in ("Failed to fetch", "Done.", "Done."):
            await person.page.locator("#said").evaluate("said => { said.textContent = ''; }")
            await person.page.locator("#photo").set_input_files(photo)
            await expect(person.page.locator("#said")).to_have_text(said, timeout=JOB_MS)
        assert starts == [True, False], "what was lost is asked for again; what was shown is settled"

        await person.page.goto(f"http://127.0.0.1:{port}/")
        await person.page.locator("#photo").set_input_files(photo)
        await expect(person.page.locator("#said")).to_have_text("Failed to fetch")
        assert any("Access-Control-Allow-Origin" in each for each in person.complaints)
