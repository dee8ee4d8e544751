"""The real store and the one for unit tests keep the same promises."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
from minio import Minio
from minio.error import InvalidResponseError
from pydantic import SecretStr

from runtime.object_store import (
    CONNECTIONS,
    PING_KEY,
    ObjectMissingError,
    ObjectStore,
    ObjectStoreUnavailableError,
    S3ObjectStore,
    waiting_at_most,
)
from runtime.settings import ObjectStoreSettings
from tests.memory_store import MemoryObjectStore
from tests.servers.unwilling_store import LENGTH, UnwillingStore, every_thread_is_free, unwilling_store


@pytest.fixture(params=["memory", "s3"])
def store(request: pytest.FixtureRequest) -> ObjectStore:
    found: ObjectStore = MemoryObjectStore() if request.param == "memory" else request.getfixturevalue("object_store")
    return found


@pytest.fixture
def folder() -> str:
    return f"tests/{uuid.uuid4()}/"


async def test_what_was_put_is_got(store: ObjectStore, folder: str) -> None:
    data = os.urandom(100_000)
    await store.put(f"{folder}a", data, "image/png")
    assert await store.get(f"{folder}a") == data


async def test_putting_again_replaces(store: ObjectStore, folder: str) -> None:
    await store.put(f"{folder}a", b"old", "image/png")
    await store.put(f"{folder}a", b"new", "image/png")
    assert await store.get(f"{folder}a") == b"new"


async def test_a_missing_object_is_said_to_be_missing(store: ObjectStore, folder: str) -> None:
    with pytest.raises(ObjectMissingError):
        await store.get(f"{folder}nothing")


async def test_a_prefix_is_listed_in_order_and_deleted(store: ObjectStore, folder: str) -> None:
    for name in ("b", "a/c", "z"):
        await store.put(f"{folder}{name}", b"", "image/png")
    assert await store.list_keys(folder) == [f"{folder}a/c", f"{folder}b", f"{folder}z"]
    assert await store.delete_prefix(f"{folder}a") == 1
    assert await store.delete_prefix(folder) == 2
    assert await store.delete_prefix(folder) == 0
    assert await store.list_keys(folder) == []


async def test_pages_are_listed_in_order_from_any_key_on(store: ObjectStore, folder: str) -> None:
    names = ["a/1", "a/2", "b", "c/1", "d"]
    for name in names:
        await store.put(f"{folder}{name}", b"", "image/png")
    keys = [f"{folder}{name}" for name in names]
    assert [each.key for each in await store.list_page(folder)] == keys
    assert [each.key for each in await store.list_page(folder, limit=2)] == keys[:2]
    assert [each.key for each in await store.list_page(folder, after=keys[1], limit=2)] == keys[2:4]
    assert [each.key for each in await store.list_page(folder, after=f"{folder}bb")] == keys[3:]
    assert await store.list_page(folder, after=keys[-1]) == []
    age = datetime.now(UTC) - (await store.list_page(folder))[0].written_at
    assert abs(age) < timedelta(minutes=1)
    assert await store.list_folders(folder) == ["a", "c"]
    assert await store.list_folders(f"{folder}none/") == []


async def test_many_keys_are_deleted_at_once_and_those_alone(store: ObjectStore, folder: str) -> None:
    for name in ("a", "ab", "b", "c"):
        await store.put(f"{folder}{name}", b"", "image/png")
    for _ in range(2):
        await store.delete_keys([f"{folder}a", f"{folder}b", f"{folder}was-never-there"])
    assert await store.list_keys(folder) == [f"{folder}ab", f"{folder}c"]
    assert await store.delete_prefix(folder) == 2
    assert await store.list_keys(folder) == []
    await store.delete_keys([])


async def test_an_8_mib_object_comes_back_as_it_was(object_store: S3ObjectStore, folder: str) -> None:
    data = os.urandom(8 * 1024 * 1024)
    await object_store.put(f"{folder}large", data, "image/png")
    assert await object_store.get(f"{folder}large") == data


async def test_however_large_an_object_is_it_is_one_upload(
    object_store_settings: ObjectStoreSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture of a photo of 48 megapixels has 146 MB before it is a JPEG."""
    monkeypatch.setattr(Minio, "_create_multipart_upload", Mock(side_effect=AssertionError))
    sent = Mock()
    monkeypatch.setattr(Minio, "_put_object", sent)
    await S3ObjectStore(object_store_settings).put("large", bytes(146_000_000), "image/png")
    sent.assert_called_once()


async def test_a_store_that_is_away_is_noticed_at_once() -> None:
    store = S3ObjectStore(ObjectStoreSettings(endpoint="http://127.0.0.1:1", secret_key=SecretStr("x")))
    with pytest.raises(ObjectStoreUnavailableError):
        await store.get("x")


async def test_a_wrong_secret_is_refused(
    object_store: S3ObjectStore, object_store_settings: ObjectStoreSettings
) -> None:
    wrong = object_store_settings.model_copy(update={"secret_key": SecretStr("wrong")})
    with pytest.raises(ObjectStoreUnavailableError):
        await S3ObjectStore(wrong).get("x")


async def test_deleting_one_leaves_those_whose_keys_begin_alike(store: ObjectStore, folder: str) -> None:
    for name in ("a", "ab"):
        await store.put(f"{folder}{name}", b"x", "image/png")
    for _ in range(2):
        await store.delete(f"{folder}a")
    assert await store.list_keys(folder) == [f"{folder}ab"]


async def test_a_store_without_the_bucket_is_not_ready(object_store_settings: ObjectStoreSettings) -> None:
    elsewhere = S3ObjectStore(object_store_settings.model_copy(update={"bucket": f"none-{uuid.uuid4().hex[:8]}"}))
    with pytest.raises(ObjectStoreUnavailableError, match="no bucket"):
        await elsewhere.ping()


@pytest.fixture
async def unwilling() -> AsyncIterator[UnwillingStore]:
    async with unwilling_store() as store:
        yield store


async def test_all_calls_of_a_block_wait_no_longer_than_it_allows(unwilling: UnwillingStore) -> None:
    store, began = unwilling.client(), time.monotonic()
    with waiting_at_most(1):
        stored = await asyncio.gather(
            *(store.put(f"{each}", b"x", "text/plain") for each in range(3)), return_exceptions=True
        )
        assert [type(each) for each in stored] == [ObjectStoreUnavailableError] * 3
        with pytest.raises(ObjectStoreUnavailableError):
            await store.delete_prefix("x")
    assert 1 <= time.monotonic() - began < 3


async def test_a_block_that_was_short_of_time_takes_none_of_the_next(unwilling: UnwillingStore) -> None:
    store = unwilling.client()
    with waiting_at_most(0.2), pytest.raises(ObjectStoreUnavailableError):
        await store.get("x")
    unwilling.answer = "all"
    with waiting_at_most(5):
        assert await store.get("x") == b"x" * LENGTH
    assert await store.get("x") == b"x" * LENGTH


@pytest.mark.parametrize("answer", ["nothing", "trickle"])
async def test_no_thread_waits_for_the_store_when_its_time_is_over(unwilling: UnwillingStore, answer: str) -> None:
    store, unwilling.answer = unwilling.client(), answer
    with waiting_at_most(0.5):
        calls = [store.get(f"{each}") for each in range(2 * CONNECTIONS)]
        kinds = {type(each) for each in await asyncio.gather(*calls, return_exceptions=True)}
    assert kinds == {ObjectStoreUnavailableError}
    assert await every_thread_is_free(store)


async def test_a_slow_line_has_the_time_that_it_needs_unless_the_block_is_over(unwilling: UnwillingStore) -> None:
    store, unwilling.answer = unwilling.client(connect_timeout_seconds=0.4, read_timeout_seconds=10), "slow line"
    data, began = bytes(16_000_000), time.monotonic()
    with waiting_at_most(0.6), pytest.raises(ObjectStoreUnavailableError):
        await store.put("x", data, "image/png")
    assert await every_thread_is_free(store)
    assert time.monotonic() - began < 2
    began = time.monotonic()
    await store.put("x", data, "image/png")
    assert time.monotonic() - began > 1, "no slow line"


async def test_a_store_that_takes_nothing_is_not_ready(
    object_store: S3ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await object_store.ping()
    assert PING_KEY not in await object_store.list_keys("")

    def full(*_args: object, **_kwargs: object) -> None:
        raise InvalidResponseError(507, "text/plain", "no space left")

    monkeypatch.setattr(object_store._client, "put_object", full)
    with pytest.raises(ObjectStoreUnavailableError):
        await object_store.ping()
