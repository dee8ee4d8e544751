"""A job is paid at most once because of two guards, and each of them is enough when the other is missing.

The compare-and-set is in `domain.jobs.jobs`, the unique indexes are in the database.
"""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.money import quota
from domain.money.ledger import check_ledger
from domain.tables import Job
from runtime.database import Database
from tests.factories import create_caller, create_job
from tests.ledger_entries import entries_of_job

HOUR = timedelta(hours=1)


@pytest.fixture
async def job_id(own_database: Database, digester: KeyDigester) -> uuid.UUID:
    """A job in progress, beside another of its account: counters that may not be negative are of no help."""
    caller = await create_caller(own_database, digester)
    await create_job(own_database, caller)
    return await create_job(own_database, caller)


@pytest.fixture
def no_compare_and_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ends a job ends it, whatever it was."""

    def end(
        session: Session, job: Job, status: str, *, keep: timedelta, longest: timedelta, now: datetime, **values: object
    ) -> bool:
        ended = {"status": status, "finished_at": now, "expires_at": now + keep, **values}
        session.execute(update(Job).where(Job.id == job.id).values(ended))
        (quota.settle if status == jobs.COMPLETED else quota.release)(session, job, now=now)
        return True

    monkeypatch.setattr(jobs, "_end_job", end)


@pytest.fixture
async def no_unique_index(own_database: Database) -> None:
    with own_database.transaction() as session:
        session.execute(text("DROP INDEX uq_ledger_job_closed"))


async def complete(database: Database, job_id: uuid.UUID) -> bool:
    return await database.write(
        jobs.complete_job, job_id=job_id, result_key="r", engine="warp", report={}, keep=HOUR, now=datetime.now(UTC)
    )


async def fail(database: Database, job_id: uuid.UUID) -> bool:
    return await database.write(jobs.fail_job, job_id=job_id, error_code="timed_out", keep=HOUR, now=datetime.now(UTC))


async def end_many_times_at_once(database: Database, job_id: uuid.UUID) -> list[bool | BaseException]:
    endings = [ending(database, job_id) for ending in (complete, fail) * 4]
    return await asyncio.gather(*endings, return_exceptions=True)


async def is_paid_or_given_back_once(database: Database, job_id: uuid.UUID) -> bool:
    with database.reading() as session:
        entries = entries_of_job(session, job_id=job_id)
        return len(entries) == 2 and check_ledger(session) == []


@pytest.mark.usefixtures("no_unique_index")
async def test_the_compare_and_set_is_enough(own_database: Database, job_id: uuid.UUID) -> None:
    assert sorted(await end_many_times_at_once(own_database, job_id)) == [False] * 7 + [True]
    assert await is_paid_or_given_back_once(own_database, job_id)


@pytest.mark.usefixtures("no_compare_and_set")
async def test_the_unique_index_is_enough(own_database: Database, job_id: uuid.UUID) -> None:
    ended = await end_many_times_at_once(own_database, job_id)
    assert ended.count(True) == 1
    assert all(isinstance(each, IntegrityError) for each in ended if each is not True)
    assert await is_paid_or_given_back_once(own_database, job_id)


@pytest.mark.usefixtures("no_compare_and_set", "no_unique_index")
async def test_without_either_the_check_finds_it(own_database: Database, job_id: uuid.UUID) -> None:
    """What the two tests above would see if their guard did not hold."""
    assert await complete(own_database, job_id)
    assert await fail(own_database, job_id)
    assert not await is_paid_or_given_back_once(own_database, job_id)
