from __future__ import annotations

import errno
from pathlib import Path

import pytest

from runtime.embedded.supervisor import bound_log


def test_a_writer_goes_on_at_the_beginning_of_an_emptied_log(tmp_path: Path) -> None:
    log_file = tmp_path / "child.log"
    with log_file.open("ab", buffering=0) as writer:
        writer.write(b"long" * 10)
        assert bound_log(log_file, 10)
        writer.write(b"short")
        assert not bound_log(log_file, 10)
    assert log_file.read_bytes() == b"short"


def test_a_log_is_bounded_on_a_full_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    log_file = tmp_path / "child.log"
    log_file.write_bytes(b"x" * 100)
    monkeypatch.setattr("runtime.embedded.supervisor.shutil.copyfile", full)
    assert bound_log(log_file, 10)
    assert log_file.read_bytes() == b""
    assert list(tmp_path.iterdir()) == [log_file]
