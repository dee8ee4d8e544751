"""``python -m tests.faults``: break the service on purpose, and say what became of the jobs."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import shutil
import time
import uuid
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.faults.faults import AFTERWARDS, FAULTS, JOBS_IN_FLIGHT, NOT_HERE, Listed, NotHereError
from tests.faults.record import write_run
from tests.faults.referee import jobs_of, judge
from tests.faults.world import World, place, running_world
from tests.servers.postgres import PostgresServer

OUT = Path("out/faults.json")

DATABASES = ("sqlite", "postgresql")


def main() -> None:
    """Go through the list on each database; exit 1 unless every promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--database", choices=DATABASES, action="append", help="by default both")
    parser.add_argument("--only", help="faults whose name contains this")
    parser.add_argument("--begin", help="with the first whose name contains this, and go on to the end of the list")
    parser.add_argument("--jobs", type=int, default=JOBS_IN_FLIGHT, help="in flight at each fault")
    parser.add_argument("--minutes", type=float, default=0, help="again and again for so long; by default once")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of what is drawn by lot")
    parser.add_argument("--out", type=Path, default=OUT, help="where the rows are written, after each fault")
    parser.add_argument("--list", action="store_true", help="name the faults and what is promised")
    wanted = parser.parse_args()
    chosen = [each for each in FAULTS if wanted.only is None or wanted.only in each.name]
    if wanted.begin is not None:
        chosen = list(itertools.dropwhile(lambda each: wanted.begin not in each.name, chosen))
    if not chosen:
        parser.error("no fault has such a name")
    if wanted.list:
        for each in chosen:
            print(f"{each.name}: {each.promise}")
        for name, where in NOT_HERE.items():
            print(f"{name}: not here; {where}.")
        return
    rows: list[dict[str, Any]] = []
    for database in wanted.database or DATABASES:
        here = [each for each in chosen if database in each.databases]
        with place(database) as (folder, server):
            asyncio.run(_go_through(here, database, server, folder, wanted, rows))
    broken = [row for row in rows if row.get("complaints")]
    print(f"{len(rows)} faults, {len(broken)} promises broken; written to {wanted.out}")
    raise SystemExit(1 if broken else 0)


async def _go_through(  # noqa: PLR0917
    faults: list[Listed],
    database: str,
    server: PostgresServer | None,
    folder: Path,
    wanted: argparse.Namespace,
    rows: list[dict[str, Any]],
) -> None:
    known = set[uuid.UUID]()

    def tell(each: Listed, rounds: list[dict[str, Any]]) -> None:
        row = {"fault": each.name, "database": database, "promise": each.promise, **_together(rounds)}
        rows.append({**row, "seed": wanted.seed})
        write_run(wanted.out, {"rows": rows})
        if row.get("complaints"):
            logs = wanted.out.parent / f"{wanted.out.stem}-logs" / f"{each.name}, {database}"
            shutil.copytree(world.data_dir / "logs", logs, dirs_exist_ok=True)
            print(f"what its processes said is in {logs}", flush=True)
        said = "; ".join(row.get("complaints", [row.get("not_run", "")])) or "kept"
        figures = f"{row.get('completed', 0):>3} of {row.get('jobs', 0)} completed"
        figures += f", healthy after {row.get('healthy_after_s', 0):>5} s"
        print(f"{database:<11} {each.name:<58} {figures}: {said}", flush=True)

    async with running_world(folder / "data", server) as world:
        for each in faults:
            until = time.monotonic() + 60 * wanted.minutes
            rounds: list[dict[str, Any]] = []
            while not rounds or time.monotonic() < until:
                random.seed(f"{wanted.seed} {each.name} {len(rounds)}")
                rounds.append(await _try(world, each, wanted.jobs, known))
                if rounds[-1].get("complaints") or "not_run" in rounds[-1]:
                    break
            tell(each, rounds)
        afterwards = await _try(world, AFTERWARDS, wanted.jobs, known)
        if faults == [each for each in FAULTS if database in each.databases]:
            tell(AFTERWARDS, [afterwards])
        else:  # it says nothing of the whole list
            rows[-1].setdefault("complaints", []).extend(afterwards["complaints"])
            write_run(wanted.out, {"rows": rows})


def _together(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """One row of a fault that was tried several times: what was counted is added, what took time is the longest."""
    if len(rounds) == 1:
        return rounds[0]
    row: dict[str, Any] = {"rounds": len(rounds)}
    for name in dict.fromkeys(name for each in rounds for name in each):
        values = [each[name] for each in rounds if name in each]
        if name == "complaints":
            row[name] = [complaint for each in values for complaint in each]
        elif name in ("errors", "answers", "hits"):
            row[name] = dict(sum(map(Counter, values), Counter[str]()))
        else:
            least = min if name == "in_flight" else sum
            row[name] = max(values) if name.endswith("_s") else round(least(values), 1)
    return row


async def _try(world: World, each: Listed, jobs: int, known: set[uuid.UUID]) -> dict[str, Any]:
    began = time.monotonic()
    world.forget()
    try:
        customers = await each.run(world, jobs)
        await (world.healing or world.until_healthy())
        healthy = round(time.monotonic() - world.mended, 1) if world.healing else 0.0  # nothing was broken
        verdict = await judge(world, customers, known, healthy)
    except NotHereError as error:
        return {"not_run": str(error)}
    except Exception as error:  # whatever it is, the next fault is tried
        await world.mend()
        known |= await asyncio.to_thread(jobs_of, world)  # they are this fault's, and no other's
        return {"complaints": [f"{type(error).__name__}: {error}"], "seconds": round(time.monotonic() - began, 1)}
    in_flight = {} if world.in_progress is None else {"in_flight": world.in_progress}
    world.expect(in_flight.get("in_flight", jobs) >= jobs, f"{world.in_progress} jobs were in flight")
    return {
        **asdict(verdict),
        **in_flight,
        **world.figures,
        "hits": dict(world.hits),
        "seconds": round(time.monotonic() - began, 1),
        "complaints": [
            *verdict.complaints(may_fail=each.may_fail, also=each.also, leaves_nothing=each.leaves_nothing),
            *world.complaints,
        ],
    }


if __name__ == "__main__":
    main()
