from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from temporalio.testing import ActivityEnvironment

from activities.drafts import drafts_of
from runtime.object_store import ObjectStoreUnavailableError
from tests.memory_store import MemoryObjectStore

KEY = "jobs/j/work/draft"


async def test_a_draft_is_among_the_jobs_own_objects_and_there_for_the_next_attempt() -> None:
    store = MemoryObjectStore()
    async with drafts_of(store, "j") as drafts:
        assert await asyncio.to_thread(drafts.load, "draft") is None
        await asyncio.to_thread(drafts.save, "draft", b"half")
    assert await store.list_keys("") == [KEY]
    async with drafts_of(store, "j") as drafts:
        assert await asyncio.to_thread(drafts.load, "draft") == b"half"


class SlowStore(MemoryObjectStore):
    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.written: list[bytes] = []

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self.go_on.wait()
        self.written.append(data)
        await super().put(key, data, content_type)


async def test_the_device_does_not_wait_for_a_store_that_is_slower() -> None:
    store = SlowStore()
    async with drafts_of(store, "j") as drafts:
        for data in (b"first", b"second", b"third"):
            await asyncio.to_thread(drafts.save, "draft", data)
        store.go_on.set()
    assert await store.get(KEY) == b"third"
    assert store.written == [b"first", b"third"]


async def test_nothing_is_written_after_the_attempt() -> None:
    store, begun, over = SlowStore(), threading.Event(), threading.Event()

    def step_that_outlives_its_job(save: Callable[[str, bytes], None]) -> None:
        save("draft", b"in time")
        begun.set()
        assert over.wait(5)
        save("late", b"too late")

    async with drafts_of(store, "j") as drafts:
        step = asyncio.create_task(asyncio.to_thread(step_that_outlives_its_job, drafts.save))
        await asyncio.to_thread(begun.wait, 5)
        store.go_on.set()
    assert await store.list_keys("") == [KEY], "what was being written is waited for"
    over.set()
    await step
    assert await store.list_keys("") == [KEY]


class AwayStore(MemoryObjectStore):
    async def put(self, key: str, data: bytes, content_type: str) -> None:
        raise ObjectStoreUnavailableError

    async def get(self, key: str) -> bytes:
        raise ObjectStoreUnavailableError


async def test_a_store_that_is_away_costs_the_draft_and_not_the_picture() -> None:
    async def attempt() -> None:
        async with drafts_of(AwayStore(), "j") as drafts:
            assert await asyncio.to_thread(drafts.load, "draft") is None
            await asyncio.to_thread(drafts.save, "draft", b"half")

    await ActivityEnvironment().run(attempt)
