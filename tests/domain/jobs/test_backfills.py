from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from domain.access.keys import KeyDigester
from domain.jobs import backfills, jobs
from runtime.database import Database
from tests.factories import Caller, create_caller, create_job

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
        return standing.item.result_key


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


async def test_a_picture_that_is_erased_is_forgotten_and_not_noted_again(database: Database, caller: Caller) -> None:
    job_id = await create_job(database, caller)
    await note(database, caller, job_id)
    await keep(database, caller, job_id)
    with database.transaction() as session:
        assert backfills.forget_results_of(session, job_id=job_id) == [PLACE]
        jobs.end_access(session, job_id=job_id, now=NOW)
    assert await kept(database, caller) is None
    assert await keep(database, caller, job_id) is None


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
