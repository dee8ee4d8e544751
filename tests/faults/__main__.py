"""``python -m tests.faults``: break the service on purpose, and say what became of the jobs."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
import time
import uuid
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.faults.faults import FAULTS, NOT_HERE, Listed, clock_jumps
from tests.faults.record import write_run
from tests.faults.referee import jobs_of, judge
from tests.faults.world import World, running_world
from tests.servers.postgres import running_postgres

OUT = Path("out/faults.json")

JOBS = 20


def main() -> None:
    """Go through the list on each database; exit 1 unless every promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), action="append", help="by default both")
    parser.add_argument("--only", help="faults whose name contains this")
    parser.add_argument("--begin", help="with the first whose name contains this, and go on to the end of the list")
    parser.add_argument("--jobs", type=int, default=JOBS, help="in flight at each fault")
    parser.add_argument("--minutes", type=float, default=0, help="again and again for so long; by default once")
    parser.add_argument("--out", type=Path, default=OUT, help="where the rows are written, after each fault")
    parser.add_argument("--list", action="store_true", help="name the faults and what is promised")
    wanted = parser.parse_args()
    chosen = [each for each in FAULTS if wanted.only is None or wanted.only in each.name]
    if wanted.begin is not None:
        chosen = chosen[next(at for at, each in enumerate(chosen) if wanted.begin in each.name) :]
    if wanted.list:
        for each in chosen:
            print(f"{each.name}: {each.promise}")
        for name, where in NOT_HERE.items():
            print(f"{name}: not here; {where}.")
        return
    rows: list[dict[str, Any]] = []
    for database in wanted.database or ["sqlite", "postgresql"]:
        here = [each for each in chosen if database in each.databases]
        with ExitStack() as stack:
            temporary = tempfile.TemporaryDirectory(prefix="tryon-faults-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(temporary))
            url = stack.enter_context(running_postgres()) if database == "postgresql" else None
            asyncio.run(_go_through(here, database, url, folder, wanted, rows))
    broken = [row for row in rows if row["complaints"]]
    print(f"{len(rows)} faults, {len(broken)} promises broken; written to {wanted.out}")
    raise SystemExit(1 if broken else 0)


async def _go_through(  # noqa: PLR0917
    faults: list[Listed],
    database: str,
    url: str | None,
    folder: Path,
    wanted: argparse.Namespace,
    rows: list[dict[str, Any]],
) -> None:
    known = set[uuid.UUID]()
    clocks = any(each.run is clock_jumps for each in faults)
    async with running_world(folder / "data", url, clocks=clocks) as world:
        for each in faults:
            until, rounds = time.monotonic() + 60 * wanted.minutes, []
            while not rounds or time.monotonic() < until:
                rounds.append(await _try(world, each, wanted.jobs, known))
                if rounds[-1]["complaints"]:
                    break
            row = {"fault": each.name, "database": database, "promise": each.promise, **_together(rounds)}
            rows.append(row)
            write_run(wanted.out, {"rows": rows})
            if row["complaints"]:
                logs = wanted.out.parent / f"{wanted.out.stem}-logs" / f"{each.name}, {database}"
                shutil.copytree(world.data_dir / "logs", logs, dirs_exist_ok=True)
                print(f"what its processes said is in {logs}", flush=True)
            said = "; ".join(row["complaints"]) or "kept"
            figures = f"{row.get('completed', 0):>3} of {row.get('jobs', 0)} completed"
            figures += f", healthy after {row.get('healthy_after_s', 0):>5} s"
            print(f"{database:<11} {each.name:<58} {figures}: {said}", flush=True)


def _together(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """One row of a fault that was tried several times: what was counted is added, what took time is the longest."""
    if len(rounds) == 1:
        return rounds[0]
    row: dict[str, Any] = {"rounds": len(rounds)}
    for name in dict.fromkeys(name for each in rounds for name in each):
        values = [each[name] for each in rounds if name in each]
        if name == "complaints":
            row[name] = [complaint for each in values for complaint in each]
        elif name == "errors":
            row[name] = dict(sum(map(Counter, values), Counter[str]()))
        else:
            row[name] = max(values) if name.endswith("_s") else round(sum(values), 1)
    return row


async def _try(world: World, each: Listed, jobs: int, known: set[uuid.UUID]) -> dict[str, Any]:
    began, world.healing = time.monotonic(), None
    try:
        customers = await each.run(world, jobs)
        healthy = await (world.healing or world.until_healthy())
        ended = time.monotonic() - began
        verdict = await judge(world, customers, known, healthy)
    except (TimeoutError, AssertionError, ExceptionGroup) as error:
        await world.links("open")
        known |= await asyncio.to_thread(jobs_of, world)  # they are this fault's, and no other's
        return {"complaints": [f"{type(error).__name__}: {error}"], "seconds": round(time.monotonic() - began, 1)}
    complaints = verdict.complaints(may_fail=each.may_fail)
    return {
        **asdict(verdict),
        "ended_s": round(ended, 1),
        "seconds": round(time.monotonic() - began, 1),
        "complaints": complaints,
    }


if __name__ == "__main__":
    main()
