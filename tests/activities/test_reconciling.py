from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment

from activities import reconciling as reconciling_module
from activities.reconciling import ReconcilingActivities
from domain import erasure
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.money import ledger
from runtime.database import Database
from runtime.object_store import MemoryObjectStore
from tests.factories import create_caller, create_job
from tests.workflows.fakes import tryon_input
from workflows.contracts import SweepInput
from workflows.queues import tryon_workflow_id
from workflows.start import start_tryon

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
    reconciling = ReconcilingActivities(database, store, idle_temporal, KEEP)
    report = await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    assert report.released >= 1
    assert await store.list_keys("") == [f"jobs/{open_job}/input/0"]
    async with database.reading() as session:
        assert (await jobs.get_job(session, job_id=late)).error_code == "timed_out"
        assert await ledger.entries_of_job(session, job_id=late) == ["reserve", "release"]
        assert (await jobs.get_job(session, job_id=open_job)).status == "processing"


async def test_a_job_whose_run_was_terminated_is_released_before_its_deadline(
    database: Database, digester: KeyDigester, idle_temporal: Client
) -> None:
    job_id = await create_job(database, await create_caller(database, digester), age=timedelta(minutes=1))
    await start_tryon(idle_temporal, tryon_input(str(job_id)))
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), idle_temporal, KEEP)
    await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    async with database.reading() as session:
        assert (await jobs.get_job(session, job_id=job_id)).status == "processing"
    await idle_temporal.get_workflow_handle(tryon_workflow_id(str(job_id))).terminate("by hand")
    await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    async with database.reading() as session:
        assert (await jobs.get_job(session, job_id=job_id)).error_code == "cancelled"
        assert await ledger.entries_of_job(session, job_id=job_id) == ["reserve", "release"]


async def test_an_erasure_that_cannot_be_started_holds_up_no_release(
    database: Database, digester: KeyDigester, idle_temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = await create_job(database, await create_caller(database, digester), age=timedelta(minutes=6))
    erased = await create_caller(database, digester)
    async with database.transaction() as session:
        began = datetime.now(UTC) - timedelta(minutes=2)
        await erasure.begin_erasure(session, account_id=erased.account_id, now=began)

    async def refused(*_: object) -> None:
        raise RPCError("too many requests", RPCStatusCode.RESOURCE_EXHAUSTED, b"")

    monkeypatch.setattr(reconciling_module, "start_erasure", refused)
    reconciling = ReconcilingActivities(database, MemoryObjectStore(), idle_temporal, KEEP)
    with pytest.raises(RPCError):
        await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    async with database.reading() as session:
        assert (await jobs.get_job(session, job_id=late)).error_code == "timed_out"
        assert await ledger.entries_of_job(session, job_id=late) == ["reserve", "release"]
