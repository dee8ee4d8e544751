"""How long a backfill takes to be planned, and what that takes of the worker's memory and of Temporal's history."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from bench.backfill.scene import write_items
from bench.growth.curve import Point
from bench.service.usual import OWNER, Bench, running
from gateway.temporal import TemporalGateway
from workflows import steps

SIZES = (1_000, 10_000, 100_000)
LONGEST_SECONDS = 600.0


def measure(folder: Path, sizes: tuple[int, ...] = SIZES) -> Iterator[Point]:
    """Every point, in a stack of its own: each backfill is stopped once it is planned."""
    with running(folder / "stack", generations=sum(sizes)) as bench:
        for size in sizes:
            file, name = write_items(folder / str(size), size), f"growth-{size}"
            began = time.monotonic()
            bench.tryon("backfill", "start", str(file), "--account", OWNER, "--id", name)
            yield Point("checked and uploaded by the command line", size, time.monotonic() - began, "s")
            planned, history = asyncio.run(_planned(bench, name))
            bench.tryon("backfill", "cancel", name)
            yield Point("planned by the worker", size, planned, "s")
            yield Point("largest memory of the worker", size, _largest_megabytes(bench), "MB")
            yield Point("history once it is planned", size, history / 1000, "KB")


async def _planned(bench: Bench, name: str) -> tuple[float, int]:
    """Seconds that planning took, and bytes of history at its end."""
    temporal = await TemporalGateway.connect(bench.settings.temporal)
    run = temporal.client.get_workflow_handle(name)
    until = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < until:
        scheduled, size = {}, 0
        async for event in run.fetch_history_events():
            size += event.ByteSize()
            if event.activity_task_scheduled_event_attributes.activity_type.name == steps.PLAN_BACKFILL.name:
                scheduled[event.event_id] = event.event_time.ToDatetime()
            began = scheduled.get(event.activity_task_completed_event_attributes.scheduled_event_id)
            if began is not None:
                return (event.event_time.ToDatetime() - began).total_seconds(), size
        await asyncio.sleep(0.5)
    raise TimeoutError(name)


def _largest_megabytes(bench: Bench) -> float:
    status = Path(f"/proc/{bench.record.children['worker-cpu'].pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024
