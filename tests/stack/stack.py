"""A stack of its own for tests: ``tryon up`` in a temporary folder, spoken to as a person or a client would."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from cli.health import all_checks
from runtime.embedded.record import StackRecord
from runtime.settings import EMBEDDED_FILE, Settings
from tests.stack.command_line import PROJECT, TRYON, run_program

NO_RATE_LIMIT = {
    "TRYON_RATE_LIMIT_REQUESTS": "10000",
    "TRYON_RATE_LIMIT_WINDOW_SECONDS": "1",
    "TRYON_RATE_LIMIT_VISITOR_REQUESTS": "10000",
    "TRYON_RATE_LIMIT_VISITOR_WINDOW_SECONDS": "1",
}
"""Tests poll much more often than a client should. The short window keeps the log of calls short."""


class Stack:
    """A stack and a caller of its API.

    Attributes:
        data_dir: Where it keeps everything.
        process: ``tryon up``.
        client: Calls the API with `key`.
        key: Of an account that is made when it first comes up, unless one is given.
        said: What it printed until it was ready.
    """

    process: subprocess.Popen[str]
    client: httpx.Client
    said: str

    def __init__(self, data_dir: Path, key: str | None = None) -> None:
        self.data_dir = data_dir
        self.key = key

    def up(self) -> None:
        """Start it, as often as it was stopped, and wait until it is healthy."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "up"],
            cwd=PROJECT,
            env=environment(self.data_dir),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            self.said = self._until_ready()
            self.key = self.key or create_key(self.data_dir, "owner@example.com")
        except BaseException:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)
            raise
        headers = {"Authorization": f"Bearer {self.key}"}
        address = self.record.addresses["API"]
        self.client = httpx.Client(base_url=address, headers=headers, timeout=30, trust_env=False)

    def _until_ready(self) -> str:
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line.startswith("Ready"):
                return "".join(said)
        raise AssertionError("".join(said))

    @property
    def record(self) -> StackRecord:
        record = StackRecord.read(self.data_dir)
        assert record is not None
        return record

    def pid(self, name: str) -> int:
        return self.record.children[name].pid

    @property
    def settings(self) -> Settings:
        """Those of the stack's processes."""
        return Settings(self.data_dir / EMBEDDED_FILE)

    def tryon(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return tryon(self.data_dir, *arguments)

    def healthy(self) -> str | None:
        """What ``tryon status`` says once everything is healthy.

        It is asked again and again, and a command takes a second to start: it is run when it will not be in vain.
        """

        async def sound() -> None:
            for name, check in all_checks(self.settings, self.data_dir).items():
                await check(self.pid(name))

        try:
            asyncio.run(asyncio.wait_for(sound(), 5))
        except Exception:  # whatever it is, a part is not healthy
            return None
        status = self.tryon("status")
        return status.stdout if status.returncode == 0 else None

    def signal(self, name: str, number: signal.Signals) -> None:
        os.kill(self.pid(name), number)

    def post(self, body: Mapping[str, Any], path: str = "/api/v1/tryon") -> str:
        answer = self.client.post(path, json=body)
        assert answer.status_code == 202, answer.text
        job_id: str = answer.json()["jobId"]
        return job_id

    def finished(self, job_id: str, seconds: float = 60) -> dict[str, Any]:
        """The poll's body once the job has ended."""

        def poll() -> dict[str, Any] | None:
            body: dict[str, Any] = self.client.get(f"/api/v1/tryon/{job_id}").json()
            return body if body.get("status") != "processing" else None

        return until(poll, seconds)

    def stop(self) -> list[psutil.Process]:
        """Stop as Ctrl-C does; returns the processes that are left."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        self.let_go()
        _, alive = psutil.wait_procs(children, timeout=1)
        return alive

    def let_go(self) -> None:
        """Close what is open to a stack that has ended."""
        self.client.close()
        assert self.process.stdout is not None
        self.process.stdout.close()


def until(probe: Callable[[], Any], seconds: float = 30) -> Any:
    """Ask until there is an answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = probe()
        if found is not None:
            return found
        time.sleep(0.05)
    raise TimeoutError(f"nothing after {seconds} s")


def environment(data_dir: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRYON_")}
    return {**kept, "TRYON_DATA_DIR": str(data_dir), **NO_RATE_LIMIT, **variables}


def tryon(data_dir: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return run_program(TRYON, arguments, environment(data_dir, **variables))


def create_key(data_dir: Path, email: str) -> str:
    """An account and a key, made as a script would."""
    created = tryon(data_dir, "account", "create", "--email", email, "--plan", "starter", "--json")
    assert created.returncode == 0, created.stderr
    account_id = json.loads(created.stdout)["accountId"]
    key = tryon(data_dir, "key", "create", "--account", account_id, "--json")
    answer: dict[str, str] = json.loads(key.stdout)
    assert answer["accountId"] == account_id
    return answer["apiKey"]


@contextmanager
def running_stack(data_dir: Path, key: str | None = None) -> Iterator[Stack]:
    """A stack that is up and healthy, and is stopped unless it has ended by then."""
    stack = Stack(data_dir, key)
    stack.up()
    try:
        yield stack
    finally:
        if stack.process.poll() is None:
            stack.stop()
        stack.let_go()
