from __future__ import annotations

import asyncio
import uuid

import pytest
from temporalio.client import Client

from gateway.calls import RunNotFoundError
from gateway.temporal import Progress, TemporalGateway
from tests.workflows.conftest import RunningSteps
from tests.workflows.fakes import FakeSteps, tryon_input


async def test_a_run_tells_its_stage_and_what_is_under_way(temporal: Client, running: RunningSteps) -> None:
    gates = {name: asyncio.Event() for name in ("segment_person", "fetch_garment", "render")}
    entered = {name: asyncio.Event() for name in gates}

    async def wait_at_the_gate(name: str) -> None:
        if name in gates:
            entered[name].set()
            await gates[name].wait()

    job = tryon_input(uuid.uuid4().hex, garments=2)
    async with running(FakeSteps(wait_at_the_gate)) as runs, asyncio.timeout(60):
        handle = await runs.start(job)
        await asyncio.gather(entered["segment_person"].wait(), entered["fetch_garment"].wait())
        assert await TemporalGateway(temporal).progress_of_job(job.job_id) == Progress(
            "accepted", {"segment_person": 1, "fetch_garment": 2}
        )
        for name in ("segment_person", "fetch_garment"):
            gates[name].set()
        await entered["render"].wait()
        assert await TemporalGateway(temporal).progress_of_job(job.job_id) == Progress("rendering", {"render": 1})
        gates["render"].set()
        await handle.result()
    assert await TemporalGateway(temporal).progress_of_job(job.job_id) == Progress("completed", {})


async def test_a_run_that_waits_for_a_worker_has_been_accepted(idle_temporal: Client) -> None:
    job = tryon_input(uuid.uuid4().hex)
    await TemporalGateway(idle_temporal).start_tryon(job)
    assert await TemporalGateway(idle_temporal).progress_of_job(job.job_id) == Progress("accepted", {})


async def test_a_run_that_there_is_not_is_not_found(idle_temporal: Client) -> None:
    with pytest.raises(RunNotFoundError):
        await TemporalGateway(idle_temporal).progress_of_job(uuid.uuid4().hex)
