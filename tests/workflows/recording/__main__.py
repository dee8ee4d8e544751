"""Brings the saved histories, fingerprints and contracts up to date; ``--help`` says how."""

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
from tests.workflows.recording.cases import CASES
from tests.workflows.recording.contract_schemas import breaks, save_schemas, saved_schemas, schemas
from tests.workflows.recording.fingerprint import fingerprint
from tests.workflows.recording.fingerprints import out_of_date, released, save_stamps, saved_stamps
from tests.workflows.recording.play import play
from tests.workflows.recording.saved import asked_by, newest, save

PROJECT = Path(__file__).parents[3]


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def stamp(names: set[str], version: str | None) -> None:
    """Note that the histories show what these workflows do now; without a version, those of before still do."""
    stamps = saved_stamps()
    for name in names:
        parts = fingerprint(released()[name])
        stamps[name] = {"version": version or stamps[name]["version"], "parts": parts}
    save_stamps(stamps)


async def record(version: str, names: set[str]) -> None:
    """Save every case of these workflows under a version."""
    async with running_temporal() as client:
        for case in CASES:
            if case.workflow in names:
                save(case.workflow, case.name, version, await play(client, case))
                say(f"recorded {case.workflow}/{version}-{case.name}")
    stamp(names, version)


async def refuse_changes(names: set[str]) -> None:
    """Stamp these workflows if every case asks for what it asked for when it was last recorded."""
    async with running_temporal() as client:
        cases = [case for case in CASES if case.workflow in names]
        changed = [case for case in cases if not is_as_saved(await play(client, case), case)]
    if changed:
        listed = ", ".join(f"{case.workflow}/{case.name}" for case in changed)
        raise SystemExit(f"not stamped, for these no longer ask for what they asked for when recorded: {listed}")
    stamp(names, None)
    say(f"stamped {', '.join(sorted(names))}")


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
    what.add_argument("version", nargs="?", help="record new histories under this version, such as 0.4")
    what.add_argument("--unchanged", action="store_true", help="see that every case is as it was, and say so")
    what.add_argument("--contracts", action="store_true", help="save the contracts as those of this release")
    parser.add_argument("--workflow", nargs="+", help="only these; else those whose fingerprint changed")
    arguments = parser.parse_args()
    # Activities of some cases fail because they are meant to.
    logging.getLogger("temporalio").setLevel(logging.ERROR)
    if arguments.contracts:
        save_contracts()
        return
    names = set(arguments.workflow or out_of_date())
    if not names:
        say("nothing changed")
    elif arguments.unchanged:
        asyncio.run(refuse_changes(names))
    else:
        asyncio.run(record(arguments.version, names))


if __name__ == "__main__":
    main()
