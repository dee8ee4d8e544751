"""``python -m bench.backfill [--items 2000]``: a backfill through the whole service, its parts killed in turn."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench.backfill.scene import bills_of, customer_seconds, runs_of, write_items
from bench.figures import Figure, table, write_json
from bench.service.usual import Bench, running
from gateway.temporal import TemporalGateway
from runtime.embedded.record import StackRecord
from runtime.settings import without_tryon_variables
from workflows.backfills.contracts import BackfillState

OUT = Path("out/bench-backfill.json")
BACKFILL = "bench"
LOOK_SECONDS = 5.0
KILLED = ("worker-cpu", "worker-gpu", "temporal", "object-store", "api")
"""In this order, at even distances through the second half of the items."""


@dataclass
class Seen:
    """What was measured while the backfill ran."""

    megabytes: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    beside: list[float] = field(default_factory=list)
    killed: dict[str, int] = field(default_factory=dict)
    """Items that had ended when the part was killed."""
    largest_window: int = 0


def main() -> None:
    """Measure, print, write JSON; exit with 1 where an item was lost or billed twice."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--customers", type=int, default=20, help="measured alone, and beside the backfill")
    parser.add_argument("--no-kills", action="store_true")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        items = write_items(Path(folder) / "items", wanted.items)
        data_dir = Path(folder) / "data"
        with running(data_dir, generations=2 * wanted.items + 3 * wanted.customers) as bench:
            figures, more = measure(bench, data_dir, items, wanted)
    print(table(figures))
    print(json.dumps(more, indent=1))
    write_json(OUT, figures, more)
    raise SystemExit(0 if more["right"] else 1)


def measure(
    bench: Bench, data_dir: Path, items: Path, wanted: argparse.Namespace
) -> tuple[list[Figure], dict[str, Any]]:
    """Every figure, and what came of the items."""
    customer_seconds(bench.client)
    alone = [customer_seconds(bench.client) for _ in range(wanted.customers)]
    began = time.monotonic()
    account = tryon(
        data_dir,
        "backfill",
        "start",
        str(items),
        "--account",
        "bench@example.com",
        "--id",
        BACKFILL,
        "--concurrency",
        str(wanted.concurrency),
    )
    print(account.strip(), flush=True)
    seen = watch(bench, data_dir, wanted)
    seconds = time.monotonic() - began
    outcomes = fetched(data_dir, data_dir.parent / "fetched")
    jobs = [outcome["jobId"] for outcome in outcomes if outcome.get("jobId")]
    bills = bills_of(bench.settings, jobs)
    completed = [outcome for outcome in outcomes if outcome["status"] == "completed"]
    histories = asyncio.run(_histories(bench))
    ledger = tryon(data_dir, "ledger", "check").strip()
    right = len(completed) == wanted.items == bills["settle"] == len(set(jobs)) and "agree" in ledger
    figures = [
        Figure.of("customer alone", "s", alone),
        Figure.of("customer beside the backfill", "s", seen.beside, goal="close to alone"),
        Figure.of("events of a run", "", [float(events) for events in histories], goal="< 10000"),
        *(Figure.of(f"memory of {name}", "MB", values) for name, values in sorted(seen.megabytes.items())),
    ]
    growth = {name: _growth(values) for name, values in sorted(seen.megabytes.items())}
    more = {
        "items": wanted.items,
        "concurrency": wanted.concurrency,
        "seconds": round(seconds),
        "itemsPerMinute": round(60 * wanted.items / seconds, 1),
        "completed": len(completed),
        "pictures": len(list((data_dir.parent / "fetched").glob("*.jpg"))),
        "ledgerEntriesOfTheirJobs": dict(bills),
        "ledgerCheck": ledger,
        "runs": len(histories),
        "longestHistory": max(histories),
        "killedAfter": seen.killed,
        "largestWindow": seen.largest_window,
        "memoryLastThirdOverFirst": growth,
        "right": right,
    }
    return figures, more


def watch(bench: Bench, data_dir: Path, wanted: argparse.Namespace) -> Seen:
    """Look until the backfill has ended, send customers meanwhile, and kill what is to be killed."""
    seen, to_kill = Seen(), [] if wanted.no_kills else list(KILLED)
    first_kill, steps = 0.5, max(1, len(KILLED))
    while True:
        state = asyncio.run(_state(bench))
        if state is not None and state.state in ("completed", "cancelled"):
            return seen
        if state is not None:
            ended = state.completed + state.failed + state.skipped
            seen.largest_window = max(seen.largest_window, state.in_flight)
            _weigh(data_dir, seen)
            done = ended / wanted.items
            if to_kill and done >= first_kill + (len(KILLED) - len(to_kill)) * 0.4 / steps:
                seen.killed[to_kill[0]] = ended
                print(f"{ended} ended, killing {to_kill[0]}", flush=True)
                _kill(data_dir, to_kill.pop(0))
            elif done < first_kill and len(seen.beside) < wanted.customers:
                seen.beside.append(customer_seconds(bench.client))
        time.sleep(LOOK_SECONDS)


def _weigh(data_dir: Path, seen: Seen) -> None:
    record = StackRecord.read(data_dir)
    for name, identity in record.children.items() if record else ():
        process = identity.find()
        if process is not None:
            try:
                seen.megabytes[name].append(process.memory_info().rss / 1e6)
            except psutil.NoSuchProcess:
                continue


def _kill(data_dir: Path, name: str) -> None:
    record = StackRecord.read(data_dir)
    if record is not None:
        os.kill(record.children[name].pid, signal.SIGKILL)


async def _state(bench: Bench) -> BackfillState | None:
    """None while it cannot be asked: a part that was killed is not back yet."""
    try:
        temporal = await TemporalGateway.connect(bench.settings.temporal)
        return (await asyncio.wait_for(temporal.backfill_state(BACKFILL), 10))[0]
    except Exception as error:  # noqa: BLE001  # whatever it is, it is asked again
        print(f"no answer: {type(error).__name__}", flush=True)
        return None


async def _histories(bench: Bench) -> list[int]:
    temporal = await TemporalGateway.connect(bench.settings.temporal)
    return [run.events for run in await runs_of(temporal.client, BACKFILL)]


def _growth(values: list[float]) -> float:
    third = max(1, len(values) // 3)
    return round(statistics.median(values[-third:]) / statistics.median(values[:third]), 2)


def fetched(data_dir: Path, folder: Path) -> list[dict[str, Any]]:
    """The outcomes, with every picture downloaded."""
    tryon(data_dir, "backfill", "fetch", BACKFILL, str(folder))
    return [json.loads(line) for line in (folder / "outcomes.jsonl").read_text().splitlines()]


def tryon(data_dir: Path, *arguments: str) -> str:
    """Run a command as an operator would."""
    environment = {**without_tryon_variables(), "TRYON_DATA_DIR": str(data_dir)}
    command = [sys.executable, "-m", "cli.main", *arguments]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
