"""The examples, run as programs against the live application."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from temporalio.client import Client

from tests.api.catalogue import SHOP
from tests.api.conftest import OpenApi
from tests.node_tools import compiled, node
from tests.pictures import encoded, photo
from tests.tryon_client.live_service import LiveService, live_service
from tests.tryon_client.replies import ACCEPTED, COMPLETED, PICTURE, processing, refusal
from tests.tryon_client.scripted_server import DROP, running_server

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "examples"


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


def bash() -> str:
    """The shell, where it finds curl."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    return "bash"


def command(language: str, folder: Path) -> list[str | Path]:
    match language:
        case "python":
            return [sys.executable, EXAMPLES / "try_on.py"]
        case "bash":
            return [bash(), EXAMPLES / "try_on.sh"]
        case _:
            program = folder / "try_on.mts"
            program.write_text((EXAMPLES / "try_on.ts").read_text())
            return [node(), compiled(program)]


def is_picture(path: Path) -> bool:
    with Image.open(io.BytesIO(path.read_bytes())) as image:
        return image.format == "JPEG"


LANGUAGES = ["python", "bash", "typescript"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_example_brings_a_picture(service: LiveService, folder: Path, language: str) -> None:
    done = await service.run(*command(language, folder), "me.jpg", "shirt.jpg", "upper_body", "out.jpg", folder=folder)
    assert done.code == 0, done.stderr
    assert "out.jpg" in done.stdout
    assert is_picture(folder / "out.jpg")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_example_says_why_there_is_none(service: LiveService, folder: Path, language: str) -> None:
    done = await service.run(*command(language, folder), "me.jpg", "shirt.jpg", "hat", "out.jpg", folder=folder)
    assert done.code == 1
    assert "category" in done.stderr
    assert not (folder / "out.jpg").exists()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_example_tries_again_under_the_same_key(service: LiveService, folder: Path, language: str) -> None:
    with running_server() as server:
        taken = refusal(409, "idempotency_in_progress", Retry_After="1")
        server.reply(refusal(503, "busy", Retry_After="1"), DROP, taken, taken, ACCEPTED)
        server.reply(processing(), refusal(502), COMPLETED)
        scripted = replace(service, url=server.url)
        done = await scripted.run(
            *command(language, folder), "me.jpg", "shirt.jpg", "upper_body", "out.jpg", folder=folder
        )
        assert done.code == 0, done.stderr
        assert (folder / "out.jpg").read_bytes() == PICTURE
        assert [sent.method for sent in server.received] == ["POST"] * 5 + ["GET"] * 3
        assert len({sent.headers["Idempotency-Key"] for sent in server.received[:5]}) == 1
        assert {sent.headers["Prefer"] for sent in server.received[5:]} == {"wait=25"}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_example_does_not_wait_for_tomorrow(service: LiveService, folder: Path, language: str) -> None:
    with running_server() as server:
        server.reply(refusal(429, "daily_cap_reached", Retry_After="40000"))
        scripted = replace(service, url=server.url)
        done = await scripted.run(
            *command(language, folder), "me.jpg", "shirt.jpg", "upper_body", "out.jpg", folder=folder
        )
        assert (done.code, len(server.received)) == (1, 1)
        assert "Refused with 429" in done.stderr
