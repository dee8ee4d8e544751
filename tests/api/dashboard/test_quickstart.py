"""The snippets of the quickstart, as they stand on the page once a key is filled in, run as programs."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import pytest
from PIL import Image
from temporalio.client import Client

from tests.api.conftest import OpenApi
from tests.api.dashboard.browser import signed_in
from tests.pictures import encoded, photo
from tests.tryon_client.live_service import LiveService, live_service
from tests.tryon_client.test_examples import bash, node

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

_BASE = "http://127.0.0.1:8000"


@pytest.fixture
async def service(open_api: OpenApi, temporal: Client) -> AsyncIterator[LiveService]:
    async with live_service(open_api, temporal) as running:
        yield running


async def snippet(service: LiveService, name: str) -> str:
    browser = await signed_in(service.catalogue.api)
    page = (await browser.post("/docs")).text
    await browser.client.aclose()
    found = re.search(rf'<code id="{name}">(.*?)</code>', page, re.DOTALL)
    assert found
    code = unescape(found[1])
    assert "vto_test_" in code
    assert _BASE in code
    return code.replace(_BASE, service.url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, name in enumerate(("me", "shirt")):
        (tmp_path / f"{name}.jpg").write_bytes(encoded(photo(seed=seed)))
    return tmp_path


def program(language: str, file: Path) -> list[str | Path]:
    match language:
        case "python":
            return [sys.executable, file]
        case "curl":
            return [bash(), "-eu", file]
        case _:
            return [node(), file]


ENDINGS = {"python": "py", "curl": "sh", "typescript": "mts"}


@pytest.mark.parametrize("language", ENDINGS)
async def test_a_snippet_tells_the_usage(service: LiveService, folder: Path, language: str) -> None:
    file = folder / f"usage.{ENDINGS[language]}"
    file.write_text(await snippet(service, f"usage-{language}"))
    done = await service.run(*program(language, file), folder=folder)
    assert done.code == 0, done.stderr
    assert "starter" in done.stdout


@pytest.mark.parametrize("language", ENDINGS)
async def test_a_snippet_brings_a_picture(service: LiveService, folder: Path, language: str) -> None:
    file = folder / f"tryon.{ENDINGS[language]}"
    file.write_text(await snippet(service, f"tryon-{language}"))
    done = await service.run(*program(language, file), folder=folder)
    assert done.code == 0, done.stderr
    with Image.open(io.BytesIO((folder / "result.jpg").read_bytes())) as image:
        assert image.format == "JPEG"
