from __future__ import annotations

import ast
import re
from html import unescape
from pathlib import Path

import pytest
from markupsafe import Markup

from api.dashboard import docs as library
from api.dashboard.docs import TEXTS, operator_texts, own_address, read_text, render
from domain.access import keys
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller

_SNIPPET = re.compile(r'<code id="[^"]+">(.*?)</code>', re.DOTALL)
_LINK = re.compile(r'href="(/dashboard/docs[^"]*)"')
LARGEST_PAGE = 150 * 1024


def snippets(page: str) -> list[str]:
    return [unescape(found) for found in _SNIPPET.findall(page)]


async def operator_of(api: Api) -> Browser:
    caller = await create_caller(api.parts.database, api.parts.digester)
    return await signed_in(api, caller.account_id, operator=True)


async def test_the_quickstart_names_no_key_until_one_is_made(browser: Browser) -> None:
    page = await browser.get("/docs")
    assert page.status_code == 200
    assert "vto_" not in page.text
    assert "$VTO_API_KEY" in page.text
    assert all(f"in-{language}" in page.text for language in ("curl", "python", "typescript"))


async def test_a_test_key_is_made_filled_in_and_good(api: Api, browser: Browser) -> None:
    page = await browser.post("/docs")
    found = set(re.findall(r"vto_test_[A-Za-z0-9_-]{43}", page.text))
    assert len(found) == 1
    assert "VTO_API_KEY" not in page.text
    assert page.headers["Cache-Control"] == "no-store"
    key = found.pop()
    assert all(key in snippet for snippet in snippets(page.text))
    answer = await api.client.get("/api/v1/usage", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200
    listed = await api.parts.database.read(keys.list_keys, account_id=api.caller.account_id)
    assert [row.mode for row in listed if row.last_four == key[-4:]] == ["test"]
    assert key not in (await browser.get("/docs")).text


async def test_no_more_keys_are_made_than_an_account_may_have(api: Api, browser: Browser) -> None:
    with api.parts.database.transaction() as session:
        for _ in range(keys.MOST_IN_USE):
            keys.create_key(session, api.parts.digester, account_id=api.caller.account_id, mode="test")
    answer = await browser.post("/docs")
    assert answer.status_code == 409
    assert "Revoke one first" in words(answer)


async def test_the_python_of_the_quickstart_is_python(browser: Browser) -> None:
    for page in (await browser.get("/docs"), await browser.post("/docs")):
        found = re.findall(r'in-python"><pre[^>]*><code id="[^"]+">(.*?)</code>', page.text, re.DOTALL)
        assert len(found) == 2
        for snippet in found:
            ast.parse(unescape(snippet))


async def test_every_text_is_there_and_small_and_its_links_lead_somewhere(browser: Browser) -> None:
    seen: set[str] = set()
    for name in ("", "/limits", *(f"/{name}" for name in TEXTS)):
        page = await browser.get(f"/docs{name}")
        assert page.status_code == 200, name
        assert len(page.content) < LARGEST_PAGE, (name, len(page.content))
        seen.update(_LINK.findall(page.text))
        assert "<!--" not in page.text
        assert "style=" not in page.text
    for address in seen:
        path, _, anchor = address.removeprefix("/dashboard").partition("#")
        page = await browser.get(path)
        assert page.status_code == 200, address
        assert not anchor or f'id="{anchor}"' in page.text, address


async def test_the_reference_knows_every_operation(api: Api, browser: Browser) -> None:
    page = words(await browser.get("/docs/api"))
    for path, operations in api.app.openapi()["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in page


async def test_the_service_s_own_address_is_in_every_snippet(
    open_api: OpenApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRYON_DASHBOARD_PUBLIC_URL", "https://fit.example/")
    async with open_api(Settings()) as api:
        browser = await signed_in(api)
        for name in ("", "/clients", "/products"):
            page = (await browser.get(f"/docs{name}")).text
            assert "https://fit.example" in page
            assert "http://127.0.0.1:8000" not in page


async def test_texts_for_operators_are_for_operators(api: Api, browser: Browser) -> None:
    names = operator_texts()
    assert {"operations", "backup", "configuration", "quickstart"} <= set(names)
    page = await browser.get("/docs/clients")
    assert "For operators" not in words(page)
    assert "API reference has the routes" in words(page)
    assert ".md" not in words(page)
    for name in names:
        assert (await browser.get(f"/docs/{name}")).status_code == 404
    operator = await operator_of(api)
    assert "For operators" in words(await operator.get("/docs/clients"))
    for name in names:
        page = await operator.get(f"/docs/{name}")
        assert page.status_code == 200, name
        assert len(page.content) < LARGEST_PAGE, name


async def test_sections_for_operators_are_left_out(api: Api, browser: Browser) -> None:
    page = words(await browser.get("/docs/products"))
    assert "In a try-on" in page
    assert "RegisterProductWorkflow" not in page
    assert "tryon products import" not in page
    operator = await operator_of(api)
    assert "RegisterProductWorkflow" in words(await operator.get("/docs/products"))


@pytest.mark.parametrize("name", ["../README", "%2e%2e%2fREADME", "nothing", "decisions"])
async def test_only_texts_are_served(browser: Browser, name: str) -> None:
    assert (await browser.get(f"/docs/{name}")).status_code == 404


async def test_an_installation_without_texts_says_so(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.dashboard.docs.FOLDER", tmp_path / "none")
    monkeypatch.setattr("api.dashboard.docs.read_text", lambda *_, **__: None)
    answer = await browser.get("/docs/clients")
    assert answer.status_code == 404
    assert "This installation has no docs" in words(answer)
    assert "/dashboard/docs/clients" not in (await browser.get("/docs")).text


async def test_the_limits_are_the_service_s(open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_RATE_LIMIT_REQUESTS", "37")
    monkeypatch.setenv("TRYON_RATE_LIMIT_WINDOW_SECONDS", "600")
    async with open_api(Settings()) as api:
        page = words(await (await signed_in(api)).get("/docs/limits"))
    assert "37 starts and polls of try-ons per 10 minutes and key" in page
    for name in api.parts.plans.plans:
        assert name.capitalize() in page


def test_nothing_in_a_text_is_html() -> None:
    page = render("# T\n\n<script>x</script> `<b>` ![p](x.png)\n\n```\n<i>\n```\n", where=lambda link: link)
    assert page.title == "T"
    assert "<script" not in page.body
    assert "<img" not in page.body
    assert "&lt;i&gt;" in page.body
    assert isinstance(page.body, Markup)


def test_a_link_that_leads_nowhere_is_text() -> None:
    page = render("[a](x.md) and [b](y.md#c)", where=lambda link: "/y#c" if link.startswith("y") else None)
    assert page.body == '<p>a and <a href="/y#c">b</a></p>\n'


def test_a_link_that_says_a_file_s_name_says_the_page_s() -> None:
    page = render("[a.md](a.md), [b.md](b.md) and c.md", where=lambda link: link, names={"a.md": "A", "b.md": "B"})
    assert page.body == '<p><a href="a.md">A</a>, <a href="b.md">B</a> and c.md</p>\n'


def test_headings_that_say_the_same_have_anchors_of_their_own() -> None:
    page = render("## A\n## B\n## A\n## A\n", where=str)
    assert [anchor for anchor, _ in page.sections] == ["a", "b", "a-1", "a-2"]


def test_a_section_that_is_left_out_ends_where_the_next_one_begins() -> None:
    page = render("# T\n## A\na\n### A1\na1\n## B b\nb\n", where=str, leave_out=["A"])
    assert page.sections == (("b-b", "B b"),)
    assert page.body == '<h2 id="b-b">B b</h2>\n<p>b</p>\n'


def test_every_text_for_owners_exists() -> None:
    assert library.FOLDER.is_dir()
    assert all(read_text(name, operator=False, base_url="x") for name in TEXTS)
    assert own_address("billing") == "/dashboard/docs/limits"
    assert own_address("operations") is None
