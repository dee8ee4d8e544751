from __future__ import annotations

import uuid
from datetime import timedelta

from temporalio.testing import ActivityEnvironment

from activities.bookkeeping import BookkeepingActivities
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from runtime.database import Database
from tests.factories import create_caller, create_job
from tests.ledger_entries import entries_of_job
from tests.memory_store import MemoryObjectStore
from workflows.contracts import CleanUpInput, ObjectRef, ReleaseInput, RenderReport, SettleInput, TryOnOutcome

KEEP = timedelta(hours=1)


def settle_input(job_id: uuid.UUID) -> SettleInput:
    result = ObjectRef.of("tryon", f"results/{job_id}.jpg", b"jpeg", "image/jpeg")
    return SettleInput(job_id=str(job_id), result=result, report=RenderReport(engine="warp", checks={"cover": 0.5}))


async def test_settling_twice_bills_once(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    steps = BookkeepingActivities(database, MemoryObjectStore(), KEEP)
    first = await ActivityEnvironment().run(steps.settle, settle_input(job_id))
    second = await ActivityEnvironment().run(steps.settle, settle_input(job_id))
    assert first == second
    assert first.status == "completed"
    with database.reading() as session:
        job = jobs.get_job(session, job_id=job_id)
        assert entries_of_job(session, job_id=job_id) == ["reserve", "settle"]
    assert job.report is not None
    assert (job.engine, job.report["checks"]) == ("warp", {"cover": 0.5})


async def test_settling_a_released_job_says_that_it_failed(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    steps = BookkeepingActivities(database, MemoryObjectStore(), KEEP)
    await ActivityEnvironment().run(steps.release, ReleaseInput(job_id=str(job_id), error_code="timed_out"))
    outcome = await ActivityEnvironment().run(steps.settle, settle_input(job_id))
    assert outcome == TryOnOutcome(status="failed", error_code="timed_out")


async def test_releasing_keeps_the_advice_for_polls(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    steps = BookkeepingActivities(database, MemoryObjectStore(), KEEP)
    refused = ReleaseInput(job_id=str(job_id), error_code="pose_not_usable", error_advice="Stand upright.")
    await ActivityEnvironment().run(steps.release, refused)
    job = await database.read(jobs.get_job, job_id=job_id)
    assert (job.status, job.error_code, job.error_advice) == ("failed", "pose_not_usable", "Stand upright.")


async def test_what_a_run_of_an_older_release_gives_for_a_code_is_stored_as_one(
    database: Database, digester: KeyDigester
) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    steps = BookkeepingActivities(database, MemoryObjectStore(), KEEP)
    outcome = await ActivityEnvironment().run(
        steps.release, ReleaseInput(job_id=str(job_id), error_code="OperationalError")
    )
    assert outcome.error_code == "generation_failed"


async def test_releasing_a_settled_job_says_that_it_completed(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    steps = BookkeepingActivities(database, MemoryObjectStore(), KEEP)
    await ActivityEnvironment().run(steps.settle, settle_input(job_id))
    outcome = await ActivityEnvironment().run(
        steps.release, ReleaseInput(job_id=str(job_id), error_code="generation_failed")
    )
    assert outcome.status == "completed"


async def test_cleaning_up_after_a_completed_job_keeps_its_picture_alone(
    database: Database, digester: KeyDigester
) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    other = uuid.uuid4()
    store = MemoryObjectStore()
    for key in (f"jobs/{job_id}/input/0", f"jobs/{job_id}/work/x", f"results/{job_id}.jpg", f"jobs/{other}/input/0"):
        await store.put(key, b"", "image/png")
    steps = BookkeepingActivities(database, store, KEEP)
    await ActivityEnvironment().run(steps.settle, settle_input(job_id))
    await ActivityEnvironment().run(steps.clean_up, CleanUpInput(job_id=str(job_id)))
    assert await store.list_keys("") == [f"jobs/{other}/input/0", f"results/{job_id}.jpg"]


async def test_cleaning_up_after_a_failed_job_keeps_nothing(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    store = MemoryObjectStore()
    for key in (f"jobs/{job_id}/input/0", f"results/{job_id}.jpg"):
        await store.put(key, b"", "image/png")
    steps = BookkeepingActivities(database, store, KEEP)
    await ActivityEnvironment().run(steps.release, ReleaseInput(job_id=str(job_id), error_code="timed_out"))
    await ActivityEnvironment().run(steps.clean_up, CleanUpInput(job_id=str(job_id)))
    assert store.objects == {}


async def test_a_run_whose_job_a_restore_of_the_database_has_lost_ends_and_leaves_nothing(database: Database) -> None:
    """Otherwise it would try to settle until Temporal ends it, minutes after the job's deadline."""
    job_id, store = uuid.uuid4(), MemoryObjectStore()
    for key in (f"jobs/{job_id}/input/person", f"results/{job_id}.jpg"):
        await store.put(key, b"", "image/png")
    steps = BookkeepingActivities(database, store, KEEP)
    lost = TryOnOutcome(status="failed", error_code="job_not_found")
    assert await ActivityEnvironment().run(steps.settle, settle_input(job_id)) == lost
    release = ReleaseInput(job_id=str(job_id), error_code="timed_out")
    assert await ActivityEnvironment().run(steps.release, release) == lost
    await ActivityEnvironment().run(steps.clean_up, CleanUpInput(job_id=str(job_id)))
    assert store.objects == {}
