from __future__ import annotations

import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from runtime.embedded.servers import GIB, DiskFullError, RoomRegained, check_room


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
