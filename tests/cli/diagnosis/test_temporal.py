"""Temporal's state on the real server, in a namespace of each test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from temporalio import activity, workflow
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import UpdateNamespaceRequest
from temporalio.client import Client, ScheduleUpdate
from temporalio.worker import Worker

from cli.diagnosis import temporal
from cli.diagnosis.findings import Case, Finding
from gateway.queues import QUEUES, QueueState, Routing
from gateway.schedules import SCHEDULES
from gateway.temporal import TemporalGateway
from runtime.settings import Settings
from tests.cli.diagnosis.conftest import findings_of, levels_of, the
from workflows.contracts import SweepInput, SweepReport
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE, SEARCH_ATTRIBUTES, WEBHOOK_QUEUE

KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
RECONCILE = SCHEDULES[0]


@workflow.defn(name="ReconcileWorkflow", sandboxed=False)
class Sweep:
    """Stands for a scheduled workflow."""

    @workflow.run
    async def run(self, sweep: SweepInput) -> SweepReport:
        return SweepReport()


@activity.defn
async def nothing() -> None:
    pass


async def register(client: Client, **kinds: IndexedValueType.ValueType) -> None:
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds)
    )


@asynccontextmanager
async def working(client: Client) -> AsyncIterator[None]:
    async with (
        Worker(client, task_queue=CPU_QUEUE, workflows=[Sweep], activities=[nothing]),
        Worker(client, task_queue=GPU_QUEUE, activities=[nothing]),
        Worker(client, task_queue=GPU_BULK_QUEUE, activities=[nothing]),
        Worker(client, task_queue=WEBHOOK_QUEUE, activities=[nothing]),
    ):
        yield


async def eventually(ask: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await ask():
            await asyncio.sleep(0.05)


async def test_no_server(case: Case) -> None:
    findings = await findings_of(temporal.look, case)
    assert "operator cluster health" in (the(findings, "temporal", "error").remedy or "")
    assert [finding.subject for finding in findings if finding.level == "skipped"] == [
        "namespace", "search attributes", "runs", "schedules", "queues"
    ]  # fmt: skip


async def test_all_is_well(case: Case, namespace: Client) -> None:
    await register(namespace, **{key.name: KEYWORD for key in SEARCH_ATTRIBUTES})
    await TemporalGateway(namespace).schedules.ensure()

    async def well() -> bool:  # what is registered is known a moment later
        return set((await levels_of(temporal.look, case)).values()) == {"ok"}

    async with working(namespace):
        await eventually(well)
    sentences = [finding.sentence for finding in await findings_of(temporal.look, case)]
    assert sum("1 poller, the last one" in sentence for sentence in sentences) == 5


async def test_a_namespace_that_is_not_there(case: Case, settings: Settings, namespace: Client) -> None:
    settings.temporal = settings.temporal.model_copy(update={"namespace": "nobody-made-it"})
    findings = await findings_of(temporal.look, case)
    remedy = the(findings, "namespace", "error").remedy or ""
    assert remedy.startswith("temporal operator namespace create")
    assert the(findings, "queues", "skipped")


async def test_runs_that_are_forgotten_soon(case: Case, namespace: Client) -> None:
    request = UpdateNamespaceRequest(namespace=namespace.namespace)
    request.config.workflow_execution_retention_ttl.FromSeconds(3600)
    await namespace.workflow_service.update_namespace(request)
    assert "--retention 72h" in (the(await findings_of(temporal.look, case), "namespace", "warning").remedy or "")


async def test_search_attributes_that_are_missing_or_of_another_type(case: Case, namespace: Client) -> None:
    missing = the(await findings_of(temporal.look, case), "search attributes", "error")
    assert all(f"--name {key.name} --type Keyword" in (missing.remedy or "") for key in SEARCH_ATTRIBUTES)
    first, *others = (key.name for key in SEARCH_ATTRIBUTES)
    integer = IndexedValueType.INDEXED_VALUE_TYPE_INT
    await register(namespace, **{first: integer}, **dict.fromkeys(others, KEYWORD))

    async def wrong() -> bool:
        found = the(await findings_of(temporal.look, case), "search attributes", "error")
        return found.sentence.startswith(f"not of the type Keyword: {first}")

    await eventually(wrong)


async def of_reconcile(client: Client, settings: Settings) -> Finding:
    return await temporal.judged_schedule(TemporalGateway(client), RECONCILE, settings.temporal)


async def test_schedules_that_are_missing_paused_or_of_another_version(settings: Settings, namespace: Client) -> None:
    found = await of_reconcile(namespace, settings)
    assert (found.level, "worker_cpu" in (found.remedy or "")) == ("error", True)
    await TemporalGateway(namespace).schedules.ensure()
    assert (await of_reconcile(namespace, settings)).level == "ok"
    handle = namespace.get_schedule_handle(RECONCILE.name)
    await handle.pause(note="moving house")
    paused = await of_reconcile(namespace, settings)
    assert (paused.level, "moving house" in paused.sentence) == ("warning", True)
    assert "--unpause" in (paused.remedy or "")
    await handle.unpause()
    older = RECONCILE.schedule()
    older.spec.intervals[0].every = timedelta(hours=2)
    await handle.update(lambda _: ScheduleUpdate(older))
    assert "not as this version" in (await of_reconcile(namespace, settings)).sentence


async def test_a_schedule_whose_last_run_failed_or_is_long_ago(
    settings: Settings, namespace: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await TemporalGateway(namespace).schedules.ensure()
    await namespace.get_schedule_handle(RECONCILE.name).trigger()

    async def says(word: str) -> bool:
        return word in (await of_reconcile(namespace, settings)).sentence

    await eventually(lambda: says("running"))
    async for run in namespace.list_workflows("WorkflowType = 'ReconcileWorkflow'"):
        await namespace.get_workflow_handle(run.id).terminate()
    await eventually(lambda: says("terminated"))
    assert (await of_reconcile(namespace, settings)).level == "warning"
    async with working(namespace):
        await namespace.get_schedule_handle(RECONCILE.name).trigger()
        await eventually(lambda: says("completed"))
    assert (await of_reconcile(namespace, settings)).level == "ok"
    monkeypatch.setattr(temporal, "LATE_AFTER_ROUNDS", 0)
    late = await of_reconcile(namespace, settings)
    assert (late.level, "schedule trigger" in (late.remedy or "")) == ("error", True)


async def test_nobody_polls(case: Case, namespace: Client) -> None:
    await namespace.start_workflow("ReconcileWorkflow", id="waiting", task_queue=CPU_QUEUE)

    async def found() -> list[Finding]:
        return [finding for finding in await findings_of(temporal.look, case) if finding.subject == "queues"]

    async def counted() -> bool:
        return "1 task waiting" in (await found())[0].sentence

    await eventually(counted)
    assert [(finding.level, (finding.remedy or "")[-10:]) for finding in await found()] == [
        ("error", "r_cpu.main"), ("error", "r_cpu.main"), ("error", "r_gpu.main"), ("warning", "r_gpu.main"),
        ("warning", "r_cpu.main"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("queue", "seconds_ago", "waiting", "waited", "level"),
    [
        (GPU_QUEUE, 5, 0, 0, "ok"),
        (GPU_QUEUE, 70, 0, 0, "ok"),
        (GPU_QUEUE, 100, 0, 0, "warning"),
        (GPU_QUEUE, 5, 3, 10, "ok"),
        (GPU_QUEUE, 5, 3, 90, "warning"),
        # A backfill takes as long as it takes, and holds every place while it does.
        (GPU_BULK_QUEUE, 5, 3000, 9000, "ok"),
        (GPU_BULK_QUEUE, 100, 3000, 9000, "warning"),
        (GPU_BULK_QUEUE, 100, 0, 0, "warning"),
    ],
)
def test_pollers_that_are_silent_and_tasks_that_wait(
    queue: str, seconds_ago: float, waiting: int, waited: float, level: str
) -> None:
    now = datetime.now(UTC)
    polled_at = now - timedelta(seconds=seconds_ago)
    state = QueueState(queue, "activity", ("1@here",), polled_at, waiting, waited, Routing(None))
    assert temporal.judged_queue(state, now).level == level


def test_every_queue_that_is_counted_is_looked_at() -> None:
    assert {queue for queue, _ in QUEUES} == {CPU_QUEUE, GPU_QUEUE, GPU_BULK_QUEUE, WEBHOOK_QUEUE}
    assert temporal.QUEUES is QUEUES
    assert set(temporal.WORKERS) == {queue for queue, _ in QUEUES}
