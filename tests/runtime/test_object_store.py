"""The real store and the one for unit tests keep the same promises."""

from __future__ import annotations

import os
import uuid

import pytest
from pydantic import SecretStr

from runtime.object_store import (
    MemoryObjectStore,
    ObjectMissingError,
    ObjectStore,
    ObjectStoreUnavailableError,
    S3ObjectStore,
)
from runtime.settings import ObjectStoreSettings


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


async def test_an_8_mib_object_is_one_upload(object_store: S3ObjectStore, folder: str) -> None:
    data = os.urandom(8 * 1024 * 1024)
    await object_store.put(f"{folder}large", data, "image/png")
    assert await object_store.get(f"{folder}large") == data


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
