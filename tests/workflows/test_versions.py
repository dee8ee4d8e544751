"""Builds of workers side by side on a real server: who gets what, and who is told that it gets nothing."""

from __future__ import annotations

import ast
import asyncio
import inspect
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from textwrap import dedent

import pytest
from structlog.testing import capture_logs
from temporalio import workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.common import VersioningBehavior

from activities.device import Device
from activities.inference import InferenceActivities
from gateway.queues import version_of, watch_routing
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.settings import DatabaseSettings, Settings
from tests.activities.engines import FakeEngine, only
from tests.memory_store import MemoryObjectStore
from tests.workflows.builds import Operator, build, operated_temporal, worker_of
from tests.workflows.fakes import FakeSteps, tryon_input
from tests.workflows.recording.cases import released
from worker_cpu.main import WORKFLOWS
from worker_cpu.main import build_worker as build_cpu_worker
from worker_gpu.main import build_workers as build_gpu_workers
from workflows.contracts import TryOnOutcome
from workflows.queues import CPU_QUEUE
from workflows.tryon import TryOnWorkflow

Run = WorkflowHandle[TryOnWorkflow, TryOnOutcome]


@pytest.fixture
async def operator() -> AsyncIterator[Operator]:
    async with operated_temporal() as operator:
        yield operator


async def start(client: Client) -> Run:
    job = tryon_input(uuid.uuid4().hex)
    await TemporalGateway(client).start_tryon(job)
    return client.get_workflow_handle_for(TryOnWorkflow.run, f"tryon-{job.job_id}")


async def finish(run: Run) -> None:
    assert (await asyncio.wait_for(run.result(), 20)).status == "completed"


class Gate:
    """Holds whoever comes to a step until it is opened."""

    def __init__(self, step: str) -> None:
        self._step = step
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, step: str) -> None:
        if step == self._step:
            self.reached.set()
            await self.opened.wait()


async def test_a_run_ends_on_the_build_on_which_it_began_and_new_ones_go_to_the_new(operator: Operator) -> None:
    gate = Gate("watermark")
    old, new, gpu = FakeSteps(gate), FakeSteps(), FakeSteps()
    client = operator.client
    async with worker_of(client, "gpu", None, gpu), worker_of(client, "cpu", "new", new):
        async with worker_of(client, "cpu", "old", old):
            await operator.set_current("cpu", "old")
            began_before = await start(client)
            await gate.reached.wait()
            await operator.set_current("cpu", "new")
            await finish(await start(client))
            assert "settle" in new.names
            assert "settle" not in old.names
            assert await operator.drainage_of("cpu", "old") == "draining"
            gate.opened.set()
            await finish(began_before)
            assert old.names.count("settle") == new.names.count("settle") == 1
            await operator.set_current("cpu", "old")
            await finish(await start(client))
            assert old.names.count("settle") == 2
            await operator.set_current("cpu", "new")
        async with asyncio.timeout(30):
            while await operator.drainage_of("cpu", "old") != "drained":
                await asyncio.sleep(0.2)


async def test_a_ramp_gives_a_build_its_share(operator: Operator) -> None:
    old, new, client = FakeSteps(), FakeSteps(), operator.client
    async with (
        worker_of(client, "gpu", None, FakeSteps()),
        worker_of(client, "cpu", "old", old),
        worker_of(client, "cpu", "new", new),
    ):
        await operator.set_current("cpu", "old")
        ramp = ("set-ramping-version", "--deployment-name", "tryon-cpu", "--build-id", "new", "--yes")
        await operator.until_done(*ramp, "--percentage", "100")
        await operator.until_routed("cpu", "new")
        await finish(await start(client))
        assert (old.names, "settle" in new.names) == ([], True)
        await operator.until_done(*ramp, "--delete")
        await operator.until_routed("cpu", "old")
        await finish(await start(client))
        assert "settle" in old.names


async def _until(happened: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not happened():
            await asyncio.sleep(0.05)


async def test_nothing_runs_until_a_build_is_current_and_the_worker_says_so(operator: Operator) -> None:
    cpu, gpu, client = FakeSteps(), FakeSteps(), operator.client
    async with AsyncExitStack() as stack:
        logs = stack.enter_context(capture_logs())
        await stack.enter_async_context(worker_of(client, "gpu", "1.0", gpu))
        await stack.enter_async_context(worker_of(client, "cpu", "1.0", cpu))
        watching = asyncio.create_task(
            watch_routing(client, CPU_QUEUE, "workflow", build("cpu", "1.0"), every_seconds=0.05)
        )
        stack.callback(watching.cancel)
        run = await start(client)
        await operator.until_a_task_waits(CPU_QUEUE)
        await _until(lambda: logs)
        assert cpu.names == gpu.names == []
        assert [line["log_level"] for line in logs] == ["warning"]
        assert logs[0]["remedy"].endswith("set-current-version --deployment-name tryon-cpu --build-id 1.0")
        await operator.set_current("cpu", "1.0")
        await operator.set_current("gpu", "1.0")
        await finish(run)
        await _until(lambda: len(logs) > 1)
        assert (logs[1]["log_level"], logs[1]["event"]) == ("info", "this build gets new work")


async def test_a_render_goes_to_the_gpu_build_that_is_current_when_it_is_due(operator: Operator) -> None:
    gate = Gate("segment_person")
    old, new, client = FakeSteps(gate), FakeSteps(), operator.client
    async with worker_of(client, "cpu", "1", FakeSteps()):
        await operator.set_current("cpu", "1")
        async with worker_of(client, "gpu", "old", old):
            await operator.set_current("gpu", "old")
            run = await start(client)
            await gate.reached.wait()
            async with worker_of(client, "gpu", "new", new):
                await operator.set_current("gpu", "new")
                gate.opened.set()
                await finish(run)
                assert (old.names, new.names) == (["segment_person"], ["render"])
        # Both are gone: what waits for them goes to whichever is made current next.
        waiting = await start(client)
        newest = FakeSteps()
        async with worker_of(client, "gpu", "newest", newest):
            await operator.set_current("gpu", "newest")
            await finish(waiting)
        assert sorted(newest.names) == ["render", "segment_person"]


async def test_versioning_can_be_switched_on_and_off_with_runs_open(operator: Operator) -> None:
    gate, back = Gate("segment_person"), Gate("segment_person")
    plain, versioned, client = FakeSteps(), FakeSteps(), operator.client
    gpu = FakeSteps(gate)
    async with worker_of(client, "gpu", None, gpu):
        async with worker_of(client, "cpu", None, plain):
            began_before = await start(client)
            await gate.reached.wait()
            async with worker_of(client, "cpu", "1", versioned):
                await operator.set_current("cpu", "1")
                with capture_logs() as logs:
                    watching = asyncio.create_task(
                        watch_routing(client, CPU_QUEUE, "workflow", None, every_seconds=0.05)
                    )
                    async with asyncio.timeout(10):
                        while not logs:
                            await asyncio.sleep(0.05)
                    watching.cancel()
                assert logs[0]["log_level"] == "warning"
                assert logs[0]["current"] == "tryon-cpu.1"
                gate.opened.set()
                await finish(began_before)
                assert "settle" in versioned.names
                assert "settle" not in plain.names
                gpu._before = back
                pinned = await start(client)
                await back.reached.wait()
                await operator.set_current("cpu", None)
                back.opened.set()
                await finish(pinned)
                await finish(await start(client))
        assert versioned.names.count("settle") == 2
        assert plain.names.count("settle") == 1


@workflow.defn(name="LongWorkflow", sandboxed=False)
class LongWorkflow:
    """Goes on as new when told to, like anything that runs for days."""

    def __init__(self) -> None:
        self._go_on = False

    @workflow.run
    async def run(self, builds: list[str]) -> list[str]:
        version = workflow.info().get_current_deployment_version()
        builds = [*builds, version.build_id if version else ""]
        if len(builds) < 2:
            await workflow.wait_condition(lambda: self._go_on)
            workflow.continue_as_new(
                builds, initial_versioning_behavior=workflow.ContinueAsNewVersioningBehavior.AUTO_UPGRADE
            )
        return builds

    @workflow.signal
    def go_on(self) -> None:
        self._go_on = True


@pytest.mark.parametrize("versioned", [True, False])
async def test_a_long_run_changes_builds_where_it_continues_as_new(operator: Operator, versioned: bool) -> None:
    client = operator.client
    async with AsyncExitStack() as stack:
        for build_id in ("old", "new") if versioned else (None,):
            await stack.enter_async_context(worker_of(client, "cpu", build_id, FakeSteps(), LongWorkflow))
        if versioned:
            await operator.set_current("cpu", "old")
        run = await client.start_workflow(LongWorkflow.run, [], id="long", task_queue=CPU_QUEUE)
        async with asyncio.timeout(20):
            while "WORKFLOW_TASK_COMPLETED" not in str((await run.fetch_history()).to_json()):
                await asyncio.sleep(0.05)
        if versioned:
            await operator.set_current("cpu", "new")
        await run.signal(LongWorkflow.go_on)
        builds = await asyncio.wait_for(run.result(), 20)
    assert builds == ["old", "new"] if versioned else len(builds) == 2


def test_no_workflow_says_its_own_behaviour() -> None:
    """A worker that is not versioned could not run it: the server refuses its tasks."""
    for registered in WORKFLOWS:
        definition = workflow._Definition.must_from_class(registered)
        assert definition.versioning_behavior == VersioningBehavior.UNSPECIFIED, definition.name


@pytest.mark.parametrize("build_id", [None, "", "1.0"])
async def test_the_workers_are_of_the_build_that_the_settings_say(
    temporal: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, build_id: str | None
) -> None:
    if build_id is not None:
        monkeypatch.setenv("TRYON_TEMPORAL_BUILD_ID", build_id)
    settings = Settings()
    # A client remembers every worker that was made with it.
    client = await Client.connect(temporal.service_client.config.target_host)
    database = Database(DatabaseSettings(url=f"sqlite:///{tmp_path}/none.db"))
    store, fetcher, device, engine = MemoryObjectStore(), RemoteImageFetcher(max_bytes=1), Device(), FakeEngine()
    cpu = build_cpu_worker(TemporalGateway(client), database, store, fetcher, settings)
    inference = InferenceActivities(store, engine, only(engine), device, lambda: None, decoders=DecoderPool())
    gpu = build_gpu_workers(client, inference, 1, version_of(settings.temporal, "gpu"))
    for part, worker in (("cpu", cpu), *(("gpu", worker) for worker in gpu)):
        config = worker.config()["deployment_config"]
        assert (config and config.version.to_canonical_string()) == (f"tryon-{part}.1.0" if build_id else None)
    device.close()
    await fetcher.close()
    database.close()


def silent_about_builds(source: str) -> list[int]:
    """Lines that continue a run as new without saying on which build."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "workflow.continue_as_new"
        and "initial_versioning_behavior" not in {keyword.arg for keyword in node.keywords}
    ]


@pytest.mark.parametrize("name", released())
def test_what_runs_for_days_changes_builds_where_it_continues_as_new(name: str) -> None:
    """Otherwise the build on which it began is needed until it ends."""
    lines = silent_about_builds(dedent(inspect.getsource(released()[name])))
    assert lines == [], "give continue_as_new initial_versioning_behavior=AUTO_UPGRADE: docs/versions.md"


def test_a_run_that_would_stay_is_noticed() -> None:
    assert silent_about_builds("workflow.continue_as_new(1)") == [1]
    assert silent_about_builds("workflow.continue_as_new(1, initial_versioning_behavior=AUTO_UPGRADE)") == []
