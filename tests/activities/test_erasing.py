"""The steps that erase an account, over what such an account may have left anywhere."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.erasing import ErasingActivities
from activities.reconciling import QUIET_PERIOD, ReconcilingActivities
from domain import erasure
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.object_keys import backfill_result_key, own_backfills_prefix
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError, S3ObjectStore
from tests.account_rows import HOUR, FullAccount, full_account, rows_that_hold
from tests.factories import Caller, create_caller
from tests.ledger_entries import entries_of_job
from tests.memory_store import MemoryObjectStore
from workflows.contracts import ErasedAccount, SweepInput
from workflows.queues import erasure_workflow_id


@pytest.fixture
async def other(database: Database, digester: KeyDigester) -> Caller:
    return await create_caller(database, digester)


@pytest.fixture
async def full(
    database: Database, digester: KeyDigester, other: Caller, object_store: S3ObjectStore
) -> AsyncIterator[FullAccount]:
    full = await full_account(database, digester, object_store, other)
    with database.transaction() as session:
        now = datetime.now(UTC) - 2 * QUIET_PERIOD
        erasure.begin_erasure(session, account_id=full.caller.account_id, now=now)
    yield full
    await database.write(erasure.finish_erasure, account_id=full.caller.account_id, now=datetime.now(UTC))


@pytest.fixture
def erasing(database: Database, object_store: S3ObjectStore, idle_temporal: Client) -> ErasingActivities:
    return ErasingActivities(database, object_store, TemporalGateway(idle_temporal))


def account_of(full: FullAccount) -> ErasedAccount:
    return ErasedAccount(account_id=str(full.caller.account_id))


async def objects_of(store: S3ObjectStore, full: FullAccount) -> list[str]:
    marks = (full.word[:20], str(full.caller.account_id), *map(str, full.job_ids))
    return [key for key in await store.list_keys("") if any(mark in key for mark in marks)]


def others(full: FullAccount) -> list[str]:
    """Objects of another account that look like the account's."""
    names = (f"b-{full.word}.jpg-too", f"c-{full.word[:10]}")
    return [backfill_result_key(full.shared_backfill_id, name) for name in names]


async def test_jobs_in_progress_end_and_are_not_billed(
    erasing: ErasingActivities, database: Database, full: FullAccount
) -> None:
    done, running = full.job_ids
    first = await ActivityEnvironment().run(erasing.end_account_runs, account_of(full))
    second = await ActivityEnvironment().run(erasing.end_account_runs, account_of(full))
    assert (first.cancelled, second.cancelled) == (1, 0)
    with database.reading() as session:
        assert jobs.get_job(session, job_id=running).error_code == "cancelled"
        assert sorted(entries_of_job(session, job_id=running)) == ["release", "reserve"]
        assert jobs.get_job(session, job_id=done).status == "completed"


async def test_every_object_goes_and_nobody_elses(
    erasing: ErasingActivities, full: FullAccount, object_store: S3ObjectStore
) -> None:
    before = await objects_of(object_store, full)
    report = await ActivityEnvironment().run(erasing.delete_account_objects, account_of(full))
    assert await objects_of(object_store, full) == others(full)
    assert report.deleted >= len(before) - len(others(full)) == 12


async def test_a_step_that_was_cut_off_goes_on_where_it_stopped(
    erasing: ErasingActivities, full: FullAccount, object_store: S3ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete, calls = object_store.delete_keys, 0

    async def delete_a_few(keys: Sequence[str]) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise ObjectStoreUnavailableError("away")
        await delete(keys)

    with monkeypatch.context() as patch:
        patch.setattr(object_store, "delete_keys", delete_a_few)
        with pytest.raises(ObjectStoreUnavailableError):
            await ActivityEnvironment().run(erasing.delete_account_objects, account_of(full))
    await ActivityEnvironment().run(erasing.delete_account_objects, account_of(full))
    assert await objects_of(object_store, full) == others(full)


async def test_only_the_accounts_own_folders_are_asked_for(
    database: Database, digester: KeyDigester, other: Caller, idle_temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryObjectStore()
    full = await full_account(database, digester, store, other)
    list_keys, asked = store.list_keys, list[str]()

    async def noted(prefix: str) -> list[str]:
        asked.append(prefix)
        return await list_keys(prefix)

    monkeypatch.setattr(store, "list_keys", noted)
    erasing = ErasingActivities(database, store, TemporalGateway(idle_temporal))
    await ActivityEnvironment().run(erasing.delete_account_objects, account_of(full))
    own = (str(full.caller.account_id), full.word, *map(str, full.job_ids))
    assert asked
    assert [prefix for prefix in asked if not any(each in prefix for each in own)] == []


async def test_a_folder_that_tells_of_nobody_is_found_by_its_items(
    database: Database, digester: KeyDigester, other: Caller, idle_temporal: Client
) -> None:
    store = MemoryObjectStore()
    full = await full_account(database, digester, store, other)
    await store.put(f"backfills/{full.backfill_id}/progress.json", b"not JSON", "application/json")
    await store.put(f"backfills/unnamed-{full.word}/progress.json", b"[]", "application/json")
    await store.delete(f"{own_backfills_prefix(str(full.caller.account_id))}unnamed-{full.word}")  # of an older release
    erasing = ErasingActivities(database, store, TemporalGateway(idle_temporal))
    await ActivityEnvironment().run(erasing.delete_account_objects, account_of(full))
    left = await store.list_keys("backfills/")
    assert not [key for key in left if full.backfill_id in key]
    assert [key for key in left if "unnamed" in key], "whose it is, nobody knows: the purge deletes it in its time"


async def test_rows_are_forgotten_and_the_account_is_done(
    erasing: ErasingActivities, database: Database, full: FullAccount
) -> None:
    await ActivityEnvironment().run(erasing.end_account_runs, account_of(full))
    first = await ActivityEnvironment().run(erasing.forget_account_rows, account_of(full))
    second = await ActivityEnvironment().run(erasing.forget_account_rows, account_of(full))
    assert (first.forgotten, second.forgotten) == (9, 0), (
        "a product, two items, a logo, two rates, an idempotency key, a webhook and a message"
    )
    assert await rows_that_hold(database, full.word) == {}
    unfinished = await database.read(erasure.list_unfinished, older_than=-HOUR, now=datetime.now(UTC), limit=10_000)
    assert full.caller.account_id not in unfinished


async def test_an_erasure_that_nobody_has_started_is_started_by_the_reconciler(
    database: Database, full: FullAccount, object_store: S3ObjectStore, idle_temporal: Client
) -> None:
    reconciling = ReconcilingActivities(database, object_store, TemporalGateway(idle_temporal), HOUR)
    run = idle_temporal.get_workflow_handle(erasure_workflow_id(str(full.caller.account_id)))
    for _ in range(2):  # one that has a run is left to it
        await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    description = await run.describe()
    assert (description.workflow_type, description.history_length) == ("EraseAccountWorkflow", 2)
    assert uuid.UUID(description.id.removeprefix("tryon-erase-")) == full.caller.account_id
