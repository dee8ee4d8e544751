from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("words", "said", "belonging_to_others"),
    [
        (["key", "--help"], "Revoke", {"temporalio", "numpy", "fastapi", "cli.accounts"}),
        (["--help"], "backfill", {"fastapi", "api.parts", "torch"}),
    ],
    ids=["a command", "the list of all"],
)
def test_a_command_loads_nothing_that_belongs_to_others(
    words: list[str], said: str, belonging_to_others: set[str]
) -> None:
    """Everything that one command or another needs takes seconds to import; the list of all needs a second of them."""
    program = (
        "import sys, typer.testing; from cli.main import app\n"
        f"said = typer.testing.CliRunner().invoke(app, {words}).output\n"
        f"assert {said!r} in said, said\n"
        f"assert not (found := {belonging_to_others} & set(sys.modules)), found"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"), [(["key", "--help"], 0, "Revoke"), (["nonsense"], 2, "nonsense")]
)
def test_a_command_leaves_with_its_own_code_and_everything_it_said(arguments: list[str], code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr
