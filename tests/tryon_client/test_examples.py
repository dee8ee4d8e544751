"""The examples, run as programs against the live application."""

from __future__ import annotations

import io
import shutil
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PIL import Image
from temporalio.client import Client

from tests.api.catalogue import SHOP
from tests.api.conftest import OpenApi
from tests.node_tools import compiled, node
from tests.pictures import encoded, photo
from tests.tryon_client.live_service import LiveService, live_service
from tests.tryon_client.replies import ACCEPTED, COMPLETED, FAILED, JOB, PICTURE, processing, refusal
from tests.tryon_client.scripted_server import DROP, Received, Reply, running_server

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


ENDINGS = {"python": "py", "bash": "sh", "typescript": "ts"}


def command(language: str, folder: Path, *shorter: tuple[str, str]) -> list[str | Path]:
    """What runs the example; ``shorter`` are times that stand in it, and those that a test puts in their place."""
    text = (EXAMPLES / f"try_on.{ENDINGS[language]}").read_text()
    for old, new in shorter:
        assert text.count(old) == 1
        text = text.replace(old, new)
    program = folder / f"try_on.{ENDINGS[language].replace('ts', 'mts')}"
    program.write_text(text)
    match language:
        case "python":
            return [sys.executable, program]
        case "bash":
            return [bash(), program]
        case _:
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


SHORTER_PAUSE = {
    "bash": ("--retry-max-time 60", "--retry-max-time 1"),
    "typescript": ("LONGEST_PAUSE_SECONDS = 60", "LONGEST_PAUSE_SECONDS = 1"),
}
"""How long a request waits before the job is accepted."""

SHORTER_PATIENCE = {
    "bash": ("patience=600", "patience=3"),
    "typescript": ("PATIENCE_MS = 600_000", "PATIENCE_MS = 3_000"),
    "python": ("category)))", "category)), timeout=3)"),
}
"""And afterwards."""


@pytest.mark.parametrize("language", SHORTER_PAUSE)
async def test_a_poll_waits_longer_than_a_start_and_outlasts_an_outage(
    service: LiveService, folder: Path, language: str
) -> None:
    script = [ACCEPTED, refusal(429, "rate_limited", Retry_After="3"), *[DROP] * 4, COMPLETED]
    asked: list[float] = []

    def answer(_request: Received) -> Reply:
        asked.append(time.monotonic())
        return script[len(asked) - 1]

    program = command(language, folder, SHORTER_PAUSE[language])
    with running_server(answer) as server:
        scripted = replace(service, url=server.url)
        done = await scripted.run(*program, "me.jpg", "shirt.jpg", "upper_body", "out.jpg", folder=folder)
    assert done.code == 0, done.stderr
    assert (folder / "out.jpg").read_bytes() == PICTURE
    assert len(asked) == len(script)
    assert asked[2] - asked[1] >= 3


def started_then(poll: Reply, request: Received) -> Reply:
    return ACCEPTED if request.method == "POST" else poll


@pytest.mark.parametrize("language", LANGUAGES)
async def test_whatever_goes_wrong_with_a_job_names_it(service: LiveService, folder: Path, language: str) -> None:
    program = command(language, folder, SHORTER_PATIENCE[language])
    for poll in (refusal(404, "job_not_found"), refusal(429, "rate_limited", Retry_After="4000"), FAILED, DROP):
        with running_server() as server:
            server.answer = partial(started_then, poll)
            scripted = replace(service, url=server.url)
            done = await scripted.run(*program, "me.jpg", "shirt.jpg", "upper_body", "out.jpg", folder=folder)
            assert done.code, poll
            assert JOB in done.stderr, poll
            assert poll is DROP or len(server.received) == 2
