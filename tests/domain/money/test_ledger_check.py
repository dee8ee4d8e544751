"""What the check finds: every sort of disagreement, planted in a database of its own."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, update

from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.money import quota
from domain.money.ledger import Disagreement, check_ledger
from domain.tables import Allowance, DailyUsage, Job
from runtime.database import Database
from tests.factories import PLANS, Caller, create_caller, create_job, new_job

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def caller(own_database: Database, digester: KeyDigester) -> Caller:
    return await create_caller(own_database, digester, now=NOW)


async def end(database: Database, job_id: uuid.UUID, *, completed: bool) -> None:
    with database.transaction() as session:
        if completed:
            jobs.complete_job(session, job_id=job_id, result_key="r", engine="warp", report={}, keep=HOUR, now=NOW)
        else:
            jobs.fail_job(session, job_id=job_id, error_code="timed_out", keep=HOUR, now=NOW)


async def found(database: Database) -> list[Disagreement]:
    return await database.read(check_ledger)


async def found_one(database: Database, caller: Caller) -> Disagreement:
    [disagreement] = await found(database)
    assert disagreement.account_id == caller.account_id
    return disagreement


async def test_nothing_is_wrong_with_an_empty_database(own_database: Database) -> None:
    assert await found(own_database) == []


async def test_nothing_is_wrong_with_jobs_in_every_state(own_database: Database, caller: Caller) -> None:
    for completed in (True, False):
        await end(own_database, await create_job(own_database, caller), completed=completed)
    await create_job(own_database, caller)
    await own_database.write(quota.add_topup, PLANS, account_id=caller.account_id, generations=50, now=NOW)
    assert await found(own_database) == []


async def test_a_test_keys_job_has_no_entries_and_needs_none(own_database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(own_database, digester, mode="test")
    await own_database.write(jobs.accept_job, PLANS, new_job(caller, test=True), now=NOW)
    assert await found(own_database) == []


async def test_a_reservation_that_was_counted_twice(own_database: Database, caller: Caller) -> None:
    await create_job(own_database, caller)
    with own_database.transaction() as session:
        session.execute(update(Allowance).values(reserved=2))
    disagreement = await found_one(own_database, caller)
    assert disagreement.subject.startswith("included allowance ")
    assert disagreement.counted == "250 given, 2 reserved, 0 settled"
    assert disagreement.recomputed == "250 given, 1 reserved, 0 settled"


@pytest.mark.parametrize("counted", [0, 2])
async def test_a_generation_that_was_used_and_not_counted_once(
    own_database: Database, caller: Caller, counted: int
) -> None:
    await end(own_database, await create_job(own_database, caller), completed=True)
    with own_database.transaction() as session:
        session.execute(update(Allowance).values(settled=counted))
    disagreement = await found_one(own_database, caller)
    assert (disagreement.counted, disagreement.recomputed) == (
        f"250 given, 0 reserved, {counted} settled",
        "250 given, 0 reserved, 1 settled",
    )


async def test_generations_that_nobody_gave(own_database: Database, caller: Caller) -> None:
    pack = await own_database.write(quota.add_topup, PLANS, account_id=caller.account_id, generations=50, now=NOW)
    with own_database.transaction() as session:
        session.execute(update(Allowance).values(generations=1050))
    assert await found_one(own_database, caller) == Disagreement(
        caller.account_id,
        f"topup allowance {pack.id}",
        "1050 given, 0 reserved, 0 settled",
        "50 given, 0 reserved, 0 settled",
    )


async def test_a_day_that_counts_a_job_too_many(own_database: Database, caller: Caller) -> None:
    job_id = await create_job(own_database, caller)
    with own_database.transaction() as session:
        session.execute(update(DailyUsage).values(settled=1))
        day = jobs.get_job(session, job_id=job_id).counted_on
    assert await found_one(own_database, caller) == Disagreement(
        caller.account_id, f"day {day}", "1 reserved, 1 settled", "1 in progress, 0 completed"
    )


async def test_a_completed_job_that_nobody_paid(own_database: Database, caller: Caller) -> None:
    job_id = await create_job(own_database, caller)
    with own_database.transaction() as session:
        session.execute(update(Job).values(status=jobs.COMPLETED))
        session.execute(update(DailyUsage).values(reserved=0, settled=1))
    assert await found_one(own_database, caller) == Disagreement(
        caller.account_id, f"job {job_id}", "completed", "1 reserved, 0 settled, 0 released"
    )


async def test_a_failed_job_that_got_nothing_back(own_database: Database, caller: Caller) -> None:
    job_id = await create_job(own_database, caller)
    with own_database.transaction() as session:
        session.execute(update(Job).values(status=jobs.FAILED))
        session.execute(update(DailyUsage).values(reserved=0))
    assert await found_one(own_database, caller) == Disagreement(
        caller.account_id, f"job {job_id}", "failed", "1 reserved, 0 settled, 0 released"
    )


async def test_a_failed_job_that_was_paid(own_database: Database, caller: Caller) -> None:
    job_id = await create_job(own_database, caller)
    await end(own_database, job_id, completed=True)
    with own_database.transaction() as session:
        session.execute(update(Job).values(status=jobs.FAILED))
        session.execute(update(DailyUsage).values(settled=0))
    assert await found_one(own_database, caller) == Disagreement(
        caller.account_id, f"job {job_id}", "failed", "1 reserved, 1 settled, 0 released"
    )


async def test_a_job_that_reserved_nothing(own_database: Database, caller: Caller) -> None:
    job_id = await create_job(own_database, caller)
    with own_database.transaction() as session:
        job = jobs.get_job(session, job_id=job_id)
        stowaway = new_job(caller)
        session.add(
            Job(
                id=stowaway.job_id,
                account_id=caller.account_id,
                api_key_id=caller.key_id,
                allowance_id=job.allowance_id,
                counted_on=job.counted_on,
                kind="single",
                status=jobs.PROCESSING,
                workflow_input={},
                created_at=NOW,
                deadline_at=NOW,
            )
        )
        session.execute(update(DailyUsage).values(reserved=2))
    assert await found_one(own_database, caller) == Disagreement(
        caller.account_id, f"job {stowaway.job_id}", "processing", "0 reserved, 0 settled, 0 released"
    )


async def test_a_reservation_whose_job_is_gone(own_database: Database, caller: Caller) -> None:
    job_id = await create_job(own_database, caller)
    with own_database.transaction() as session:
        session.execute(delete(Job).where(Job.id == job_id))
    assert await found_one(own_database, caller) == Disagreement(
        caller.account_id, f"job {job_id}", "no such job", "1 reserved"
    )


@pytest.mark.parametrize("completed", [True, False])
async def test_rows_of_old_jobs_may_go_in_any_order(own_database: Database, caller: Caller, completed: bool) -> None:
    """The ledger outlives them; a day that has lost some of its jobs is not counted by the rest."""
    accepted = []
    for day in (0, 1, 1):
        new = new_job(caller)
        await own_database.write(jobs.accept_job, PLANS, new, now=NOW + timedelta(days=day))
        await end(own_database, new.job_id, completed=completed)
        accepted.append(new.job_id)
    with own_database.transaction() as session:
        session.execute(delete(Job).where(Job.id == accepted[1]))
    assert await found(own_database) == []
