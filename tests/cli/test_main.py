from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize(("arguments", "code", "said"), [(["--help"], 0, "backfill"), (["nonsense"], 2, "nonsense")])
def test_a_command_leaves_with_its_own_code_and_everything_it_said(arguments: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr
