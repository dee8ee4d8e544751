from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def test_a_command_loads_nothing_that_belongs_to_others() -> None:
    """Everything that one command or another needs takes seconds to import."""
    program = (
        "import sys, typer.testing; from cli.main import app\n"
        "said = typer.testing.CliRunner().invoke(app, ['key', '--help']).output\n"
        "assert 'Revoke' in said, said\n"
        "sys.exit(bool({'temporalio', 'numpy', 'fastapi', 'cli.accounts'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("arguments", "code", "said"), [(["--help"], 0, "backfill"), (["nonsense"], 2, "nonsense")])
def test_a_command_leaves_with_its_own_code_and_everything_it_said(arguments: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr
