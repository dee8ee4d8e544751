"""``tryon doctor``: all probes side by side, what is wrong, and what to do about it.

Each probe has its own time, so a part that is away holds up nobody else.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import AsJson
from cli.diagnosis import engine, host, public_address, stores, temporal
from cli.diagnosis.findings import Case, Finding, Stop, Subject, in_one_line, lines_of
from runtime.concern import SettingsError
from runtime.settings import load_settings


@dataclass(frozen=True)
class Probe:
    """One part of the diagnosis.

    Attributes:
        name: The word that ``--skip`` takes.
        look: Yields what it finds, so that what was found before its time is up is not lost.
        seconds: Longest time that it may take.
    """

    name: str
    look: Callable[[Case], AsyncGenerator[Finding, None]]
    seconds: float


PROBES = (
    Probe("database", stores.look_at_database, 20.0),
    Probe("ledger", stores.look_at_ledger, 600.0),
    Probe("object-store", stores.look_at_object_store, 20.0),
    Probe("rate-limit", stores.look_at_rate_limit, 20.0),
    Probe("temporal", temporal.look, 30.0),
    Probe("engine", engine.look, 60.0),
    Probe("weights", engine.look_at_weights, 1800.0),
    Probe("key-pepper", host.look_at_pepper, 5.0),
    Probe("signing", host.look_at_signing, 5.0),
    Probe("disk", host.look_at_disk, 5.0),
    Probe("privacy", host.look_at_privacy, 5.0),
    Probe("dashboard", host.look_at_dashboard, 5.0),
    Probe("public-address", public_address.look, 300.0),
)
"""In the order in which findings are shown."""


NAMES = [probe.name for probe in PROBES]


def doctor(  # noqa: PLR0917  # Typer makes options of them
    ledger: Annotated[bool, typer.Option("--ledger", help="Recompute every balance too.")] = False,
    weights: Annotated[bool, typer.Option("--weights", help="Read all weights and compare their SHA-256.")] = False,
    url: Annotated[
        str | None, typer.Option(help="Public address of the API, to be asked as a client does: https://….")
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(help="File with an API key for --url, - for standard input. A test key costs nothing."),
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(help=f"Leave one out; may be given often. One of {', '.join(NAMES)}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look at every part of the service; exit 0 only when nothing is wrong. Warnings are not wrong."""
    unknown = [name for name in skip or [] if name not in NAMES]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]} is none of {', '.join(NAMES)}")
    if key_file is not None and url is None:
        raise typer.BadParameter("--key-file is for --url")
    key = None
    if key_file is not None:
        key = (sys.stdin.read() if str(key_file) == "-" else key_file.read_text()).strip()
    case = Case(load_settings(), ledger=ledger, weights=weights, url=url, key=key)
    findings = asyncio.run(examine(case, without=skip or []))
    facts = [asdict(finding) for finding in findings]
    typer.echo(json.dumps(facts, indent=2) if as_json else "\n".join(lines_of(findings)))
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


async def examine(case: Case, *, without: Collection[str] = (), probes: Collection[Probe] = PROBES) -> list[Finding]:
    """Run every probe side by side, but those that are named in ``without``."""
    rounds = await asyncio.gather(*(_findings_of(probe, case, skip=probe.name in without) for probe in probes))
    return [finding for findings in rounds for finding in findings]


async def _findings_of(probe: Probe, case: Case, *, skip: bool) -> list[Finding]:
    found: list[Finding] = []
    subject = Subject(probe.name)
    if skip:
        return [subject.skipped("as asked by --skip")]
    try:
        async with asyncio.timeout(probe.seconds), aclosing(probe.look(case)) as looks:
            async for finding in looks:
                found.append(finding)  # noqa: PERF401  # one by one: what was found before the time is up stays
    except Stop as stop:
        found += stop.findings
    except TimeoutError:
        late = f"did not answer within {probe.seconds:.0f} s"
        found.append(subject.error(late, "See whether it hangs: its logs, its host, the network."))
    except SettingsError as error:
        found.append(subject.error(str(error), "Set it, then run `tryon doctor` again."))
    except Exception as error:  # noqa: BLE001  # a probe that stumbles is a finding, and the others go on
        stumbled = f"could not be examined: {type(error).__name__}: {in_one_line(error)}"
        found.append(subject.error(stumbled, "Mend what the sentence names, then run `tryon doctor` again."))
    return found
