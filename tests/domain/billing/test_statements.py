"""The ledger in pages, and what was left after each movement."""

from __future__ import annotations

import uuid
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import inspect

from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.money import ledger, quota
from domain.money.ledger import Movement
from runtime.database import Database
from tests.factories import PLANS, Caller, create_caller, new_job

BORN = datetime(2026, 1, 10, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def caller(database: Database, digester: KeyDigester) -> Caller:
    return await create_caller(database, digester, now=BORN)


async def run_job(database: Database, caller: Caller, at: datetime, *, completed: bool | None) -> uuid.UUID:
    new = new_job(caller)
    await database.write(jobs.accept_job, PLANS, new, now=at)
    with database.transaction() as session:
        if completed:
            jobs.complete_job(session, job_id=new.job_id, result_key="r", engine="warp", report={}, keep=HOUR, now=at)
        elif completed is False:
            jobs.fail_job(session, job_id=new.job_id, error_code="timed_out", keep=HOUR, now=at)
    return new.job_id


async def top_up(database: Database, caller: Caller, at: datetime) -> None:
    await database.write(quota.add_topup, PLANS, account_id=caller.account_id, generations=50, now=at)


async def live_a_little(database: Database, caller: Caller) -> None:
    """Three periods and a pack, several movements in one and the same moment."""
    for month in range(3):
        at = BORN + timedelta(days=31 * month)
        await run_job(database, caller, at, completed=True)
        await run_job(database, caller, at, completed=False)
        await top_up(database, caller, at)
        await run_job(database, caller, at + HOUR, completed=None)
        await run_job(database, caller, at + HOUR, completed=True)


async def read_back(database: Database, caller: Caller, limit: int) -> list[Movement]:
    """All movements, newest first, in pages."""
    read: list[Movement] = []
    while True:
        found = await database.read(
            ledger.page_of_account,
            account_id=caller.account_id,
            limit=limit,
            after=read[-1].place if read else None,
        )
        read += found
        if len(found) < limit:
            return read


async def read_forward(database: Database, caller: Caller, limit: int) -> list[Movement]:
    """All movements, oldest first, in pages."""
    read: list[Movement] = []
    left: dict[uuid.UUID, int] = {}
    while True:
        found = await database.read(
            ledger.read_from_the_first,
            account_id=caller.account_id,
            limit=limit,
            left=left,
            after=read[-1].place if read else None,
        )
        read += found
        if len(found) < limit:
            return read


async def test_what_is_left_is_told_of_the_allowance_that_moved(database: Database, caller: Caller) -> None:
    done = await run_job(database, caller, BORN, completed=True)
    await top_up(database, caller, BORN + HOUR)
    failed = await run_job(database, caller, BORN + 2 * HOUR, completed=False)
    told = [
        (each.kind, each.change, each.left, each.source, each.job_id) for each in await read_back(database, caller, 9)
    ]
    assert told == [
        ("release", 1, 249, "included", failed),
        ("reserve", -1, 248, "included", failed),
        ("topup", 50, 50, "topup", None),
        ("settle", 0, 249, "included", done),
        ("reserve", -1, 249, "included", done),
        ("grant", 250, 250, "included", None),
    ]


@pytest.mark.parametrize("limit", [1, 4, 100])
async def test_pages_tell_what_the_whole_ledger_adds_up_to(database: Database, caller: Caller, limit: int) -> None:
    await live_a_little(database, caller)
    read = await read_back(database, caller, limit)
    assert len(read) == len({each.place for each in read}) == 3 * 9
    balance: dict[uuid.UUID, int] = defaultdict(int)
    for each in reversed(read):
        balance[each.allowance_id] += each.change
        assert each.left == balance[each.allowance_id] >= 0
    assert [each.at for each in read] == sorted((each.at for each in read), reverse=True)


@pytest.mark.parametrize("limit", [1, 4, 100])
async def test_forward_tells_the_same_as_backward(database: Database, caller: Caller, limit: int) -> None:
    await live_a_little(database, caller)
    assert await read_forward(database, caller, limit) == (await read_back(database, caller, 100))[::-1]


async def test_nobody_elses_movements_are_told(database: Database, digester: KeyDigester, caller: Caller) -> None:
    await live_a_little(database, caller)
    stranger = await create_caller(database, digester, now=BORN)
    assert await read_back(database, stranger, 100) == await read_forward(database, stranger, 100) == []
    with database.reading() as session:
        place = ledger.page_of_account(session, account_id=caller.account_id, limit=1)[0].place
        assert not ledger.page_of_account(session, account_id=stranger.account_id, limit=9, after=place)


async def test_an_entry_that_comes_while_one_leafs_moves_no_page(database: Database, caller: Caller) -> None:
    await live_a_little(database, caller)
    before = await read_back(database, caller, 100)
    first = await database.read(ledger.page_of_account, account_id=caller.account_id, limit=5)
    await run_job(database, caller, BORN + timedelta(days=80), completed=True)
    rest = await database.read(ledger.page_of_account, account_id=caller.account_id, limit=100, after=first[-1].place)
    assert first + rest == before


async def test_no_other_index_leads_a_planner_to_sort_a_whole_ledger(database: Database) -> None:
    """SQLite takes the shorter one of two that begin with the account, and sorts 25,000 entries for a page of 50."""
    indexes = inspect(database.engine).get_indexes("ledger")
    leading = [index["column_names"] for index in indexes if index["column_names"][:1] == ["account_id"]]
    assert leading == [["account_id", "at"]]
