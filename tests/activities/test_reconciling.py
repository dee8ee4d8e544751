from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment

from activities import reconciling as reconciling_module
from activities.reconciling import ReconcilingActivities
from domain import erasure
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError
from tests.activities.test_mail import written
from tests.factories import PLANS, Caller, create_caller, create_job, new_job
from tests.ledger_entries import entries_of_job
from tests.memory_store import MemoryObjectStore
from tests.workflows.fakes import tryon_input
from workflows.contracts import SweepInput
from workflows.queues import (
    BULK_PRIORITY,
    INTERACTIVE_PRIORITY,
    erasure_workflow_id,
    mail_workflow_id,
    tryon_workflow_id,
)

KEEP = timedelta(hours=1)


async def test_an_overdue_job_is_released_and_its_inputs_deleted(
    database: Database, digester: KeyDigester, idle_temporal: Client
) -> None:
    caller = await create_caller(database, digester)
    late = await create_job(database, caller, age=timedelta(minutes=6))
    open_job = await create_job(database, caller, age=timedelta(minutes=2))
    store = MemoryObjectStore()
    for job_id in (late, open_job):
        await store.put(f"jobs/{job_id}/input/0", b"", "image/png")
    reconciling = ReconcilingActivities(database, store, TemporalGateway(idle_temporal), KEEP)
    report = await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    assert report.released >= 1
    assert await store.list_keys("") == [f"jobs/{open_job}/input/0"]
    with database.reading() as session:
        assert jobs.get_job(session, job_id=late).error_code == "timed_out"
        assert entries_of_job(session, job_id=late) == ["reserve", "release"]
        assert jobs.get_job(session, job_id=open_job).status == "processing"


async def test_a_job_whose_run_was_terminated_is_released_before_its_deadline(
    database: Database, digester: KeyDigester, idle_temporal: Client
) -> None:
    job_id = await create_job(database, await create_caller(database, digester), age=timedelta(minutes=1))
    await TemporalGateway(idle_temporal).start_tryon(tryon_input(str(job_id)))
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), TemporalGateway(idle_temporal), KEEP)
    await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    with database.reading() as session:
        assert jobs.get_job(session, job_id=job_id).status == "processing"
    await idle_temporal.get_workflow_handle(tryon_workflow_id(str(job_id))).terminate("by hand")
    await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    with database.reading() as session:
        assert jobs.get_job(session, job_id=job_id).error_code == "cancelled"
        assert entries_of_job(session, job_id=job_id) == ["reserve", "release"]


async def test_an_overdue_job_is_cancelled_in_temporal(
    database: Database, digester: KeyDigester, idle_temporal: Client
) -> None:
    job_id = await create_job(database, await create_caller(database, digester), age=timedelta(minutes=6))
    await TemporalGateway(idle_temporal).start_tryon(tryon_input(str(job_id)))
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), TemporalGateway(idle_temporal), KEEP)
    await ActivityEnvironment().run(reconciling.reconcile, SweepInput())
    assert (await standing(database, job_id)) == "timed_out"
    history = await idle_temporal.get_workflow_handle(tryon_workflow_id(str(job_id))).fetch_history()
    assert any(event.HasField("workflow_execution_cancel_requested_event_attributes") for event in history.events)


class Runs:
    """Temporal, as far as the reconciler asks it: every run is open but those that are not, and who asked for what."""

    def __init__(
        self, closed: Sequence[uuid.UUID] = (), before: Callable[[str], Awaitable[None]] | None = None
    ) -> None:
        self.closed = {str(job_id) for job_id in closed}
        self.asked: list[str] = []
        self._before = before

    def get_workflow_handle(self, workflow_id: str) -> Any:
        job_id = workflow_id.removeprefix("tryon-")

        async def describe() -> Any:
            self.asked.append(job_id)
            if self._before is not None:
                await self._before(job_id)
            closed = job_id in self.closed
            return SimpleNamespace(
                status=WorkflowExecutionStatus.TERMINATED if closed else WorkflowExecutionStatus.RUNNING
            )

        async def cancel() -> None:
            return

        return SimpleNamespace(describe=describe, cancel=cancel)

    async def start_workflow(self, *_: Any, **__: Any) -> None:
        """Takes erasures that other tests on this database left open."""


async def create_jobs(database: Database, caller: Caller, count: int, priority: int, age: timedelta) -> list[uuid.UUID]:
    """Started jobs in progress, of a test key for they cost nothing, with hours to go."""
    made = []
    with database.transaction() as session:
        for _ in range(count):
            new = new_job(caller, timedelta(hours=9), workflow_input={"priority": priority}, test=True, relayed=False)
            job = jobs.accept_job(session, PLANS, new, now=datetime.now(UTC))
            job.created_at -= age
            made.append(job.id)
    return made


async def standing(database: Database, job_id: uuid.UUID) -> str | None:
    with database.reading() as session:
        return jobs.get_job(session, job_id=job_id).error_code


async def test_a_dead_job_is_found_behind_any_number_of_others(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    bulk = await create_jobs(database, caller, 700, BULK_PRIORITY, timedelta(hours=1))
    (waited_for,) = await create_jobs(database, caller, 1, INTERACTIVE_PRIORITY, timedelta(minutes=1))
    temporal: Any = Runs([waited_for, bulk[-1]])
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), TemporalGateway(temporal), KEEP)
    await ActivityEnvironment().run(reconciling.reconcile, SweepInput())
    assert [await standing(database, job_id) for job_id in (waited_for, bulk[-1], bulk[0])] == [
        "cancelled",
        "cancelled",
        None,
    ]
    assert len(temporal.asked) == len(set(temporal.asked)), "nobody was asked about twice"
    assert {str(job_id) for job_id in bulk} <= set(temporal.asked)
    place = temporal.asked.index(str(waited_for))
    assert place < min(temporal.asked.index(str(job_id)) for job_id in bulk), "what somebody waits for comes first"


async def test_where_a_round_cannot_see_all_jobs_they_are_seen_in_turn(
    database: Database, digester: KeyDigester, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = await create_caller(database, digester)
    bulk = {str(job_id) for job_id in await create_jobs(database, caller, 60, BULK_PRIORITY, timedelta(hours=1))}
    (waited_for,) = await create_jobs(database, caller, 1, INTERACTIVE_PRIORITY, timedelta(minutes=1))

    async def slowly(_job_id: str) -> None:
        await asyncio.sleep(0.02)

    monkeypatch.setattr(reconciling_module, "ROUND_SECONDS", 0.2)
    monkeypatch.setattr(reconciling_module, "AT_ONCE", 2)
    temporal: Any = Runs(before=slowly)
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), TemporalGateway(temporal), KEEP)
    rounds = 0
    while not bulk <= set(temporal.asked):
        seen = len(temporal.asked)
        await ActivityEnvironment().run(reconciling.reconcile, SweepInput())
        rounds += 1
        assert str(waited_for) in temporal.asked[seen:], "in every round"
        assert rounds < 500
    assert rounds > 1
    of_bulk = [job_id for job_id in temporal.asked if job_id in bulk]
    assert len(set(of_bulk[:60])) == 60, "none twice before all of them once"


async def test_a_job_past_its_deadline_is_ended_before_anybody_is_asked_about_others(
    database: Database, digester: KeyDigester, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = await create_caller(database, digester)
    await create_jobs(database, caller, 20, INTERACTIVE_PRIORITY, timedelta(minutes=1))
    (overdue,) = await create_jobs(database, caller, 1, BULK_PRIORITY, timedelta(hours=9))
    with database.transaction() as session:
        jobs.get_job(session, job_id=overdue).deadline_at = datetime.now(UTC) - jobs.OVERDUE_GRACE

    async def slowly(_job_id: str) -> None:
        await asyncio.sleep(0.2)

    monkeypatch.setattr(reconciling_module, "ROUND_SECONDS", 0.1)
    monkeypatch.setattr(reconciling_module, "AT_ONCE", 1)
    temporal: Any = Runs(before=slowly)
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), TemporalGateway(temporal), KEEP)
    await ActivityEnvironment().run(reconciling.reconcile, SweepInput())
    assert await standing(database, overdue) == "timed_out"


async def test_one_job_that_cannot_be_looked_at_holds_up_no_other(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    closed = await create_jobs(database, caller, 3, INTERACTIVE_PRIORITY, timedelta(minutes=1))

    async def refuse_the_second(job_id: str) -> None:
        if job_id == str(closed[1]):
            raise RPCError("try later", RPCStatusCode.RESOURCE_EXHAUSTED, b"")

    temporal: Any = Runs(closed, refuse_the_second)
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), TemporalGateway(temporal), KEEP)
    with pytest.raises(TemporalAwayError):  # the run shows it
        await ActivityEnvironment().run(reconciling.reconcile, SweepInput())
    assert [await standing(database, job_id) for job_id in closed] == ["cancelled", None, "cancelled"]


class AwayStore(MemoryObjectStore):
    """Refuses, or does not answer."""

    def __init__(self, answers: bool) -> None:
        super().__init__()
        self._answers = answers
        self.asked = 0

    async def delete_prefix(self, prefix: str) -> int:
        self.asked += 1
        if not self._answers:
            await asyncio.sleep(60)
        raise ObjectStoreUnavailableError("connection refused")


@pytest.mark.parametrize("answers", [True, False], ids=["refuses", "hangs"])
async def test_a_store_that_is_away_holds_up_neither_jobs_nor_mail_nor_erasures(
    database: Database,
    digester: KeyDigester,
    idle_temporal: Client,
    monkeypatch: pytest.MonkeyPatch,
    answers: bool,
) -> None:
    monkeypatch.setattr(reconciling_module, "DELETING_SECONDS", 0.2)
    caller, erased = await create_caller(database, digester), await create_caller(database, digester)
    late = [await create_job(database, caller, age=timedelta(minutes=6)) for _ in range(20)]
    long_ago = datetime.now(UTC) - timedelta(minutes=2)
    await database.write(erasure.begin_erasure, account_id=erased.account_id, now=long_ago)
    mail_id = await written(database, age=timedelta(minutes=2))
    store = AwayStore(answers)
    reconciling = ReconcilingActivities(database, store, TemporalGateway(idle_temporal), KEEP, sends_mail=True)
    report = await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    assert report.released >= len(late)
    assert {await standing(database, job_id) for job_id in late} == {"timed_out"}
    assert store.asked == 1, "the rest is the purge's"
    for workflow_id in (erasure_workflow_id(str(erased.account_id)), mail_workflow_id(str(mail_id))):
        await idle_temporal.get_workflow_handle(workflow_id).describe()  # it was started
        await idle_temporal.get_workflow_handle(workflow_id).terminate()


async def test_an_erasure_that_cannot_be_started_holds_up_no_release(
    database: Database, digester: KeyDigester, idle_temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = await create_job(database, await create_caller(database, digester), age=timedelta(minutes=6))
    erased = await create_caller(database, digester)
    with database.transaction() as session:
        began = datetime.now(UTC) - timedelta(minutes=2)
        erasure.begin_erasure(session, account_id=erased.account_id, now=began)

    async def refused(*_: object) -> None:
        raise TemporalAwayError("too many requests")

    monkeypatch.setattr(TemporalGateway, "erase_account", refused)
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), TemporalGateway(idle_temporal), KEEP)
    with pytest.raises(TemporalAwayError):
        await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    with database.reading() as session:
        assert jobs.get_job(session, job_id=late).error_code == "timed_out"
        assert entries_of_job(session, job_id=late) == ["reserve", "release"]
