"""What erasing an account does to its rows, transaction by transaction."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from domain import accounts, erasure
from domain.access.keys import KeyDigester, find_owner
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.money.ledger import check_ledger
from domain.tables import Account, Job
from runtime.database import Database
from tests.account_rows import FullAccount, full_account, rows_that_hold
from tests.factories import PLANS, Caller, create_caller, create_job, new_job
from tests.memory_store import MemoryObjectStore

NOW = datetime.now(UTC)
AT_ONCE = 2


@pytest.fixture
async def other(database: Database, digester: KeyDigester) -> Caller:
    return await create_caller(database, digester)


@pytest.fixture
async def full(database: Database, digester: KeyDigester, other: Caller) -> FullAccount:
    return await full_account(database, digester, MemoryObjectStore(), other)


async def begun(database: Database, account_id: uuid.UUID) -> bool:
    return await database.write(erasure.begin_erasure, account_id=account_id, now=NOW)


async def forgotten(database: Database, account_id: uuid.UUID) -> None:
    """The steps over rows, in small batches."""
    position: erasure.Position | None = None
    while True:
        position = await database.write(
            erasure.empty_jobs, account_id=account_id, after=position, limit=AT_ONCE, now=NOW
        )
        if position is None:
            break
    while True:
        with database.transaction() as session:
            if not erasure.delete_rows(session, account_id=account_id, limit=AT_ONCE):
                break
    await database.write(erasure.finish_erasure, account_id=account_id, now=NOW)


async def account_of(database: Database, account_id: uuid.UUID) -> Account:
    with database.reading() as session:
        return session.get_one(Account, account_id)


async def test_from_the_first_transaction_on_nobody_calls_or_signs_in(
    database: Database, digester: KeyDigester, full: FullAccount
) -> None:
    assert await begun(database, full.caller.account_id)
    assert await database.read(lambda session: find_owner(session, digester, key=full.caller.key)) is None
    account = await account_of(database, full.caller.account_id)
    assert account.email == f"erased-{account.id}@erased.invalid"
    assert (account.blocked_reason, account.erased_at) == (erasure.REASON, NOW)
    left = await rows_that_hold(database, str(account.id), account.id.hex, full.word)
    assert left.keys().isdisjoint({"login", "login_session", "email_token", "mail"})
    with database.transaction() as session, pytest.raises(TryOnError, match="account_blocked"):
        jobs.accept_job(session, PLANS, new_job(full.caller), now=NOW)


async def test_the_address_is_free_again(database: Database, full: FullAccount) -> None:
    email = (await account_of(database, full.caller.account_id)).email
    await begun(database, full.caller.account_id)
    again = await database.write(accounts.create_account, PLANS, email=email, plan="trial", now=NOW)
    assert again.id != full.caller.account_id


async def test_an_account_is_erased_once(database: Database, full: FullAccount) -> None:
    told = await asyncio.gather(*(begun(database, full.caller.account_id) for _ in range(4)))
    assert sorted(told) == [False, False, False, True]
    with pytest.raises(ValueError, match="no account"):
        await begun(database, uuid.uuid4())


async def test_an_erased_account_is_not_unblocked(database: Database, full: FullAccount) -> None:
    await begun(database, full.caller.account_id)
    with pytest.raises(ValueError, match="erased"), database.transaction() as session:
        accounts.unblock_account(session, account_id=full.caller.account_id)


async def test_it_is_unfinished_until_the_last_step(database: Database, full: FullAccount) -> None:
    async def unfinished(older_than: timedelta) -> bool:
        with database.reading() as session:
            found = erasure.list_unfinished(session, older_than=older_than, now=NOW, limit=10_000)
            return full.caller.account_id in found

    assert not await unfinished(timedelta(0))
    await begun(database, full.caller.account_id)
    assert await unfinished(timedelta(0))
    assert not await unfinished(timedelta(seconds=1))
    await forgotten(database, full.caller.account_id)
    assert not await unfinished(timedelta(0))


async def test_rows_tell_nothing_in_the_end_and_the_money_stays(
    database: Database, digester: KeyDigester, full: FullAccount
) -> None:
    owner, (_done, running) = full.caller.account_id, full.job_ids
    before = await rows_that_hold(database, str(owner), owner.hex, full.word)
    await database.write(jobs.fail_job, job_id=running, error_code="cancelled", keep=timedelta(0), now=NOW)
    await begun(database, owner)
    for _ in range(2):  # done again it changes nothing
        await forgotten(database, owner)
    after = await rows_that_hold(database, str(owner), owner.hex)
    assert before.keys() - after.keys() == {
        *("login", "login_session", "email_token", "mail"),
        *("watermark", "idempotency_key", "product", "backfill_item", "rate_window"),
        *("webhook_endpoint", "webhook_delivery"),
    }
    for row in after["job"]:
        assert (row["workflow_input"], row["products"], row["report"], row["result_key"]) == ({}, None, None, None)
        assert row["erased_at"] is not None
    orders = sorted((row["status"], row["note"]) for row in after["payment"])
    assert orders == [("paid", None), ("rejected", erasure.REASON)]
    assert len(after["ledger"]) == len(before["ledger"]) + 1
    assert (len(after["allowance"]), len(after["daily_usage"])) == (1, 1)
    with database.reading() as session:
        assert [each for each in check_ledger(session) if each.account_id == owner] == []
    assert await rows_that_hold(database, full.word) == {}
    assert "rate_window" not in await rows_that_hold(database, *full.names(digester))


async def test_every_job_is_emptied_and_no_other_accounts(
    database: Database, digester: KeyDigester, other: Caller
) -> None:
    caller = await create_caller(database, digester)
    own = [await create_job(database, caller) for _ in range(5)]
    kept = await create_job(database, other)
    with database.transaction() as session:
        for job_id in (*own, kept):
            session.get_one(Job, job_id).workflow_input = {"job": str(job_id)}
    await begun(database, caller.account_id)
    await forgotten(database, caller.account_id)
    with database.reading() as session:
        assert [jobs.get_job(session, job_id=job_id).workflow_input for job_id in own] == [{}] * 5
        job = jobs.get_job(session, job_id=kept)
    assert (job.workflow_input, job.erased_at) == ({"job": str(kept)}, None)
