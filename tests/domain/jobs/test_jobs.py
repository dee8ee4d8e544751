from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from domain import accounts
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.money import ledger
from domain.tables import Job, LedgerEntry
from runtime.database import Database
from tests.factories import PLANS, create_caller, create_job, new_job
from tests.ledger_entries import entries_of_job

HOUR = timedelta(hours=1)


async def complete(database: Database, job_id: uuid.UUID, now: datetime | None = None) -> bool:
    return await database.write(
        jobs.complete_job,
        job_id=job_id,
        result_key="results/x.jpg",
        engine="warp",
        report={},
        keep=HOUR,
        now=now or datetime.now(UTC),
    )


async def test_a_picture_is_kept_as_long_as_its_owner_wants(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    before, after = await create_job(database, caller), await create_job(database, caller)
    await complete(database, before)
    await database.write(accounts.set_result_ttl, account_id=caller.account_id, seconds=90, longest_seconds=3600)
    await complete(database, after)
    with database.reading() as session:
        ended = [jobs.get_job(session, job_id=job_id) for job_id in (before, after)]
    assert [job.expires_at - job.finished_at for job in ended if job.expires_at and job.finished_at] == [
        HOUR,
        timedelta(seconds=90),
    ]


async def fail(database: Database, job_id: uuid.UUID) -> bool:
    return await database.write(jobs.fail_job, job_id=job_id, error_code="timed_out", keep=HOUR, now=datetime.now(UTC))


async def entries(database: Database, job_id: uuid.UUID) -> list[str]:
    return await database.read(entries_of_job, job_id=job_id)


async def test_the_deadline_counts_from_the_accepting(database: Database, digester: KeyDigester) -> None:
    now, new = datetime.now(UTC), new_job(await create_caller(database, digester), deadline=timedelta(seconds=7))
    with database.transaction() as session:
        job = jobs.accept_job(session, PLANS, new, now=now)
        assert (job.created_at, job.deadline_at) == (now, now + timedelta(seconds=7))


def test_a_job_is_overdue_once_its_run_had_time_to_end_it() -> None:
    deadline = datetime.now(UTC)
    assert not jobs.is_overdue(deadline, deadline + jobs.OVERDUE_GRACE - timedelta(seconds=1))
    assert jobs.is_overdue(deadline, deadline + jobs.OVERDUE_GRACE)


async def test_a_picture_goes_at_its_time_and_the_row_later(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    fresh, due = await create_job(database, caller), await create_job(database, caller)
    for job_id in (fresh, due):
        await complete(database, job_id)
    now = datetime.now(UTC)
    with database.transaction() as session:
        session.execute(update(Job).where(Job.id == due).values(expires_at=now))
    own = {fresh, due}

    def left(session: Session) -> set[uuid.UUID]:
        return own & set(session.scalars(select(Job.id)))

    def expired(session: Session) -> set[uuid.UUID]:
        return own & {job.id for job in jobs.list_expired(session, limit=10_000, unkept_for=HOUR)}

    assert await database.read(expired) == {due}
    later = now + timedelta(seconds=1)
    await database.write(jobs.delete_old, finished_before=later, limit=10_000)
    assert await database.read(left) == own, "the pictures are still there"
    await database.write(jobs.forget_results, job_ids=[due])
    assert await database.read(expired) == set()
    await database.write(jobs.delete_old, finished_before=now - HOUR, limit=10_000)
    assert await database.read(left) == own
    await database.write(jobs.delete_old, finished_before=later, limit=10_000)
    assert await database.read(left) == {fresh}


async def test_accepting_reserves_one_generation(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    assert await entries(database, job_id) == ["reserve"]


async def test_completing_settles_once_however_often_it_is_done(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    assert [await complete(database, job_id) for _ in range(3)] == [True, False, False]
    assert await entries(database, job_id) == ["reserve", "settle"]


async def test_a_failed_job_is_released_and_stays_failed(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    assert await fail(database, job_id)
    assert not await complete(database, job_id)
    assert await entries(database, job_id) == ["reserve", "release"]
    job = await database.read(jobs.get_job, job_id=job_id)
    assert (job.status, job.error_code, job.result_key) == ("failed", "timed_out", None)


async def test_of_many_that_end_a_job_at_once_exactly_one_does(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    ended = await asyncio.gather(*(ending(database, job_id) for ending in (complete, fail) * 4))
    assert sum(ended) == 1
    assert len(await entries(database, job_id)) == 2


async def test_the_ledger_alone_refuses_a_second_closing_entry(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    job_id = await create_job(database, caller)
    assert await complete(database, job_id)
    with pytest.raises(IntegrityError), database.transaction() as session, session.begin_nested():
        job = jobs.get_job(session, job_id=job_id)
        assert job.allowance_id is not None
        ledger.add_entry(session, "release", caller.account_id, job.allowance_id, job_id=job_id, at=job.created_at)
        session.flush()
    assert await entries(database, job_id) == ["reserve", "settle"]


async def test_generation_time_runs_from_acceptance_to_completion(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    await complete(database, job_id)
    job = await database.read(jobs.get_job, job_id=job_id)
    assert job.finished_at is not None
    assert job.generation_ms == round((job.finished_at - job.created_at) / timedelta(milliseconds=1))
    assert job.expires_at == job.finished_at + HOUR


async def test_a_clock_behind_the_one_that_accepted_it_makes_no_negative_time(
    database: Database, digester: KeyDigester
) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    await complete(database, job_id, datetime.now(UTC) - HOUR)
    assert (await database.read(jobs.get_job, job_id=job_id)).generation_ms == 0


async def find_job(database: Database, job_id: uuid.UUID, account_id: uuid.UUID) -> Job | None:
    return await database.read(lambda session: jobs.find_job(session, job_id=job_id, account_id=account_id))


async def test_another_accounts_job_is_unknown(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    other = await create_caller(database, digester)
    assert await find_job(database, job_id, other.account_id) is None


async def test_the_outbox_holds_a_job_until_it_is_started(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))

    async def waiting() -> set[uuid.UUID]:
        with database.reading() as session:
            return {job.id for job in jobs.list_unstarted(session, older_than=timedelta(0), limit=1000)}

    assert job_id in await waiting()
    await database.write(jobs.mark_started, job_id=job_id)
    assert job_id not in await waiting()


async def test_a_fresh_job_is_left_to_the_process_that_accepted_it(database: Database, digester: KeyDigester) -> None:
    job_id = await create_job(database, await create_caller(database, digester))
    with database.reading() as session:
        assert job_id not in {job.id for job in jobs.list_unstarted(session, older_than=HOUR, limit=1000)}


async def test_only_jobs_in_progress_are_open(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    running, ended = await create_job(database, caller), await create_job(database, caller)
    await fail(database, ended)
    with database.reading() as session:
        found = {job.id for job in jobs.list_open(session, older_than=timedelta(0), limit=1000)}
    assert running in found
    assert ended not in found


async def test_a_transaction_that_raises_leaves_nothing(database: Database, digester: KeyDigester) -> None:
    caller, job_id = await create_caller(database, digester), uuid.uuid4()
    with pytest.raises(RuntimeError), database.transaction() as session:
        jobs.accept_job(session, PLANS, new_job(caller, job_id=job_id), now=datetime.now(UTC))
        raise RuntimeError
    assert await find_job(database, job_id, caller.account_id) is None
    with database.reading() as session:
        assert session.get(LedgerEntry, job_id) is None
