from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import structlog
from runtime.logs import configure_logs
from runtime.settings import LogSettings

configure_logs(LogSettings(format=sys.argv[1]), "a process")


def authenticate(words):
    key = "-".join(words)
    raise KeyError(len(key))


try:
    authenticate(["vto", "live", "secret"])
except KeyError:
    structlog.get_logger("a.logger").exception("it failed", body="x" * 5000)
"""


@pytest.mark.parametrize("format", ["json", "text"])
def test_a_fault_is_told_without_the_values_it_was_working_on(format: str) -> None:
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, format], capture_output=True, text=True, check=True, timeout=60
    ).stderr
    assert "it failed" in said
    assert "KeyError" in said
    assert "authenticate" in said
    assert "vto-live-secret" not in said
    assert "x" * 100 not in said
