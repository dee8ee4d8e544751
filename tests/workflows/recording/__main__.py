"""Brings the saved histories and contracts up to date; ``--help`` says how."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.servers.temporal import running_temporal
from tests.workflows.recording.case import Case
from tests.workflows.recording.cases import CASES, released
from tests.workflows.recording.contract_schemas import breaks, save_schemas, saved_schemas, schemas
from tests.workflows.recording.play import play
from tests.workflows.recording.saved import asked_by, newest, save

PROJECT = Path(__file__).parents[3]


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


async def record(version: str, names: set[str]) -> None:
    """Save what these workflows ask for under a version, where it is not what was recorded last."""
    async with running_temporal() as client:
        for case in CASES:
            if case.workflow in names and not is_as_saved(runs := await play(client, case), case):
                save(case.workflow, case.name, version, runs)
                say(f"recorded {case.workflow}/{version}-{case.name}")


def is_as_saved(runs: list[dict[str, Any]], case: Case) -> bool:
    """Whether a case that was just played asked for what it asked for when it was recorded."""
    saved = [history.read() for history in newest(case.workflow, case.name)]
    return asked_by(runs, in_order=case.in_order) == asked_by(saved, in_order=case.in_order)


def save_contracts() -> None:
    """Save today's contracts as those of the release that ``pyproject.toml`` names."""
    if complaints := breaks(saved_schemas()[1], schemas()):
        raise SystemExit("not saved, for payloads of older processes could not be read:\n" + "\n".join(complaints))
    release = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    save_schemas(release, schemas())
    say(f"saved the contracts of {release}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.workflows.recording", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("version", nargs="?", help="record what changed under this version, such as 0.4")
    what.add_argument("--contracts", action="store_true", help="save the contracts as those of this release")
    parser.add_argument("--workflow", nargs="+", help="only these")
    arguments = parser.parse_args()
    # Activities of some cases fail because they are meant to.
    logging.getLogger("temporalio").setLevel(logging.ERROR)
    if arguments.contracts:
        save_contracts()
        return
    asyncio.run(record(arguments.version, set(arguments.workflow or released())))


if __name__ == "__main__":
    main()
