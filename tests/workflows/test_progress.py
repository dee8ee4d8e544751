from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

import pytest
from temporalio import activity
from temporalio.client import Client

from gateway.calls import RunNotFoundError
from gateway.temporal import Progress, TemporalGateway
from runtime.object_store import ObjectStoreUnavailableError
from tests.workflows.conftest import RunningSteps
from tests.workflows.fakes import FakeSteps, tryon_input
from workflows.contracts import Drawing
from workflows.queues import tryon_workflow_id


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
    assert await TemporalGateway(temporal).progress_of_job(job.job_id) == Progress(
        "completed", {}, end="generation_failed"
    )


async def test_a_run_tells_that_it_waits_for_what_is_away(
    temporal: Client, running: RunningSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.failures.AWAY_PAUSE", timedelta(seconds=2))
    refused = iter([ObjectStoreUnavailableError("refused")])

    async def before(name: str) -> None:
        if name == "render":
            for error in refused:
                raise error

    job, gateway = tryon_input(uuid.uuid4().hex), TemporalGateway(temporal)
    async with running(FakeSteps(before)) as runs, asyncio.timeout(60):
        handle = await runs.start(job)
        while not (progress := await gateway.progress_of_job(job.job_id)).waits:
            assert progress.end is None
        assert progress == Progress("rendering", {}, waits=True)
        assert (await handle.result()).status == "completed"


class DrawingSteps(FakeSteps):
    """Tells how far the network is."""

    told: tuple[object, ...] = ()

    async def _beat(self) -> None:  # type: ignore[override]
        while True:
            activity.heartbeat(*self.told)
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("told", "drawing"),
    [
        (("denoise: step 7 of 20", Drawing(step=7, steps=20, seconds_left=360)), True),
        (("denoise",), False),
        (("a release to come", {"tells": "more"}), False),
    ],
)
async def test_a_run_tells_how_far_the_drawing_is(
    temporal: Client, running: RunningSteps, told: tuple[object, ...], *, drawing: bool
) -> None:
    entered, gate = asyncio.Event(), asyncio.Event()

    async def wait_at_the_gate(name: str) -> None:
        if name == "render":
            entered.set()
            await gate.wait()

    job, steps = tryon_input(uuid.uuid4().hex), DrawingSteps(wait_at_the_gate)
    steps.told = told
    async with running(steps) as runs, asyncio.timeout(60):
        handle = await runs.start(job)
        await entered.wait()
        await until_heard(temporal, job.job_id)
        progress = await TemporalGateway(temporal).progress_of_job(job.job_id)
        assert progress.drawing == (Drawing(step=7, steps=20, seconds_left=360) if drawing else None)
        gate.set()
        await handle.result()


async def until_heard(temporal: Client, job_id: str) -> None:
    """Wait until Temporal has had a heartbeat with details of the drawing."""
    run = temporal.get_workflow_handle(tryon_workflow_id(job_id))
    while not any(
        step.heartbeat_details.payloads for step in (await run.describe()).raw_description.pending_activities
    ):
        await asyncio.sleep(0.02)


async def test_a_run_that_waits_for_a_worker_has_been_accepted(idle_temporal: Client) -> None:
    job = tryon_input(uuid.uuid4().hex)
    await TemporalGateway(idle_temporal).start_tryon(job)
    assert await TemporalGateway(idle_temporal).progress_of_job(job.job_id) == Progress("accepted", {})


async def test_a_run_that_there_is_not_is_not_found(idle_temporal: Client) -> None:
    with pytest.raises(RunNotFoundError):
        await TemporalGateway(idle_temporal).progress_of_job(uuid.uuid4().hex)
