"""All probes side by side, each within its own time: a part that is away holds up nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from dataclasses import dataclass

from cli.diagnosis import dashboard, database, engine, machine, object_store, public_address, temporal
from cli.diagnosis.findings import Case, Finding, Subject, in_one_line
from runtime.concern import SettingsError


@dataclass(frozen=True)
class Probe:
    """One look.

    Attributes:
        name: Of its subject; what ``--skip`` takes.
        look: Yields what it finds, so that what was found before its time is up is not lost.
        seconds: Longest time that it may take.
    """

    name: str
    look: Callable[[Case], AsyncGenerator[Finding, None]]
    seconds: float


PROBES = (
    Probe("database", database.look, 20.0),
    Probe("ledger", database.look_at_ledger, 600.0),
    Probe("object-store", object_store.look, 20.0),
    Probe("temporal", temporal.look, 30.0),
    Probe("engine", engine.look, 60.0),
    Probe("weights", engine.look_at_weights, 1800.0),
    Probe("key-pepper", dashboard.look_at_pepper, 5.0),
    Probe("disk", machine.look, 5.0),
    Probe("privacy", machine.look_at_privacy, 5.0),
    Probe("dashboard", dashboard.look, 5.0),
    Probe("public-address", public_address.look, 300.0),
)
"""In the order in which findings are shown."""


async def examine(case: Case, *, without: Collection[str] = (), probes: Collection[Probe] = PROBES) -> list[Finding]:
    """Look at everything.

    Args:
        case: What to look at.
        without: Names of probes that somebody does not want.
        probes: All of them.
    """
    rounds = [_left_out(probe) if probe.name in without else _findings_of(probe, case) for probe in probes]
    return [finding for findings in await asyncio.gather(*rounds) for finding in findings]


async def _left_out(probe: Probe) -> list[Finding]:
    return [Subject(probe.name).skipped("as asked by --skip")]


async def _findings_of(probe: Probe, case: Case) -> list[Finding]:
    found: list[Finding] = []
    subject = Subject(probe.name)
    try:
        async with asyncio.timeout(probe.seconds), aclosing(probe.look(case)) as looks:
            async for finding in looks:
                found.append(finding)  # noqa: PERF401  # one by one: what was found before the time is up stays
    except TimeoutError:
        found.append(
            subject.error(
                f"did not answer within {probe.seconds:.0f} s", "See whether it hangs: its logs, its host, the network."
            )
        )
    except SettingsError as error:
        found.append(subject.error(str(error), "Set it, then run `tryon doctor` again."))
    except Exception as error:  # noqa: BLE001  # a probe that stumbles is a finding, and the others go on
        found.append(
            subject.error(
                f"could not be examined: {type(error).__name__}: {in_one_line(error)}",
                "Mend what the sentence names, then run `tryon doctor` again.",
            )
        )
    return found
