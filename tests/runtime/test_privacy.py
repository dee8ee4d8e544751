"""The data folder is its owner's alone, whatever it was before."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.embedded.record import is_private, make_private, sole_use


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
