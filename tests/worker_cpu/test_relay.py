from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import Client

from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.tables import Job
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.settings import DatabaseSettings, TemporalSettings
from tests.factories import PLANS, create_caller, new_job
from tests.ledger_entries import entries_of_job
from tests.workflows.fakes import tryon_input
from worker_cpu import relay
from workflows.queues import tryon_workflow_id


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid"])
async def test_a_database_that_is_away_does_not_end_the_relay(
    idle_temporal: Client, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(relay, "INTERVAL_SECONDS", 0.01)
    database = Database(DatabaseSettings(url=f"postgresql://nobody@{host}/nothing"))
    running = asyncio.create_task(relay.relay_forever(database, TemporalGateway(idle_temporal), timedelta(hours=1)))
    done, _ = await asyncio.wait([running], timeout=1)
    running.cancel()
    database.close()
    assert not done


async def accepted(database: Database, digester: KeyDigester, age: timedelta) -> uuid.UUID:
    """A job that was accepted so long ago and that Temporal has not got; it had five minutes."""
    caller, job_id = await create_caller(database, digester), uuid.uuid4()
    new = new_job(caller, job_id=job_id, workflow_input=tryon_input(str(job_id)).model_dump(mode="json"))
    with database.transaction() as session:
        job = jobs.accept_job(session, PLANS, new, now=datetime.now(UTC))
        job.created_at -= age
        job.deadline_at -= age
    return job_id


async def row(database: Database, job_id: uuid.UUID) -> Job:
    return await database.read(jobs.get_job, job_id=job_id)


async def test_a_job_that_is_started_late_has_what_is_left(
    database: Database, digester: KeyDigester, idle_temporal: Client
) -> None:
    job_id = await accepted(database, digester, age=timedelta(minutes=4.5))
    while not (await row(database, job_id)).started_at:  # other tests' jobs may stand before it
        await relay.relay_round(database, TemporalGateway(idle_temporal), timedelta(hours=1))
    run = idle_temporal.get_workflow_handle(tryon_workflow_id(str(job_id)))
    begun = (await run.fetch_history()).events[0].workflow_execution_started_event_attributes
    told = datetime.fromisoformat(json.loads(begun.input.payloads[0].data)["deadlineAt"])
    assert told == (await row(database, job_id)).deadline_at
    await run.terminate()


async def test_a_job_that_could_not_be_started_in_time_is_over_without_temporal(
    database: Database, digester: KeyDigester
) -> None:
    late = await accepted(database, digester, age=timedelta(minutes=6))
    young = await accepted(database, digester, age=timedelta(minutes=1))
    nobody = await TemporalGateway.connect(TemporalSettings(address="127.0.0.1:1"), for_requests=True)
    with pytest.raises(TemporalAwayError):
        await relay.relay_round(database, nobody, timedelta(hours=1))
    assert ((await row(database, late)).status, (await row(database, late)).error_code) == ("failed", "timed_out")
    assert (await row(database, young)).status == "processing"
    with database.reading() as session:
        assert entries_of_job(session, job_id=late) == ["reserve", "release"]
