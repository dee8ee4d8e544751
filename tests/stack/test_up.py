"""``tryon up``, ``down`` and ``status`` as a person at a terminal meets them."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from cli.embedded import EmbeddedStack
from runtime.embedded.record import is_private, sole_use
from runtime.embedded.servers import DiskFullError
from runtime.settings import EMBEDDED_FILE, Settings
from tests.stack.stack import Stack, create_key, tryon, until
from tests.stack.test_jobs import books, picture_of
from tests.stack.test_strangers import open_files


def test_status_is_good_only_while_everything_is_healthy(stack: Stack) -> None:
    healthy = stack.tryon("status")
    assert healthy.returncode == 0
    assert healthy.stdout.count("healthy") == 5
    stack.signal("api", signal.SIGSTOP)
    try:
        assert stack.tryon("status").returncode == 1
    finally:
        stack.signal("api", signal.SIGCONT)


def test_up_again_only_says_where_it_is(stack: Stack) -> None:
    again = stack.tryon("up")
    assert again.returncode == 0
    assert stack.record.addresses["API"] in again.stdout


def test_without_a_stack_status_is_bad_and_down_is_content(tmp_path: Path) -> None:
    assert tryon(tmp_path, "status").returncode == 1
    assert tryon(tmp_path, "down").returncode == 0


def test_on_a_disk_that_is_nearly_full_nothing_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: Mock(free=9, total=1000))
    said: list[str] = []
    with pytest.raises(DiskFullError):
        asyncio.run(EmbeddedStack(Settings(), said.append).run())
    assert said == []
    assert not (tmp_path / EMBEDDED_FILE).exists()


def test_a_second_up_finds_what_the_first_left_and_no_process_stays(stack: Stack, portrait: str, sweater: str) -> None:
    assert "tryon operator add" in stack.said, "nobody is one yet"
    assert stack.tryon("operator", "add", "owner@example.com").returncode == 0
    job_id = stack.post({"customerPhotoBase64": portrait, "garmentImageUrl": sweater, "category": "upper_body"})
    stack.finished(job_id)
    try:
        assert stack.stop() == []
        assert not (stack.data_dir / "stack.json").exists()
        assert create_key(stack.data_dir, "made-while-nothing-runs@example.com").startswith("vto_live_")
    finally:
        stack.up()
    picture_of(stack.finished(job_id))
    assert "tryon operator add" not in stack.said


def test_down_ends_every_process_and_a_folder_that_was_left_open_is_closed_by_the_next_up(stack: Stack) -> None:
    """Older versions left it so; the doctor sees both."""
    skipped = [word for name in ("object-store", "temporal", "engine", "weights") for word in ("--skip", name)]
    children = psutil.Process(stack.process.pid).children(recursive=True)
    try:
        assert stack.tryon("down").returncode == 0
        assert psutil.wait_procs(children, timeout=1)[1] == []
        assert stack.process.wait(5) == 0
        stack.let_go()
        for path in (stack.data_dir, *stack.data_dir.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        before = stack.tryon("doctor", *skipped)
        assert before.returncode == 1
        assert "is open to other users of this machine" in before.stdout
    finally:
        stack.up()
    assert is_private(stack.data_dir)
    assert open_files(stack.data_dir) == []
    assert "is its owner's alone" in stack.tryon("doctor", *skipped).stdout


def test_when_the_supervisor_is_killed_its_children_go_too_and_the_next_up_finds_every_job(
    stack: Stack, portrait: str, sweater: str
) -> None:
    """Even one that hangs goes, and a record of which there is only half."""
    until(stack.healthy)
    job_id = stack.post({"customerPhotoBase64": portrait, "garmentImageUrl": sweater, "category": "upper_body"})
    children = psutil.Process(stack.process.pid).children(recursive=True)
    hanging = psutil.Process(stack.pid("api"))
    hanging.suspend()
    try:
        stack.process.kill()
        stack.process.wait()
        stack.let_go()
        held = [hanging, *hanging.children(recursive=True)]
        _, alive = psutil.wait_procs([child for child in children if child not in held], timeout=60)
        assert alive == []
        (stack.data_dir / "stack.json").write_text('{"supervisor": {"pid": ')
        assert hanging.is_running()
        stack.up()
        assert psutil.wait_procs(held, timeout=10)[1] == []
        picture_of(stack.finished(job_id, seconds=90))
        assert books(stack, job_id)[1] == ["reserve", "settle"]
    finally:
        if hanging.is_running():
            hanging.kill()


def test_up_beside_one_that_is_just_starting_is_refused(tmp_path: Path) -> None:
    with sole_use(tmp_path):
        refused = tryon(tmp_path, "up")
    assert refused.returncode == 1
    assert "in use" in refused.stderr
    assert not (tmp_path / "embedded.env").exists()


@pytest.mark.parametrize(
    "variable", ["TRYON_API_PORT", "TRYON_TEMPORAL_PORT", "TRYON_TEMPORAL_UI_PORT", "TRYON_S3_PORT"]
)
def test_a_named_port_in_use_is_refused_at_once(tmp_path: Path, variable: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        if variable == "TRYON_S3_PORT" and int(port) > 55_000:
            pytest.skip("the port above it would not exist")
        refused = tryon(tmp_path, "up", **{variable: port})
    assert refused.returncode == 1
    assert port in refused.stderr
    assert "in use" in refused.stderr
    assert not (tmp_path / "stack.json").exists()
    assert not (tmp_path / "logs").exists(), "nothing was started"


def test_missing_model_files_are_said_in_one_sentence(tmp_path: Path) -> None:
    refused = tryon(tmp_path, "up", TRYON_MODELS_DIR=str(tmp_path / "none"))
    assert refused.returncode == 1
    assert "tryon engines fetch warp" in refused.stderr
    assert "Traceback" not in refused.stderr
