from __future__ import annotations

import uuid
from datetime import timedelta

from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.sweeping import SweepingActivities
from domain import jobs, ledger
from domain.keys import KeyDigester
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
    sweeping = SweepingActivities(database, store, idle_temporal, KEEP)
    report = await ActivityEnvironment().run(sweeping.reconcile, SweepInput(limit=10_000))
    assert report.released >= 1
    assert await store.list_keys("") == [f"jobs/{open_job}/input/0"]
    async with database.reading() as session:
        assert (await jobs.get_job(session, job_id=late)).error_code == "timed_out"
        assert await ledger.entries_of_job(session, job_id=late) == ["reserve", "release"]
        assert (await jobs.get_job(session, job_id=open_job)).status == "processing"


async def test_expired_pictures_are_deleted_and_others_kept(
    database: Database, digester: KeyDigester, idle_temporal: Client
) -> None:
    caller = await create_caller(database, digester)
    store = MemoryObjectStore()
    kept, expired = [await create_job(database, caller) for _ in range(2)]
    for job_id, keep in ((kept, KEEP), (expired, timedelta(seconds=-1))):
        await store.put(f"results/{job_id}.jpg", b"", "image/jpeg")
        async with database.transaction() as session:
            await jobs.complete_job(
                session, job_id=job_id, result_key=f"results/{job_id}.jpg", engine="warp", report={}, keep=keep
            )
    await ActivityEnvironment().run(
        SweepingActivities(database, store, idle_temporal, KEEP).purge, SweepInput(limit=10_000)
    )
    assert await store.list_keys("") == [f"results/{kept}.jpg"]
    async with database.reading() as session:
        assert (await jobs.get_job(session, job_id=expired)).result_key is None
        assert (await jobs.get_job(session, job_id=expired)).status == "completed"


async def test_a_job_whose_run_was_terminated_is_released_before_its_deadline(
    database: Database, digester: KeyDigester, idle_temporal: Client
) -> None:
    job_id = await create_job(database, await create_caller(database, digester), age=timedelta(minutes=1))
    await start_tryon(idle_temporal, tryon_input(str(job_id)))
    sweeping = SweepingActivities(database, MemoryObjectStore(), idle_temporal, KEEP)
    await ActivityEnvironment().run(sweeping.reconcile, SweepInput(limit=10_000))
    async with database.reading() as session:
        assert (await jobs.get_job(session, job_id=job_id)).status == "processing"
    await idle_temporal.get_workflow_handle(tryon_workflow_id(str(job_id))).terminate("by hand")
    await ActivityEnvironment().run(sweeping.reconcile, SweepInput(limit=10_000))
    async with database.reading() as session:
        assert (await jobs.get_job(session, job_id=job_id)).error_code == "cancelled"
        assert await ledger.entries_of_job(session, job_id=job_id) == ["reserve", "release"]


async def test_what_the_clean_up_of_an_ended_job_missed_is_deleted(
    database: Database, digester: KeyDigester, idle_temporal: Client
) -> None:
    caller = await create_caller(database, digester)
    ended, running, unknown = await create_job(database, caller), await create_job(database, caller), uuid.uuid4()
    async with database.transaction() as session:
        await jobs.fail_job(session, job_id=ended, error_code="timed_out", keep=KEEP)
    store = MemoryObjectStore()
    for job_id in (ended, running, unknown, "no-id-at-all"):
        await store.put(f"jobs/{job_id}/work/rendered.png", b"", "image/png")
    sweeping = SweepingActivities(database, store, idle_temporal, KEEP)
    await ActivityEnvironment().run(sweeping.purge, SweepInput(limit=10_000))
    left = {key.split("/")[1] for key in await store.list_keys("jobs/")}
    assert left == {str(running), str(unknown), "no-id-at-all"}
