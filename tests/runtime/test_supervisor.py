from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from runtime.embedded.child import Child, ChildFailedError, ChildSpec
from runtime.embedded.record import ProcessIdentity, StackRecord
from runtime.embedded.supervisor import Supervisor

WAIT = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


async def always_ready(_pid: int) -> None:
    pass


def spec(code: str = WAIT, name: str = "child", stop_seconds: float = 5) -> ChildSpec:
    return ChildSpec(name, [sys.executable, "-c", code], always_ready, stop_seconds=stop_seconds)


async def test_a_child_that_dies_is_started_again(tmp_path: Path) -> None:
    seen: list[dict[str, ProcessIdentity]] = []
    supervisor, stop = Supervisor(tmp_path, seen.append), asyncio.Event()
    child = supervisor.start(spec())
    watching = asyncio.create_task(supervisor.watch(stop))
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    async with asyncio.timeout(10):
        while child.pid == first or child.exit_code is not None:
            await asyncio.sleep(0.05)
    assert seen[-1]["child"].pid == child.pid
    stop.set()
    await watching
    await supervisor.stop()
    assert child.exit_code is not None


async def test_a_child_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    child = Child(spec(STUBBORN, stop_seconds=0.2), tmp_path / "child.log")
    child.start()
    while b"up" not in (tmp_path / "child.log").read_bytes():
        await asyncio.sleep(0.02)
    await child.stop()
    assert child.exit_code == -signal.SIGKILL


async def test_a_child_that_ends_before_it_is_ready_is_reported_with_its_log(tmp_path: Path) -> None:
    async def never(_pid: int) -> None:
        raise ConnectionError("no answer")

    child = Child(ChildSpec("child", [sys.executable, "-c", "raise SystemExit(3)"], never), tmp_path / "child.log")
    child.start()
    with pytest.raises(ChildFailedError, match=r"exit code 3.*child\.log"):
        await child.wait_ready(10)


async def test_leftovers_of_a_dead_supervisor_are_stopped_and_strangers_are_not(tmp_path: Path) -> None:
    ours, stranger = Child(spec(), tmp_path / "a.log"), Child(spec(), tmp_path / "b.log")
    ours.start()
    stranger.start()
    assert ours.pid is not None
    assert stranger.pid is not None
    # The stranger has the id that a child of ours once had.
    former = ProcessIdentity(stranger.pid, psutil.Process(stranger.pid).create_time() - 100)
    record = StackRecord(ProcessIdentity(1, 0.0), {"ours": ProcessIdentity.of(ours.pid), "former": former}, {})
    record.write(tmp_path)
    read = StackRecord.read(tmp_path)
    assert read == record
    assert await asyncio.to_thread(read.stop_leftovers) == ["ours"]
    assert ours.exit_code is not None
    assert stranger.exit_code is None
    await stranger.stop()


def test_a_record_that_cannot_be_read_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text("{")
    assert StackRecord.read(tmp_path) is None
