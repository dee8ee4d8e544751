"""The receivers of docs/webhooks.md, as they stand, and messages as the service sends them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from activities.webhooks import HEADERS, signed_headers
from domain.webhooks import Outgoing, new_secret
from tests.factories import NOBODYS_ID
from tests.node_tools import PACKAGES, compiled, node
from tests.tryon_client.test_snippets import ENDINGS, fences

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"


def commands(*languages: str) -> dict[str, str]:
    """The page's programs by their language."""
    return {language: text for language, text in fences(PAGE) if language in languages}


def test_every_program_of_the_page_is_run_here() -> None:
    assert set(commands("python", "typescript", "bash")) == {"python", "typescript"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@contextlib.contextmanager
def receiving(language: str, folder: Path, secret: str, port: int) -> Iterator[subprocess.Popen[str]]:
    file = folder / f"receiver.{ENDINGS[language]}"
    file.write_text(commands(language)[language])
    command: list[str | Path] = [sys.executable, "-W", "error", file]
    if language == "typescript":
        if not (PACKAGES / "standardwebhooks").is_dir():
            pytest.skip("standardwebhooks is not there (make test-env fetches it where there is npm)")
        (folder / "node_modules").symlink_to(PACKAGES)
        command = [node(), compiled(file)]
    environment = {**os.environ, "WEBHOOK_SECRET": secret, "PORT": str(port)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        try:
            yield running
        finally:
            running.kill()


@pytest.mark.parametrize("language", ["python", "typescript"])
async def test_the_receiver_takes_our_messages_and_no_others(tmp_path: Path, language: str) -> None:
    secret, port = new_secret(), free_port()
    body = '{"type":"tryon.completed","timestamp":"2026-03-01T09:30:12.090Z","data":{"jobId":"' + NOBODYS_ID + '"}}'
    message = Outgoing("msg_1", "", body, [new_secret(), secret], account_id=None)  # type: ignore[arg-type]
    ours = {**HEADERS, **signed_headers(message, datetime.now(UTC))}
    with receiving(language, tmp_path, secret, port) as receiver:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client, asyncio.timeout(30):
            while True:
                with contextlib.suppress(httpx.ConnectError):
                    good = await client.post("/", content=body, headers=ours)
                    break
                await asyncio.sleep(0.05)
            changed = await client.post("/", content=body.replace("completed", "failed"), headers=ours)
            unsigned = await client.post("/", content=body, headers=HEADERS)
        assert (good.status_code, changed.status_code, unsigned.status_code) == (204, 401, 401)
        assert receiver.stdout is not None
        said = await asyncio.to_thread(receiver.stdout.readline)
    assert said.startswith("msg_1 tryon.completed")
    assert NOBODYS_ID in said
