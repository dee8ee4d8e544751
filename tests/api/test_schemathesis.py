"""Schemathesis against the live service: what the document says is what the service does, and nothing breaks it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.api.live_service import LiveService, live_service

PROJECT = Path(__file__).parents[2]
CONFIG = Path(__file__).with_name("schemathesis.toml")
SECONDS = 400


@pytest.fixture(scope="module")
def strict_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """PostgreSQL, which takes fewer texts and numbers than SQLite; SQLite where it is not to be had."""
    try:
        url: str = request.getfixturevalue("postgres_url")
    except pytest.skip.Exception:
        return f"sqlite:///{tmp_path_factory.mktemp('live')}/tryon.db"
    return url


@pytest.fixture(scope="module")
def live(strict_database: str) -> Iterator[LiveService]:
    with pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.startswith("TRYON_")]:
            environment.delenv(name)
        with live_service(strict_database) as service:
            yield service


RUNS = {"each by itself": "examples,coverage,fuzzing", "one after the other": "stateful"}
"""All operations in one run: a program that reads the document and loads Hypothesis costs seconds before it calls."""


@pytest.mark.timeout(420)
@pytest.mark.parametrize("phases", RUNS.values(), ids=RUNS)
def test_schemathesis_finds_nothing(live: LiveService, tmp_path: Path, phases: str) -> None:
    people = tmp_path / "people.json"
    people.write_text(json.dumps(accounts(live.keys)))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "--no-color", "run"]
    run = subprocess.run(
        [*command, "--auth-wfc", str(people), "--phases", phases, f"{live.url}/openapi.json"],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stdout


def accounts(keys: tuple[str, ...]) -> dict[str, object]:
    """Who calls, as Web Fuzzing Commons writes it; none of them may see what another one made."""
    return {
        "auth": [
            {"name": f"account {number}", "fixedHeaders": [{"name": "Authorization", "value": f"Bearer {key}"}]}
            for number, key in enumerate(keys, 1)
        ]
    }


@pytest.mark.parametrize(
    ("size", "authorized", "status", "code"),
    [(20_000_000, False, 401, "unauthorized"), (40_000_000, True, 413, "body_too_large")],
)
def test_a_client_that_is_still_sending_hears_why_it_is_refused(
    live: LiveService, size: int, authorized: bool, status: int, code: str
) -> None:
    address = urlsplit(live.url)
    connection = HTTPConnection(address.hostname or "", address.port)
    key = live.keys[0] if authorized else "nonsense"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    connection.request("POST", "/api/v1/tryon", b" " * size, headers)
    answer = connection.getresponse()
    assert (answer.status, answer.headers["X-Error-Code"]) == (status, code)
    assert json.loads(answer.read()).keys() == {"error"}
    connection.close()
