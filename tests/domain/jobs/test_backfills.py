from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from domain.access.keys import KeyDigester
from domain.jobs import backfills, jobs
from runtime.database import Database
from tests.factories import Caller, create_caller, create_job
from tests.meanwhile import outcome_beside

NOW = datetime.now(UTC)
PLACE = "backfills/b/results/one.jpg"


async def note(database: Database, caller: Caller, job_id: uuid.UUID, key: str = "one", backfill: str = "b") -> None:
    await database.write(
        backfills.note_job, account_id=caller.account_id, key=key, job_id=job_id, backfill_id=backfill, now=NOW
    )


async def keep(database: Database, caller: Caller, job_id: uuid.UUID, place: str = PLACE) -> str | None:
    return await database.write(
        backfills.note_result, account_id=caller.account_id, key="one", job_id=job_id, result_key=place, now=NOW
    )


async def kept(database: Database, caller: Caller) -> str | None:
    with database.reading() as session:
        standing = backfills.find_item(session, account_id=caller.account_id, key="one")
        assert standing is not None
        return standing.picture


async def complete(database: Database, job_id: uuid.UUID) -> None:
    await database.write(
        jobs.complete_job, job_id=job_id, result_key="r", engine="warp", report={}, keep=timedelta(hours=1), now=NOW
    )


async def test_an_item_belongs_to_its_account_and_its_newest_job(
    database: Database, caller: Caller, digester: KeyDigester
) -> None:
    other = await create_caller(database, digester)
    first, second = [await create_job(database, caller) for _ in range(2)]
    await note(database, caller, first)
    await note(database, caller, second, backfill="c")
    with database.reading() as session:
        standing = backfills.find_item(session, account_id=caller.account_id, key="one")
        assert standing is not None
        assert standing.job is not None
        assert (standing.job.id, standing.item.backfill_id) == (second, "c")
        assert backfills.find_item(session, account_id=other.account_id, key="one") is None
        assert backfills.find_item(session, account_id=caller.account_id, key="two") is None


async def test_a_picture_is_noted_for_the_job_that_made_it_alone(database: Database, caller: Caller) -> None:
    first, second = [await create_job(database, caller) for _ in range(2)]
    await note(database, caller, second)
    assert await keep(database, caller, first) is None
    assert await keep(database, caller, second) == PLACE
    assert await keep(database, caller, second, "backfills/c/results/one.jpg") == PLACE
    assert await kept(database, caller) == PLACE
    await note(database, caller, first)
    assert await kept(database, caller) is None


async def test_an_item_whose_picture_is_erased_has_none_while_its_copy_is_yet_to_go(
    database: Database, caller: Caller
) -> None:
    job_id = await create_job(database, caller)
    await note(database, caller, job_id)
    await keep(database, caller, job_id)
    await database.write(jobs.end_access, job_id=job_id, now=NOW)
    assert await kept(database, caller) is None
    assert await keep(database, caller, job_id) is None
    assert await database.read(backfills.copies_of, job_ids=[job_id]) == [PLACE]
    await database.write(jobs.forget_results, job_ids=[job_id], copies=[PLACE])
    assert await database.read(backfills.copies_of, job_ids=[job_id]) == []


@pytest.mark.databases("postgresql")
async def test_a_copy_that_is_being_noted_is_waited_for(database: Database, caller: Caller) -> None:
    job_id = await create_job(database, caller)
    await note(database, caller, job_id)
    noting = partial(
        backfills.note_result, account_id=caller.account_id, key="one", job_id=job_id, result_key=PLACE, now=NOW
    )
    erasing = partial(backfills.copies_of, job_ids=[job_id], lock=True)
    assert await outcome_beside(database, noting, erasing) == [PLACE]


async def test_an_erased_job_keeps_its_key_until_its_copies_are_gone(database: Database, caller: Caller) -> None:
    erased, past_its_time = [await create_job(database, caller) for _ in range(2)]
    for job_id, key in ((erased, "one"), (past_its_time, "two")):
        await note(database, caller, job_id, key)
        await complete(database, job_id)
        await database.write(
            backfills.note_result, account_id=caller.account_id, key=key, job_id=job_id, result_key=key, now=NOW
        )
    await database.write(jobs.end_access, job_id=erased, now=NOW)

    async def left() -> list[str | None]:
        await database.write(jobs.forget_results, job_ids=[erased, past_its_time], copies=gone)
        return [(await database.read(jobs.get_job, job_id=each)).result_key for each in (erased, past_its_time)]

    gone = ["another"]
    assert await left() == ["r", None]
    gone = ["one"]
    assert await left() == [None, None]
    assert await database.read(backfills.copies_of, job_ids=[erased, past_its_time]) == ["two"]


async def test_only_items_with_a_picture_count_as_done(database: Database, caller: Caller) -> None:
    for key in ("one", "two"):
        job_id = await create_job(database, caller)
        await note(database, caller, job_id, key)
    await complete(database, job_id)
    done = await database.read(backfills.count_done, account_id=caller.account_id, keys=["one", "two", "three"])
    assert done == 1


async def test_items_are_forgotten_when_nothing_touched_them_for_long(database: Database, caller: Caller) -> None:
    await note(database, caller, await create_job(database, caller))
    with database.transaction() as session:
        backfills.delete_old_items(session, touched_before=NOW, limit=10_000)
        assert backfills.find_item(session, account_id=caller.account_id, key="one") is not None
        backfills.delete_old_items(session, touched_before=NOW + timedelta(seconds=1), limit=10_000)
        assert backfills.find_item(session, account_id=caller.account_id, key="one") is None
