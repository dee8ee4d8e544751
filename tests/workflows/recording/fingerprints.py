"""The saved fingerprints, and what is to be done where today's differ."""

from __future__ import annotations

import json
from typing import TypedDict

from temporalio import workflow

from tests.workflows.recording.cases import UNRELEASED
from tests.workflows.recording.fingerprint import fingerprint
from tests.workflows.recording.saved import FOLDER
from worker_cpu.worker import WORKFLOWS

FILE = FOLDER / "fingerprints.json"

WHAT_TO_DO = """\
What {workflow} asks for may have changed since its histories were recorded: {parts}.
 1. `pytest tests/workflows/test_replay.py`: where an old history no longer replays, runs that are open would be stuck.
    Keep the old way for them behind `workflow.patched` (docs/versions.md).
 2. It asks for something new: `python -m tests.workflows.recording VERSION`, with the version that will be released
    next, and commit the files that it writes. A way that no case takes needs a case of its own.
 3. It asks for the same as before: `python -m tests.workflows.recording --unchanged`, which plays every case and
    refuses where that is not so."""


class Stamp(TypedDict):
    """Attributes: the version whose histories show what these parts do; part to digest."""

    version: str
    parts: dict[str, str]


def released() -> dict[str, type]:
    """Registered name to class of every workflow that has been released."""
    by_name = {workflow._Definition.must_from_class(registered).name or "": registered for registered in WORKFLOWS}
    return {name: registered for name, registered in by_name.items() if name not in UNRELEASED}


def saved_stamps() -> dict[str, Stamp]:
    stamps: dict[str, Stamp] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return stamps


def save_stamps(stamps: dict[str, Stamp]) -> None:
    FILE.write_text(json.dumps(dict(sorted(stamps.items())), indent=1) + "\n")


def differences(saved: dict[str, str], now: dict[str, str]) -> str:
    """Which parts are not what they were; empty where all are."""
    said = {
        "changed": [part for part in saved.keys() & now.keys() if saved[part] != now[part]],
        "new": list(now.keys() - saved.keys()),
        "gone": list(saved.keys() - now.keys()),
    }
    return "; ".join(f"{how} {', '.join(sorted(parts))}" for how, parts in said.items() if parts)


def out_of_date() -> dict[str, str]:
    """Workflow to which of its parts changed."""
    stamps = saved_stamps()
    found = {}
    for name, registered in released().items():
        saved = stamps[name]["parts"] if name in stamps else {}
        if parts := differences(saved, fingerprint(registered)):
            found[name] = parts
    return found
