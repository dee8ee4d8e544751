"""The examples, run as programs against the live application."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from temporalio.client import Client

from tests.api.catalogue import SHOP
from tests.api.conftest import OpenApi
from tests.pictures import encoded, photo
from tests.tryon_client.live_service import LiveService, live_service
from tests.tryon_client.replies import ACCEPTED, COMPLETED, PICTURE, processing, refusal
from tests.tryon_client.scripted_server import DROP, running_server

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "examples"
OLDEST_NODE = (22, 18)
"""The first that takes TypeScript as it is."""

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
async def service(open_api: OpenApi, temporal: Client) -> AsyncIterator[LiveService]:
    async with live_service(open_api, temporal) as running:
        for name in ("shirt", "jeans"):
            running.catalogue.shop[f"{SHOP}{name}.jpg"] = encoded()
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, name in enumerate(("me", "shirt", "jacket", "jacket-back")):
        (tmp_path / f"{name}.jpg").write_bytes(encoded(photo(seed=seed)))
    return tmp_path


def node() -> str:
    """The node to run TypeScript with."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST_NODE:
        pytest.skip(f"node {version.strip()} does not take TypeScript")
    return program


def bash() -> str:
    """The shell, where it finds curl."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    return "bash"


def command(language: str) -> list[str | Path]:
    match language:
        case "python":
            return [sys.executable, EXAMPLES / "try_on.py"]
        case "bash":
            return [bash(), EXAMPLES / "try_on.sh"]
        case _:
            return [node(), EXAMPLES / "try_on.ts"]


def is_picture(path: Path) -> bool:
    with Image.open(io.BytesIO(path.read_bytes())) as image:
        return image.format == "JPEG"


LANGUAGES = ["python", "bash", "typescript"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_example_brings_a_picture(service: LiveService, folder: Path, language: str) -> None:
    done = await service.run(*command(language), "me.jpg", "shirt.jpg", "upper_body", "out.jpg", folder=folder)
    assert done.code == 0, done.stderr
    assert "out.jpg" in done.stdout
    assert is_picture(folder / "out.jpg")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_example_says_why_there_is_none(service: LiveService, folder: Path, language: str) -> None:
    done = await service.run(*command(language), "me.jpg", "shirt.jpg", "hat", "out.jpg", folder=folder)
    assert done.code == 1
    assert "category" in done.stderr
    assert not (folder / "out.jpg").exists()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_example_tries_again_under_the_same_key(service: LiveService, folder: Path, language: str) -> None:
    with running_server() as server:
        server.reply(refusal(503, "busy", Retry_After="1"), DROP, ACCEPTED, processing(), refusal(502), COMPLETED)
        scripted = replace(service, url=server.url)
        done = await scripted.run(*command(language), "me.jpg", "shirt.jpg", "upper_body", "out.jpg", folder=folder)
        assert done.code == 0, done.stderr
        assert (folder / "out.jpg").read_bytes() == PICTURE
        assert [sent.method for sent in server.received] == ["POST"] * 3 + ["GET"] * 3
        assert len({sent.headers["Idempotency-Key"] for sent in server.received[:3]}) == 1
        assert {sent.headers["Prefer"] for sent in server.received[3:]} == {"wait=25"}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_example_does_not_wait_for_tomorrow(service: LiveService, folder: Path, language: str) -> None:
    with running_server() as server:
        server.reply(refusal(429, "daily_cap_reached", Retry_After="40000"))
        scripted = replace(service, url=server.url)
        done = await scripted.run(*command(language), "me.jpg", "shirt.jpg", "upper_body", "out.jpg", folder=folder)
        assert (done.code, len(server.received)) == (1, 1)
        assert "Refused with 429" in done.stderr


def snippets(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / "clients.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(snippets("python"))))
async def test_every_python_snippet_of_the_page_runs(service: LiveService, folder: Path, number: int) -> None:
    snippet = snippets("python")[number]
    snippet = snippet.replace("http://127.0.0.1:8000", service.url).replace("vto_live_…", service.key)
    done = await service.run(sys.executable, "-W", "error", "-c", snippet, folder=folder)
    assert done.code == 0, done.stderr
    assert "print" not in snippet or done.stdout or "WaitTimeout" in snippet
    for name in re.findall(r'save\("(.*?)"\)', snippet):
        assert is_picture(folder / name) or "except" in snippet


async def test_the_curl_snippet_runs(service: LiveService, folder: Path) -> None:
    for snippet in snippets("bash"):
        done = await service.run(bash(), "-euo", "pipefail", "-c", snippet, folder=folder)
        assert done.code == 0, done.stderr
        assert is_picture(folder / "result.jpg")


async def test_the_typescript_snippet_runs(service: LiveService, folder: Path) -> None:
    (snippet,) = snippets("typescript")
    (folder / "snippet.ts").write_text(snippet)
    done = await service.run(node(), "snippet.ts", folder=folder)
    assert done.code == 0, done.stderr
    assert is_picture(folder / "result.jpg")
