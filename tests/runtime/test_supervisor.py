from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from runtime.embedded.record import (
    STACK_MARK,
    Endings,
    ProcessIdentity,
    StackRecord,
    marked_environment,
    stop_leftovers,
)
from runtime.embedded.supervisor import LOG_SECONDS, Child, ChildFailedError, ChildSpec, Supervisor

PROJECT = Path(__file__).parents[2]


WAIT = "import time; time.sleep(60)"


STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


async def always_ready(_pid: int) -> None:
    pass


def spec(code: str = WAIT, name: str = "child", stop_seconds: float = 5) -> ChildSpec:
    return ChildSpec(name, [sys.executable, "-c", code], always_ready, stop_seconds=stop_seconds)


class Watched:
    """A supervisor that watches, and what it has told."""

    def __init__(self, folder: Path, *, first_pause_seconds: float = 0.01, longest_log_bytes: int = 1_000_000) -> None:
        self.running: dict[str, ProcessIdentity] = {}
        self.endings: dict[str, Endings] = {}
        self.stop = asyncio.Event()
        self.supervisor = Supervisor(
            folder, self._note, first_pause_seconds=first_pause_seconds, longest_log_bytes=longest_log_bytes
        )

    def _note(self, running: dict[str, ProcessIdentity], endings: dict[str, Endings]) -> None:
        self.running, self.endings = running, endings

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        watch = asyncio.create_task(self.supervisor.watch(self.stop))
        try:
            async with asyncio.timeout(20):
                yield
        finally:
            self.stop.set()
            await watch
            await self.supervisor.stop()


async def until(probe: Callable[[], object]) -> None:
    while not probe():
        await asyncio.sleep(0.02)


def killed(child: Child) -> int:
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    return child.pid


async def test_a_child_that_dies_is_started_again(tmp_path: Path) -> None:
    scene = Watched(tmp_path)
    child = scene.supervisor.start(spec())
    async with scene.watching():
        first = killed(child)
        await until(lambda: child.exit_code is None and child.pid != first)
        await until(lambda: scene.running["child"].pid == child.pid)
        assert scene.endings == {"child": Endings(1, -signal.SIGKILL)}
    assert child.exit_code is not None


async def test_a_child_that_wants_it_is_started_anew_and_that_is_no_ending(tmp_path: Path) -> None:
    scene, wanted = Watched(tmp_path), [True]
    child = scene.supervisor.start(replace(spec(), wants_restart=lambda: bool(wanted and wanted.pop())))
    first = child.pid
    async with scene.watching():
        await until(lambda: child.pid != first and child.exit_code is None)
        await until(lambda: scene.running["child"].pid == child.pid)
        assert scene.endings == {}


async def test_a_child_of_which_it_cannot_be_told_is_left_alone(tmp_path: Path) -> None:
    asked = 0

    def gone() -> bool:
        nonlocal asked
        asked += 1
        raise FileNotFoundError(errno.ENOENT, "gone")

    scene = Watched(tmp_path)
    child = scene.supervisor.start(replace(spec(), wants_restart=gone))
    first = child.pid
    async with scene.watching():
        await until(lambda: asked >= 2)
        assert child.pid == first


async def test_a_child_that_gives_up_by_itself_is_started_again_and_its_last_exit_code_is_told(tmp_path: Path) -> None:
    scene = Watched(tmp_path)
    scene.supervisor.start(spec("raise SystemExit(1)"))
    async with scene.watching():
        await until(lambda: scene.endings.get("child", Endings(0, 0)).count >= 3)
        assert scene.endings["child"].exit_code == 1


async def test_a_child_that_never_comes_up_holds_up_no_other(tmp_path: Path) -> None:
    async def never(_pid: int) -> None:
        raise ConnectionError("no answer")

    scene = Watched(tmp_path)
    hanging = scene.supervisor.start(ChildSpec("hanging", [sys.executable, "-c", WAIT], never))
    child = scene.supervisor.start(spec())
    async with scene.watching():
        first_hanging = killed(hanging)
        await until(lambda: hanging.exit_code is None and hanging.pid != first_hanging)  # and is now being waited for
        first = killed(child)
        await until(lambda: child.exit_code is None and child.pid != first)


async def test_the_pause_before_a_child_is_started_again_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noting(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0.001)

    monkeypatch.setattr("runtime.embedded.supervisor.asyncio.sleep", noting)
    monkeypatch.setattr("runtime.embedded.supervisor.WATCH_SECONDS", 0.0)
    scene = Watched(tmp_path, first_pause_seconds=1.0)
    scene.supervisor.start(spec("raise SystemExit(1)"))
    async with scene.watching():
        while scene.endings.get("child", Endings(0, 0)).count < 7:
            await sleep(0.02)
    grown = [pause for pause in pauses if pause not in (0.0, LOG_SECONDS)]
    assert grown[:6] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0]


async def test_a_child_that_ran_for_long_is_started_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.embedded.supervisor.STEADY_SECONDS", 1.0)
    monkeypatch.setattr("runtime.embedded.supervisor.WATCH_SECONDS", 0.01)
    scene = Watched(tmp_path, first_pause_seconds=60.0)
    child = scene.supervisor.start(spec())
    async with scene.watching():
        await asyncio.sleep(1.0)
        first = killed(child)
        await until(lambda: child.exit_code is None and child.pid != first)
        killed(child)  # too early: it is paused
        await until(lambda: scene.endings["child"].count == 2)
        assert child.exit_code is not None


async def test_a_program_that_is_gone_ends_neither_the_watch_nor_the_others(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.symlink_to(sys.executable)
    scene = Watched(tmp_path)
    gone = scene.supervisor.start(ChildSpec("gone", [str(program), "-c", WAIT], always_ready))
    child = scene.supervisor.start(spec())
    async with scene.watching():
        program.unlink()
        killed(gone)
        await until(lambda: scene.endings.get("gone", Endings(0, 0)).count >= 2)
        first = killed(child)
        await until(lambda: child.exit_code is None and child.pid != first)
        program.symlink_to(sys.executable)
        await until(lambda: gone.exit_code is None)


async def test_a_record_that_cannot_be_written_does_not_end_the_watch(tmp_path: Path) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    scene = Watched(tmp_path)
    supervisor = Supervisor(tmp_path, full, first_pause_seconds=0.01)
    scene.supervisor = supervisor
    child = supervisor.start(spec())
    async with scene.watching():
        first = killed(child)
        await until(lambda: child.exit_code is None and child.pid != first)


async def test_what_a_killed_child_has_started_goes_before_it_is_started_again(tmp_path: Path) -> None:
    told = "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    scene = Watched(tmp_path)
    child = scene.supervisor.start(spec(f"{told}; print(p.pid, flush=True); time.sleep(60)"))
    async with scene.watching():
        await until(lambda: (tmp_path / "child.log").read_text().endswith("\n"))
        grandchild = psutil.Process(int((tmp_path / "child.log").read_text()))
        first = killed(child)
        await until(lambda: child.exit_code is None and child.pid != first)
        await until(lambda: not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE)


async def test_a_log_that_grows_too_long_is_put_aside_while_its_writer_goes_on(tmp_path: Path) -> None:
    scene = Watched(tmp_path, longest_log_bytes=100)
    talk = "import sys, time; print('a' * 200, flush=True); sys.stdin.read(); time.sleep(60)"
    log_file = tmp_path / "child.log"
    scene.supervisor.start(spec(talk))
    await until(lambda: log_file.stat().st_size > 200)
    async with scene.watching():
        await until(lambda: log_file.stat().st_size == 0)
    assert (tmp_path / "child.log.1").read_text() == "a" * 200 + "\n"


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
    children = {"ours": ProcessIdentity.of(ours.pid), "former": former}
    record = StackRecord(ProcessIdentity(1, 0.0), children, {}, {"ours": Endings(2, -9)})
    record.write(tmp_path)
    read = StackRecord.read(tmp_path)
    assert read == record
    assert await asyncio.to_thread(stop_leftovers, tmp_path, read) == ["ours"]
    assert ours.exit_code is not None
    assert stranger.exit_code is None
    await stranger.stop()


async def test_leftovers_that_no_record_tells_of_are_found_by_their_mark(tmp_path: Path) -> None:
    """One that is stopped and does not listen, and the child of one that is gone, in another session."""
    marked = marked_environment(tmp_path)
    start = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]], start_new_session=True)"
    elsewhere = ChildSpec("other", [sys.executable, "-c", WAIT], always_ready, {**marked, STACK_MARK: "/elsewhere"})
    stopped = Child(ChildSpec("stopped", [sys.executable, "-c", WAIT], always_ready, marked), tmp_path / "a.log")
    parent = Child(ChildSpec("parent", [sys.executable, "-c", start, WAIT], always_ready, marked), tmp_path / "b.log")
    other = Child(elsewhere, tmp_path / "c.log")
    for child in (stopped, parent, other):
        child.start()
    assert stopped.pid is not None
    os.kill(stopped.pid, signal.SIGSTOP)
    async with asyncio.timeout(20):
        await until(lambda: parent.exit_code is not None)
        assert len(await asyncio.to_thread(stop_leftovers, tmp_path, None)) == 2
    assert stopped.exit_code is not None
    assert await asyncio.to_thread(stop_leftovers, tmp_path, None) == []
    assert other.exit_code is None
    await other.stop()


async def test_a_folder_has_one_mark_however_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path.parent)
    (tmp_path / "link").symlink_to(tmp_path)
    marked = marked_environment(Path(tmp_path.name))
    child = Child(ChildSpec("child", [sys.executable, "-c", WAIT], always_ready, marked), tmp_path / "a.log")
    child.start()
    assert len(await asyncio.to_thread(stop_leftovers, tmp_path / "link", None)) == 1
    assert child.exit_code is not None


@pytest.mark.parametrize("ended_by", ["itself", "being stopped"])
async def test_a_group_is_killed_once_since_its_id_is_soon_a_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended_by: str
) -> None:
    ended: list[int | None] = []
    monkeypatch.setattr("runtime.embedded.supervisor.os.killpg", lambda group, _signal: ended.append(group))
    program = tmp_path / "program"
    program.symlink_to(sys.executable)
    code = "raise SystemExit(1)" if ended_by == "itself" else WAIT
    child = Child(ChildSpec("child", [str(program), "-c", code], always_ready), tmp_path / "child.log")
    child.start()
    first = child.pid
    if ended_by == "itself":
        async with asyncio.timeout(20):
            await until(lambda: child.exit_code is not None)
    else:
        await child.stop()
    assert ended == [first], "at the moment at which it was seen"
    program.unlink()
    with pytest.raises(FileNotFoundError):
        child.start()
    program.symlink_to(sys.executable)
    await child.stop()
    child.start()
    assert ended == [first]
    await child.stop()
    assert ended == [first, child.pid]
