"""The data folder has one supervisor at a time, and is its owner's alone, whatever it was before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.embedded.record import FolderInUseError, StackRecord, is_private, make_private, sole_use

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"supervisor": {"pid": 1', '{"supervisor": 1}'])
def test_a_record_that_cannot_be_read_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "stack.json").write_text(text)
    assert StackRecord.read(tmp_path) is None


def test_a_folder_has_one_supervisor_at_a_time(tmp_path: Path) -> None:
    hold = "import sys; from pathlib import Path; from runtime.embedded.record import sole_use\n"
    hold += "with sole_use(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=PROJECT) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(FolderInUseError, match="is in use"), sole_use(tmp_path):
            pass
        holder.kill()
    with sole_use(tmp_path):
        pass


def mode_of(path: Path) -> int:
    return path.lstat().st_mode & 0o777


def test_a_folder_of_an_older_version_is_closed_when_it_is_taken_into_use(tmp_path: Path) -> None:
    data_dir, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    elsewhere.write_text("not ours")
    elsewhere.chmod(0o644)
    (data_dir / "objects" / "deep").mkdir(parents=True)
    for folder in (data_dir, data_dir / "objects", data_dir / "objects" / "deep"):
        folder.chmod(0o755)
    for name, mode in {"tryon.db": 0o644, "objects/deep/1.dat": 0o666, "objects/run": 0o755, "kept": 0o400}.items():
        (data_dir / name).touch()
        (data_dir / name).chmod(mode)
    (data_dir / "link").symlink_to(elsewhere)
    assert not is_private(data_dir)
    with sole_use(data_dir):
        assert is_private(data_dir)
    assert mode_of(data_dir) == mode_of(data_dir / "objects" / "deep") == 0o700
    assert mode_of(data_dir / "tryon.db") == mode_of(data_dir / "objects" / "deep" / "1.dat") == 0o600
    assert (mode_of(data_dir / "objects" / "run"), mode_of(data_dir / "kept")) == (0o700, 0o400)
    assert mode_of(elsewhere) == 0o644, "a link leads out of the folder"


def test_what_belongs_to_another_user_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = tmp_path / "foreign"
    foreign.touch(0o644)
    close = Path.chmod

    def chmod(path: Path, mode: int) -> None:
        if path == foreign:
            raise PermissionError
        close(path, mode)

    monkeypatch.setattr(Path, "chmod", chmod)
    assert make_private(tmp_path) == [foreign]
