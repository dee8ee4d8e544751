"""Ports and the disk of the embedded servers; `test_embedded_store` has the store itself."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from runtime.embedded.servers import GIB, DiskFullError, PortInUseError, RoomRegained, check_room, choose_port, is_free
from tests.servers.processes import free_port


def test_a_free_port_is_taken_as_wanted() -> None:
    port = free_port()
    assert choose_port(port, named=True, what="a test") == port


def test_a_default_port_in_use_moves_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert not is_free(port)
        assert choose_port(port, named=False, what="a test") > port


def test_a_named_port_in_use_is_refused_with_its_number() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUseError, match=str(port)):
            choose_port(port, named=True, what="a test")


def test_every_port_of_a_block_has_to_be_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        above = taken.getsockname()[1]
        assert choose_port(above - 3, named=False, offsets=(0, 3), what="a test") != above - 3


def test_a_port_that_another_stack_has_chosen_and_not_taken_yet_is_left_to_it() -> None:
    port = free_port()
    choosing = f"from runtime.embedded.servers import choose_port; print(choose_port({port}, named=False, what='a'))"
    with subprocess.Popen(
        [sys.executable, "-uc", f"{choosing}; import time; time.sleep(60)"],
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == f"{port}\n"
            assert choose_port(port, named=False, what="b") > port
            with pytest.raises(PortInUseError):
                choose_port(port, named=True, what="b")
        finally:
            other.kill()
    assert choose_port(port, named=False, what="b") == port


@pytest.mark.parametrize("free_gib", [2.6, 100])
def test_with_room_nothing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free_gib: float) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: Mock(free=free_gib * GIB, total=252 * GIB))
    check_room(tmp_path)


def test_on_a_disk_that_is_nearly_full_the_sentence_says_so_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: Mock(free=2.4 * GIB, total=252 * GIB))
    with pytest.raises(DiskFullError, match=r"2\.4 of 252\.0 GiB are free .*1%.*TRYON_DATA_DIR"):
        check_room(tmp_path)


def test_room_is_regained_once_and_not_by_a_disk_on_the_brink(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    regained, said = RoomRegained(tmp_path), []
    for free in (500, 9, 12, 9, 14, 15, 500, 8, 20):
        monkeypatch.setattr(shutil, "disk_usage", lambda _folder, free=free: Mock(free=free, total=1000))
        said.append(regained())
    assert said == [False, False, False, False, False, True, False, False, True]
