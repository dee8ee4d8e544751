"""TypeScript, compiled and run by what `make test-env` fetches from npm; skipped where there is no npm."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[1] / ".venv" / "npm" / "node_modules"
SECONDS = 170


def node() -> str:
    """The program that runs what was compiled."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed")
    return program


def npm_program(path: str) -> list[str | Path]:
    """The command of a program among the packages, such as ``typescript/bin/tsc``."""
    if not (PACKAGES / path).is_file():
        pytest.skip(f"{path.partition('/')[0]} is not there (make test-env fetches it where there is npm)")
    return [node(), PACKAGES / path]


def compiler_says(*files: Path) -> str:
    """Compile TypeScript as strictly as it goes; returns the complaints. What has any is not written."""
    options = ["--strict", "--noEmitOnError", "--skipLibCheck", "--target", "es2022", "--module", "nodenext"]
    types = ["--types", "node", "--typeRoots", PACKAGES / "@types"]
    done = subprocess.run(
        [*npm_program("typescript/bin/tsc"), *options, *types, *files],
        cwd=files[0].parent,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.stdout + done.stderr


def compiled(file: Path) -> Path:
    """The JavaScript of a module (``.mts``) without a single complaint of the compiler."""
    complaints = compiler_says(file)
    assert complaints == "", complaints
    return file.with_suffix(".mjs")
