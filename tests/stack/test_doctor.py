"""``tryon doctor`` beside a running stack, as an operator calls it."""

from __future__ import annotations

import json
import signal
from typing import Any

from tests.stack.stack import Stack, tryon, until


def findings(said: str) -> dict[str, dict[str, Any]]:
    """The last finding of each subject."""
    return {finding["subject"]: finding for finding in json.loads(said)}


def test_a_sound_stack_and_its_api(stack: Stack) -> None:
    until(stack.healthy)
    done = stack.tryon("doctor", "--json", "--ledger", "--url", stack.record.addresses["API"])
    assert done.returncode == 0, done.stdout + done.stderr
    levels = {subject: finding["level"] for subject, finding in findings(done.stdout).items()}
    assert {subject for subject, level in levels.items() if level == "skipped"} == {
        "clock of the database", "rate limit", "weights", "TLS", "held polls"
    }  # fmt: skip
    assert {"queues", "schedules", "ledger", "large bodies", "model files", "objects"} <= levels.keys()


def test_a_temporal_that_hangs_hides_nothing_else(stack: Stack) -> None:
    stack.signal("temporal", signal.SIGSTOP)
    try:
        done = stack.tryon("doctor", "--json")
    finally:
        stack.signal("temporal", signal.SIGCONT)
    found = findings(done.stdout)
    assert done.returncode == 1
    assert [subject for subject, finding in found.items() if finding["level"] == "error"] == ["temporal"]
    assert found["schedules"]["level"] == "skipped"
    assert found["objects"]["level"] == "ok"


def test_settings_by_environment_win_and_each_finding_says_what_to_do(stack: Stack) -> None:
    done = tryon(stack.data_dir, "doctor", TRYON_S3_BUCKET="nowhere", TRYON_ENGINE="wrap", TRYON_KEY_PEPPER="short")
    assert done.returncode == 1
    for part in ("nowhere cannot be listed", "'wrap' is no route", "TRYON_KEY_PEPPER is wrong", "\n", "→ "):
        assert part in done.stdout
    assert done.stdout.splitlines()[-1].startswith("3 errors, ")
