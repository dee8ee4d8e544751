"""``DELETE /api/v1/tryon/{jobId}``."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update
from temporalio.testing import ActivityEnvironment

from activities.purging import PurgingActivities
from domain.access.keys import KeyDigester
from domain.jobs import backfills, jobs
from domain.object_keys import input_key, result_key
from domain.tables import Job, rows_changed
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import BackfillSettings, JobSettings
from tests.api.conftest import Api, single
from tests.factories import create_caller, create_job
from tests.ledger_entries import entries_of_job
from workflows.contracts import SweepInput

pytestmark = pytest.mark.databases("sqlite", "postgresql")

HOUR = timedelta(hours=1)


async def completed_job(api: Api, database: Database) -> str:
    job_id = str(await create_job(database, api.caller))
    await api.store.put(result_key(job_id), b"jpeg", "image/jpeg")
    await api.store.put(input_key(job_id, "0"), b"photo", "image/jpeg")
    await database.write(
        jobs.complete_job,
        job_id=uuid.UUID(job_id),
        result_key=result_key(job_id),
        engine="warp",
        report={"timings": 1},
        keep=HOUR,
        now=datetime.now(UTC),
    )
    return job_id


async def entries(database: Database, job_id: str) -> list[str]:
    return await database.read(entries_of_job, job_id=uuid.UUID(job_id))


async def test_a_completed_job_is_gone_at_once_and_stays_billed(api: Api, database: Database) -> None:
    job_id = await completed_job(api, database)
    answer = await api.client.delete(f"/api/v1/tryon/{job_id}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert api.store.objects == {}
    assert (await api.poll(job_id)).status_code == 404
    assert await entries(database, job_id) == ["reserve", "settle"]
    job = await database.read(jobs.get_job, job_id=uuid.UUID(job_id))
    assert job.erased_at is not None
    assert (job.workflow_input, job.report, job.result_key) == ({}, None, None)


async def test_a_job_in_progress_is_cancelled_and_not_billed(api: Api, database: Database) -> None:
    job_id = (await api.post(single())).json()["jobId"]
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 204
    assert (await api.poll(job_id)).status_code == 404
    assert api.store.objects == {}
    assert await entries(database, job_id) == ["reserve", "release"]
    run = await api.parts.temporal.client.get_workflow_handle(f"tryon-{job_id}").fetch_history()
    assert "EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED" in run.to_json()


async def test_erasing_twice_is_404_like_any_poll_from_then_on(api: Api, database: Database) -> None:
    job_id = await completed_job(api, database)
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 204
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 404


@pytest.mark.parametrize("job_id", ["not-a-uuid", "0b5f1f0e-6f0e-4c59-9a5e-2f0d3c1b7a44"])
async def test_what_is_unknown_is_404(api: Api, job_id: str) -> None:
    answer = await api.client.delete(f"/api/v1/tryon/{job_id}")
    assert (answer.status_code, answer.json()) == (404, {"error": "Job not found or expired."})


async def test_another_accounts_job_is_left_alone(api: Api, database: Database, digester: KeyDigester) -> None:
    job_id = await completed_job(api, database)
    other = await create_caller(database, digester)
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}", headers=other.headers)).status_code == 404
    assert result_key(job_id) in api.store.objects


async def test_a_store_that_is_away_leaves_the_pictures_to_the_purge(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await completed_job(api, database)

    async def away(prefix: str) -> int:
        raise ObjectStoreUnavailableError(prefix)

    monkeypatch.setattr(api.store, "delete_prefix", away)
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 503
    assert (await api.poll(job_id)).status_code == 404
    with database.reading() as session:
        assert jobs.get_job(session, job_id=uuid.UUID(job_id)).workflow_input == {}
    with database.reading() as session:
        assert job_id in {str(job.id) for job in jobs.list_expired(session, limit=10_000, unkept_for=timedelta(days=1))}


COPY = "backfills/b/results/one.jpg"


async def copied_job(api: Api, database: Database) -> str:
    """A completed job, of whose picture a backfill has kept a copy."""
    job_id = await completed_job(api, database)
    await api.store.put(COPY, b"jpeg", "image/jpeg")
    of_item: dict[str, Any] = {"account_id": api.caller.account_id, "key": "one", "job_id": uuid.UUID(job_id)}
    await database.write(backfills.note_job, backfill_id="b", now=datetime.now(UTC), **of_item)
    await database.write(backfills.note_result, result_key=COPY, now=datetime.now(UTC), **of_item)
    return job_id


async def test_a_backfills_copy_goes_too(api: Api, database: Database) -> None:
    job_id = await copied_job(api, database)
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 204
    assert api.store.objects == {}
    assert await database.read(backfills.copies_of, job_ids=[uuid.UUID(job_id)]) == []


async def test_a_backfills_copy_that_could_not_be_deleted_is_left_to_the_purge(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await copied_job(api, database)

    async def away(key: str) -> None:
        raise ObjectStoreUnavailableError(key)

    with monkeypatch.context() as outage:
        outage.setattr(api.store, "delete", away)
        assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 503
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 404
    assert COPY in api.store.objects
    purging = PurgingActivities(database, api.store, JobSettings(), BackfillSettings())
    await ActivityEnvironment().run(purging.purge, SweepInput())
    assert api.store.objects == {}
    assert await database.read(backfills.copies_of, job_ids=[uuid.UUID(job_id)]) == []


@pytest.mark.parametrize("away", [False, True], ids=["at once", "by the purge"])
async def test_a_copy_outlives_the_result_and_can_be_deleted_then(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch, away: bool
) -> None:
    job_id = await copied_job(api, database)
    of_job = update(Job).where(Job.id == uuid.UUID(job_id)).values(expires_at=datetime.now(UTC) - HOUR)
    await database.write(rows_changed, of_job)
    purging = PurgingActivities(database, api.store, JobSettings(), BackfillSettings())
    await ActivityEnvironment().run(purging.purge, SweepInput())
    assert list(api.store.objects) == [COPY]
    assert (await api.poll(job_id)).status_code == 404

    async def refuse(key: str) -> None:
        raise ObjectStoreUnavailableError(key)

    with monkeypatch.context() as outage:
        if away:
            outage.setattr(api.store, "delete", refuse)
        assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == (503 if away else 204)
    await ActivityEnvironment().run(purging.purge, SweepInput())
    assert api.store.objects == {}
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 404
    job = await database.read(jobs.get_job, job_id=uuid.UUID(job_id))
    assert (job.erased_at is not None, job.workflow_input, job.result_key) == (True, {}, None)


async def test_where_its_pictures_came_from_is_forgotten_whatever_happens_then(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = single(garmentImageUrl="https://shop.example/a-private-choice.jpg")
    job_id = (await api.post(body)).json()["jobId"]

    async def away(prefix: str) -> int:
        raise ObjectStoreUnavailableError(prefix)

    monkeypatch.setattr(api.store, "delete_prefix", away)
    assert (await api.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 503
    job = await database.read(jobs.get_job, job_id=uuid.UUID(job_id))
    assert (job.status, job.workflow_input, job.error_code) == ("failed", {}, "cancelled")
