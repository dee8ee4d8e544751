"""Records the histories that `test_replay` replays: ``python -m tests.workflows.record_histories``.

Record a new set, under a new version, when a released workflow's commands change; never overwrite an old one.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from tests.servers.temporal import running_temporal
from tests.workflows.fakes import FakeSteps, tryon_input
from workflows.contracts import RehearsalScript
from workflows.queues import CPU_QUEUE, GPU_QUEUE
from workflows.start import start_tryon
from workflows.tryon import TryOnWorkflow

FOLDER = Path(__file__).parent / "histories"


async def refuse_the_person(step: str) -> None:
    if step == "segment_person":
        raise ApplicationError("nobody", type="person_not_found", non_retryable=True)


async def hang_in_render(step: str) -> None:
    if step == "render":
        await asyncio.sleep(30)


CASES: dict[str, tuple[Callable[[str], Awaitable[None]] | None, dict[str, Any]]] = {
    "single-completed": (None, {}),
    "combo-completed": (None, {"garments": 3, "deadline_seconds": 600}),
    "person-refused": (refuse_the_person, {"garments": 2, "deadline_seconds": 600}),
    "deadline-passed": (hang_in_render, {"deadline_seconds": 1}),
    "rehearsal-completed": (None, {"rehearsal": RehearsalScript(delay_seconds=1)}),
    "rehearsal-failed": (None, {"rehearsal": RehearsalScript(error_code="several_people")}),
}
"""Name to what the steps do, and what the job is."""


def without_machine(value: Any) -> Any:
    """The same history without stack traces, process ids and host names of the machine that recorded it."""
    if isinstance(value, dict):
        return {name: without_machine(item) for name, item in value.items() if name != "stackTrace"}
    if isinstance(value, list):
        return [without_machine(item) for item in value]
    return re.sub(r"\d+@[\w.-]+", "recorder", value) if isinstance(value, str) else value


async def record(version: str, *names: str) -> None:
    """Run the cases of these names, or all, and write their histories."""
    async with running_temporal() as client:
        for name, (before, fields) in CASES.items():
            if names and name not in names:
                continue
            fakes, job = FakeSteps(before), tryon_input(uuid.uuid4().hex, **fields)
            async with (
                Worker(client, task_queue=CPU_QUEUE, workflows=[TryOnWorkflow], activities=fakes.cpu_activities()),
                Worker(client, task_queue=GPU_QUEUE, activities=fakes.gpu_activities()),
            ):
                await start_tryon(client, job)
                handle = client.get_workflow_handle(f"tryon-{job.job_id}")
                await handle.result()
            history = await handle.fetch_history()
            text = json.dumps(without_machine(history.to_json_dict()), indent=1)
            (FOLDER / f"{version}-{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    asyncio.run(record(*sys.argv[1:]))
