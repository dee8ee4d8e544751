"""Every program in the docs, the readmes and the dashboard, run as it stands, with photos as large as phones make them.

What stands for an address or a key comes from the environment, as it does for a reader. Each program is also shown a
refusal and a job that failed, and has to say so; with small photos, since it has sent the large ones by then.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from temporalio.client import Client
from typer.main import get_command

from cli.main import app
from tests.api.catalogue import SHOP
from tests.api.conftest import OpenApi
from tests.api.dashboard.browser import signed_in
from tests.node_tools import compiled, node
from tests.pictures import encoded
from tests.tryon_client.live_service import Finished, LiveService, live_service
from tests.tryon_client.replies import ACCEPTED, FAILED, refusal
from tests.tryon_client.scripted_server import Received, Reply, running_server
from tests.tryon_client.test_examples import bash, is_picture

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", PROJECT / "tryon_client" / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
DASHBOARD = PROJECT / "api" / "dashboard"
QUICKSTART = DASHBOARD / "templates" / "docs" / "quickstart.html"
PLAYGROUND = DASHBOARD / "static" / "playground-code.js"

PROGRAMS = {"bash", "python", "typescript"}
COMMANDS = "console"
"""What an operator types on the machine of the service. It is not run here: the names in it are compared."""

NO_PROGRAMS = {"json", "csv", "yaml", "nginx", "ini", "mermaid", "promql", "text", "html", "php", "liquid"}
"""The page of html is opened in a browser: tests/e2e/test_web_page.py."""
RUN_ELSEWHERE = {
    "temporal.md": PROJECT / "tests" / "stack" / "test_temporal_page.py",
    "operations.md": PROJECT / "tests" / "stack" / "test_backfill.py",
    "webhooks.md": PROJECT / "tests" / "activities" / "test_webhook_page.py",
}
"""Pages whose programs need a whole stack, and the tests that run them there."""

FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENDINGS = {"python": "py", "bash": "sh", "curl": "sh", "typescript": "mts"}

LOOKS = {
    "single": {
        "person": {"file": "me.jpg"},
        "garments": [{"image": {"file": "shirt.jpg"}, "fields": {"category": "upper_body", "size": 'the "M" of $5'}}],
    },
    "combo": {
        "person": {"file": "me.jpg"},
        "garments": [
            {
                "image": {"file": "anna's shirt.jpg"},
                "back": {"file": "shirt.jpg"},
                "fields": {"category": "upper_body"},
            },
            {"image": {"address": f"{SHOP}jeans.jpg"}, "fields": {"category": "lower_body", "size": "W32/L34"}},
            {"fields": {"productId": "test_completed"}},
        ],
    },
}
"""What somebody chose in the playground."""

FIELD = 'new Proxy({}, { get: () => ({ files: [], value: "", disabled: false }) })'
PLAYGROUND_SNIPPET = f"""
const {{ readFileSync }} = require("fs");
const [file, baseUrl, look, language] = process.argv.slice(1);
const nothing = () => {{}};
const dataset = {{ language: "curl" }};
const element = {{ addEventListener: nothing, setAttribute: nothing, getAttribute: () => "true", dataset }};
const playground = {{ ...element, dataset: {{ baseUrl }}, elements: {FIELD} }};
const document = {{ querySelectorAll: () => [element], getElementById: () => element }};
const program = readFileSync(file, "utf8") + "\\nreturn LANGUAGES[language](look);";
const write = new Function("playground", "samples", "further", "document", "look", "language", program);
process.stdout.write(write(playground, {{}}, [], document, JSON.parse(look), language));
"""


@dataclass(frozen=True)
class Snippet:
    """A program: where it stands, in which language, and its text or what finds it there."""

    place: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}-{self.language}"


def fences(page: Path) -> list[tuple[str, str]]:
    """Language and text of every block of a page."""
    return FENCE.findall(page.read_text())


def of_pages() -> list[Snippet]:
    return [
        Snippet(f"{page.relative_to(PROJECT)}-{number}", language, text)
        for page in PAGES
        if page.name not in RUN_ELSEWHERE
        for number, (language, text) in enumerate(fences(page))
        if language in PROGRAMS
    ]


def of_the_quickstart() -> list[Snippet]:
    named = re.findall(r'call snippet\("([^"]+)", "([^"]+)"\)', QUICKSTART.read_text())
    return [
        Snippet(f"quickstart {state}", language, name)
        for state in ("with a key", "without")
        for name, language in named
    ]


def of_the_playground() -> list[Snippet]:
    return [
        Snippet(f"playground {name}", language, name) for name in LOOKS for language in ("curl", "python", "typescript")
    ]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    grain = np.random.default_rng(7).integers(0, 256, (2250, 1900, 3), dtype=np.uint8)
    Image.fromarray(grain).save(folder / "me.jpg", quality=92)
    assert 3_900_000 < (folder / "me.jpg").stat().st_size < 8 * 2**20
    for name in ("shirt", "jeans", "jacket", "jacket-back", "anna's shirt"):
        (folder / f"{name}.jpg").write_bytes((folder / "me.jpg").read_bytes())
    return folder


@pytest.fixture
def folder(pictures: Path, tmp_path: Path) -> Path:
    for picture in pictures.iterdir():
        (tmp_path / picture.name).symlink_to(picture)
    return tmp_path


def put_small_pictures(folder: Path) -> None:
    """In the place of the large ones."""
    for picture in folder.iterdir():
        if picture.is_symlink():
            picture.unlink()
            picture.write_bytes(encoded())


@pytest.fixture
async def service(open_api: OpenApi, temporal: Client) -> AsyncIterator[LiveService]:
    async with live_service(open_api, temporal) as running:
        for name in ("shirt", "jeans"):
            running.catalogue.shop[f"{SHOP}{name}.jpg"] = encoded()
        yield running


async def text_of(snippet: Snippet, service: LiveService) -> str:
    """The program as its reader copies it, from a page of this very service."""
    if snippet in of_the_quickstart():
        browser = await signed_in(service.catalogue.api)
        page = await (browser.post("/docs") if snippet.place.endswith("with a key") else browser.get("/docs"))
        await browser.client.aclose()
        found = re.search(rf'<code id="{snippet.text}">(.*?)</code>', page.text, re.DOTALL)
        assert found
        return unescape(found[1])
    if snippet in of_the_playground():
        look = json.dumps(LOOKS[snippet.text])
        command = [node(), "-e", PLAYGROUND_SNIPPET, PLAYGROUND, service.url, look, snippet.language]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return snippet.text


def program(language: str, text: str, folder: Path) -> list[str | Path]:
    """The command that runs it."""
    file = folder / f"program.{ENDINGS[language]}"
    file.write_text(text)
    match language:
        case "python":
            return [sys.executable, "-W", "error", file]
        case "typescript":
            return [node(), compiled(file)]
        case _:
            return [bash(), "-euo", "pipefail", file]


def says(done: Finished, sentence: str) -> bool:
    """Whether a program said why there is no picture, in words or by an error of the client's."""
    said = done.stdout + done.stderr
    wrecked = re.search(r"TypeError|SyntaxError|undefined|KeyError|AttributeError|Argument list", said)
    last = said.strip().splitlines()[-1]
    return wrecked is None and sentence in said and ("Traceback" not in said or last.startswith("tryon_client.errors."))


def in_vain(request: Received) -> Reply:
    """A service where every job fails."""
    return ACCEPTED if request.method == "POST" else FAILED


@pytest.mark.parametrize("snippet", [*of_pages(), *of_the_quickstart(), *of_the_playground()], ids=str)
async def test_the_program_runs_as_it_stands(service: LiveService, folder: Path, snippet: Snippet) -> None:
    text = await text_of(snippet, service)
    done = await service.run(*program(snippet.language, text, folder), folder=folder)
    assert done.code == 0, done.stdout[-1000:] + done.stderr
    if "result.jpg" in text:
        assert is_picture(folder / "result.jpg"), done.stdout[-1000:] + done.stderr
    else:
        assert done.stdout or list(folder.glob("look*.jpg"))

    put_small_pictures(folder)
    with running_server(lambda _request: refusal(401, "unauthorized")) as server:
        command = program(snippet.language, text.replace(service.url, server.url), folder)
        refused = await replace(service, url=server.url).run(*command, folder=folder)
        assert says(refused, "Refused with 401."), refused.stdout[-1000:] + refused.stderr
        server.answer = in_vain
        if "result.jpg" in text and "products" not in text:
            failed = await replace(service, url=server.url).run(*command, folder=folder)
            assert says(failed, FAILED.body["error"]), failed.stdout[-1000:] + failed.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_what_it_is(page: Path) -> None:
    for language, text in fences(page):
        assert language in PROGRAMS | NO_PROGRAMS | {COMMANDS}, text


def test_programs_that_are_run_elsewhere_are() -> None:
    for page, test in RUN_ELSEWHERE.items():
        assert fences(PROJECT / "docs" / page)
        assert "set(commands(" in test.read_text(), "compares all headings of the page with those that it runs"


def test_the_key_and_the_address_have_one_name() -> None:
    sources = [*PAGES, QUICKSTART, PLAYGROUND, *(PROJECT / "docs" / "examples").glob("*.*"), *DASHBOARD.rglob("*.html")]
    for source in sources:
        named = re.findall(r"\b(?:[A-Z]+_)*(?:API_KEY|BASE_URL)\b|\$KEY\b|\bTRYON_KEY\b", source.read_text())
        assert set(named) <= {"VTO_API_KEY", "VTO_BASE_URL", "TRYON_TEMPORAL_API_KEY", *FASHNS_OWN}, source


FASHNS_OWN = ("FASHN_API_KEY", "FASHN_BASE_URL")
"""What their library reads."""

TRYON = re.compile(r"(?:^\s*(?:\w+=\S+ )*(?:\S*/)?|docker compose (?:run|exec) .*(?:api|worker-gpu) )tryon (.*)")
"""A command of ours, on the machine itself or in a container."""


@cache
def commands_of_tryon() -> dict[tuple[str, ...], set[str]]:
    """Every command of the command line by its words, with its options."""
    found: dict[tuple[str, ...], set[str]] = {}

    def visit(command: Any, words: tuple[str, ...]) -> None:
        found[words] = {"--help", *(name for each in command.params for name in (*each.opts, *each.secondary_opts))}
        for name in getattr(command, "commands", {}):
            visit(command.get_command(None, name), (*words, name))

    visit(get_command(app), ())
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_an_operator_types_exist(page: Path) -> None:
    known = commands_of_tryon()
    targets = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    for language, text in fences(page):
        if language != COMMANDS:
            continue
        for line in text.replace("\\\n", " ").splitlines():
            for command in re.split(r"&&|\|\||;", line.partition(" #")[0]):
                if target := re.match(r"\s*make ([a-z-]+)", command):
                    assert target[1] in targets, line
                if typed := TRYON.search(command):
                    words, rest = (), typed[1].split()
                    while rest and (*words, rest[0]) in known:
                        words = (*words, rest.pop(0))
                    assert words, line
                    options = {word.strip("[]").partition("=")[0] for word in rest if word.strip("[").startswith("--")}
                    assert options <= known[words], line
