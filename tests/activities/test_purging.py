from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities import purging
from activities.purging import ORPHAN_AGE, PurgingActivities
from domain.access import idempotency, rates
from domain.access.keys import KeyDigester
from domain.access.rates import RatePolicy
from domain.jobs import backfills, jobs
from domain.tables import IdempotencyKey, Job, RateWindow
from runtime.database import Database
from runtime.object_store import PAGE, ObjectStoreUnavailableError, StoredKey
from runtime.settings import BackfillSettings, JobSettings
from tests.factories import Caller, create_caller, create_job
from tests.ledger_entries import entries_of_job
from tests.memory_store import MemoryObjectStore
from workflows.contracts import SweepInput, SweepReport

KEEP = timedelta(hours=1)


async def purge(database: Database, store: MemoryObjectStore, limit: int = 10_000) -> SweepReport:
    activities = PurgingActivities(database, store, JobSettings(), BackfillSettings())
    return await ActivityEnvironment().run(activities.purge, SweepInput(limit=limit))


async def complete(database: Database, job_id: uuid.UUID, keep: timedelta, now: datetime | None = None) -> None:
    await database.write(
        jobs.complete_job,
        job_id=job_id,
        result_key=f"results/{job_id}.jpg",
        engine="warp",
        report={},
        keep=keep,
        now=now or datetime.now(UTC),
    )


async def fail(database: Database, job_id: uuid.UUID) -> None:
    await database.write(jobs.fail_job, job_id=job_id, error_code="timed_out", keep=KEEP, now=datetime.now(UTC))


async def put(store: MemoryObjectStore, *keys: str, age: timedelta = timedelta(0)) -> None:
    for key in keys:
        await store.put(key, b"", "image/png")
        store.written_at[key] -= age


async def test_pictures_of_checks_that_are_over_are_deleted(database: Database) -> None:
    store = MemoryObjectStore()
    await put(store, "checks/a/old/input-0", "checks/a/old/garment-0-front.png", age=ORPHAN_AGE + timedelta(minutes=1))
    await put(store, "checks/a/new/input-0", age=ORPHAN_AGE - timedelta(minutes=1))
    await purge(database, store)
    assert await store.list_keys("checks/") == ["checks/a/new/input-0"]


async def test_expired_pictures_are_deleted_and_others_kept(database: Database, digester: KeyDigester) -> None:
    caller, store = await create_caller(database, digester), MemoryObjectStore()
    kept, expired = [await create_job(database, caller) for _ in range(2)]
    for job_id, keep in ((kept, KEEP), (expired, timedelta(seconds=-1))):
        await put(store, f"results/{job_id}.jpg")
        await complete(database, job_id, keep)
    await purge(database, store)
    assert await store.list_keys("") == [f"results/{kept}.jpg"]
    with database.reading() as session:
        assert jobs.get_job(session, job_id=expired).result_key is None
        assert jobs.get_job(session, job_id=expired).status == "completed"


async def test_what_the_clean_up_of_an_ended_job_missed_is_deleted(database: Database, digester: KeyDigester) -> None:
    caller, store = await create_caller(database, digester), MemoryObjectStore()
    ended, running = await create_job(database, caller), await create_job(database, caller)
    await fail(database, ended)
    await put(store, f"jobs/{ended}/work/rendered.png", f"jobs/{running}/input/0", "jobs/no-id-at-all/x")
    await purge(database, store)
    assert await store.list_keys("jobs/") == [f"jobs/{running}/input/0", "jobs/no-id-at-all/x"]


async def test_inputs_of_a_job_that_never_came_to_be_are_deleted_after_a_while(database: Database) -> None:
    store, fresh, old = MemoryObjectStore(), uuid.uuid4(), uuid.uuid4()
    await put(store, f"jobs/{fresh}/input/0")
    await put(store, f"jobs/{old}/input/0", age=2 * ORPHAN_AGE)
    await purge(database, store)
    assert await store.list_keys("") == [f"jobs/{fresh}/input/0"]


async def test_a_result_that_was_written_after_its_job_had_failed_is_deleted(
    database: Database, digester: KeyDigester
) -> None:
    caller, store = await create_caller(database, digester), MemoryObjectStore()
    failed, running, done = [await create_job(database, caller) for _ in range(3)]
    await fail(database, failed)
    await complete(database, done, KEEP)
    await put(store, *(f"results/{job_id}.jpg" for job_id in (failed, running, done)), age=2 * ORPHAN_AGE)
    await purge(database, store)
    assert await store.list_keys("") == sorted([f"results/{running}.jpg", f"results/{done}.jpg"])


async def test_what_is_still_wanted_does_not_stand_in_the_way(database: Database, digester: KeyDigester) -> None:
    caller, store = await create_caller(database, digester), MemoryObjectStore()
    wanted = [await create_job(database, caller) for _ in range(4)]
    for job_id in wanted:
        await complete(database, job_id, KEEP)
    orphans = [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)]
    await put(store, *(f"results/{job_id}.jpg" for job_id in (*wanted, *orphans)), age=2 * ORPHAN_AGE)
    for _ in orphans:
        await purge(database, store, limit=1)
    assert await store.list_keys("") == sorted(f"results/{job_id}.jpg" for job_id in wanted)


async def test_one_round_deletes_more_than_one_batch_of_expired_pictures(
    database: Database, digester: KeyDigester
) -> None:
    caller, store = await create_caller(database, digester), MemoryObjectStore()
    for job_id in [await create_job(database, caller) for _ in range(5)]:
        await put(store, f"results/{job_id}.jpg")
        await complete(database, job_id, timedelta(seconds=-1))
    await purge(database, store, limit=2)
    assert store.objects == {}


async def test_pictures_of_an_erased_job_that_were_left_are_deleted(database: Database, digester: KeyDigester) -> None:
    caller, store = await create_caller(database, digester), MemoryObjectStore()
    job_id = await create_job(database, caller)
    await complete(database, job_id, KEEP)
    await put(store, f"results/{job_id}.jpg")
    await database.write(jobs.end_access, job_id=job_id, now=datetime.now(UTC))
    await purge(database, store)
    assert store.objects == {}
    with database.reading() as session:
        assert jobs.get_job(session, job_id=job_id).report is None


async def test_the_copy_of_a_picture_goes_where_its_job_was_erased_and_stays_where_it_is_past_its_time(
    database: Database, digester: KeyDigester
) -> None:
    caller, store = await create_caller(database, digester), CountingStore()
    erased, past_its_time = [await create_job(database, caller) for _ in range(2)]
    for job_id in (erased, past_its_time):
        await complete(database, job_id, timedelta(seconds=-1))
        await put(store, f"results/{job_id}.jpg", f"backfills/b/results/{job_id}.jpg")
        of_item: dict[str, Any] = {"account_id": caller.account_id, "key": str(job_id), "job_id": job_id}
        await database.write(backfills.note_job, backfill_id="b", now=datetime.now(UTC), **of_item)
        copy = f"backfills/b/results/{job_id}.jpg"
        await database.write(backfills.note_result, result_key=copy, now=datetime.now(UTC), **of_item)
    await database.write(jobs.end_access, job_id=erased, now=datetime.now(UTC))
    store.away = True
    with pytest.raises(ObjectStoreUnavailableError):
        await purge(database, store)
    assert len(store.objects) == 4
    store.away = False
    assert (await purge(database, store)).deleted == 3
    kept = f"backfills/b/results/{past_its_time}.jpg"
    assert list(store.objects) == [kept]
    assert await database.read(backfills.copies_of, job_ids=[erased, past_its_time]) == [kept]


async def test_rows_of_old_jobs_go_and_their_ledger_entries_stay(database: Database, digester: KeyDigester) -> None:
    caller, store = await create_caller(database, digester), MemoryObjectStore()
    ages = [timedelta(days=91), timedelta(days=89)]
    old, recent = [await create_job(database, caller, age=age) for age in ages]
    for job_id, age in zip((old, recent), ages, strict=True):
        await complete(database, job_id, KEEP, now=datetime.now(UTC) - age)
    await purge(database, store)  # deletes the pictures of both, and forgets them
    await purge(database, store)
    with database.reading() as session:
        assert session.get(Job, old) is None
        assert session.get(Job, recent) is not None
        assert set(entries_of_job(session, job_id=old)) == {"reserve", "settle"}


async def test_old_idempotency_keys_are_forgotten(database: Database, digester: KeyDigester) -> None:
    caller, now = await create_caller(database, digester), datetime.now(UTC)
    for name, age in (("old", timedelta(hours=25)), ("new", timedelta(hours=23))):
        await database.write(
            idempotency.claim_key, account_id=caller.account_id, key=name, fingerprint="0" * 64, now=now - age
        )
    assert (await purge(database, MemoryObjectStore())).forgotten >= 1
    with database.reading() as session:
        assert session.get(IdempotencyKey, (caller.account_id, "old")) is None
        assert session.get(IdempotencyKey, (caller.account_id, "new")) is not None


async def test_callers_whose_last_request_has_left_its_window_are_forgotten(database: Database) -> None:
    policy, now = RatePolicy("visitor", requests=20, window_seconds=300), time.time()
    gone, kept = uuid.uuid4(), uuid.uuid4()
    await database.write(rates.hit, caller_id=gone, policy=policy, clock=lambda: now - 301)
    await database.write(rates.hit, caller_id=kept, policy=policy, clock=lambda: now - 240)
    await purge(database, MemoryObjectStore())
    with database.reading() as session:
        rows = [session.get(RateWindow, (caller, "visitor")) for caller in (gone, kept)]
    assert (rows[0], rows[1] is not None) == (None, True)


async def test_a_picture_that_a_backfill_has_yet_to_copy_is_not_deleted(
    database: Database, digester: KeyDigester
) -> None:
    caller, store = await create_caller(database, digester), MemoryObjectStore()
    job_id = await create_job(database, caller)
    await put(store, f"results/{job_id}.jpg")
    await complete(database, job_id, timedelta(seconds=-1))
    now = datetime.now(UTC)
    await database.write(
        backfills.note_job, account_id=caller.account_id, key="one", job_id=job_id, backfill_id="b", now=now
    )
    await purge(database, store)
    assert await store.list_keys("") == [f"results/{job_id}.jpg"]
    await database.write(
        backfills.note_result,
        account_id=caller.account_id,
        key="one",
        job_id=job_id,
        result_key="backfills/b/one",
        now=now,
    )
    await purge(database, store)
    assert await store.list_keys("") == []


async def test_files_of_products_are_kept_for_a_week(database: Database) -> None:
    store = MemoryObjectStore()
    await put(store, "imports/a/old/plan.json", "imports/a/old/rows/000000.jsonl", age=timedelta(days=8))
    await put(store, "imports/a/old/outcomes/000000.jsonl", "imports/a/new/plan.json", age=timedelta(days=6))
    await purge(database, store)
    assert await store.list_keys("imports/") == ["imports/a/new/plan.json"]


class CountingStore(MemoryObjectStore):
    """Counts requests, and may be away for some of them."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0
        self.away = False

    def _ask(self) -> None:
        self.requests += 1
        if self.away:
            raise ObjectStoreUnavailableError("away")

    async def list_page(self, prefix: str, *, after: str = "", limit: int = PAGE) -> list[StoredKey]:
        self._ask()
        return await super().list_page(prefix, after=after, limit=limit)

    async def list_folders(self, prefix: str) -> list[str]:
        self._ask()
        return await super().list_folders(prefix)

    async def delete_keys(self, keys: Sequence[str]) -> None:
        self._ask()
        await super().delete_keys(keys)


async def an_old_request_key(database: Database, caller: Caller) -> Callable[[], Awaitable[bool]]:
    """One that is to be forgotten; the answer tells whether it is."""
    name = uuid.uuid4().hex
    await database.write(
        idempotency.claim_key,
        account_id=caller.account_id,
        key=name,
        fingerprint="0" * 64,
        now=datetime.now(UTC) - timedelta(hours=25),
    )

    async def is_forgotten() -> bool:
        with database.reading() as session:
            return session.get(IdempotencyKey, (caller.account_id, name)) is None

    return is_forgotten


async def test_a_backlog_of_one_kind_holds_up_no_other(
    database: Database, digester: KeyDigester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "LONGEST_ROUND_SECONDS", 0.0)  # a page of each kind, and no more
    caller, store = await create_caller(database, digester), CountingStore()
    await put(store, *(f"jobs/{uuid.uuid4()}/input/0" for _ in range(3 * PAGE)), age=2 * ORPHAN_AGE)
    await put(store, *(f"results/{uuid.uuid4()}.jpg" for _ in range(3)), age=2 * ORPHAN_AGE)
    await put(store, "imports/a/old/plan.json", age=timedelta(days=8))
    job_id, is_forgotten = await create_job(database, caller), await an_old_request_key(database, caller)
    await put(store, f"results/{job_id}.jpg")
    await complete(database, job_id, timedelta(seconds=-1))
    await purge(database, store)
    assert await is_forgotten()
    assert await store.list_keys("imports/") == []
    assert f"results/{job_id}.jpg" not in store.objects
    left = len(await store.list_keys("jobs/"))
    assert 0 < left < 3 * PAGE
    for _ in range(20):  # each begins somewhere else, so all of it is gone in the end
        await purge(database, store)
    assert store.objects == {}


async def test_objects_are_listed_and_deleted_by_the_thousand(database: Database) -> None:
    store = CountingStore()
    orphans = [uuid.uuid4() for _ in range(5 * PAGE)]
    await put(store, *(f"jobs/{job_id}/input/0" for job_id in orphans), age=2 * ORPHAN_AGE)
    await put(store, *(f"results/{job_id}.jpg" for job_id in orphans), age=2 * ORPHAN_AGE)
    report = await purge(database, store)
    assert (report.deleted, store.objects) == (10 * PAGE, {})
    assert store.requests < 50


async def test_rows_are_forgotten_while_the_store_is_away(database: Database, digester: KeyDigester) -> None:
    caller, store = await create_caller(database, digester), CountingStore()
    is_forgotten = await an_old_request_key(database, caller)
    store.away = True
    with pytest.raises(ObjectStoreUnavailableError):
        await purge(database, store)
    assert await is_forgotten()


async def test_a_backfill_goes_when_nothing_has_changed_there_for_long(
    database: Database, digester: KeyDigester
) -> None:
    store = MemoryObjectStore()
    long_ago = timedelta(days=31)
    await put(store, "backfills/old/results/a.jpg", "backfills/busy/pictures/1", age=long_ago)
    await put(store, "backfills/lent/pictures/1", age=long_ago)
    await put(store, "backfills/busy/progress.json")
    await store.put("backfills/busy/uses.json", b'["lent"]', "application/json")
    await purge(database, store)
    kept = await store.list_keys("backfills/")
    assert {key.split("/")[1] for key in kept} == {"busy", "lent"}
    assert "backfills/busy/pictures/1" in kept
