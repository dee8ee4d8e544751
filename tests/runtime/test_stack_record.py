from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.embedded.record import FolderInUseError, StackRecord, sole_use

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
