from __future__ import annotations

import asyncio

import pytest

from activities.objects import put_object
from tests.memory_store import MemoryObjectStore


async def test_a_write_that_is_cancelled_is_over_when_its_step_is() -> None:
    """The store's thread goes on with it, and the job's clean-up comes next."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    class SlowStore(MemoryObjectStore):
        async def put(self, key: str, data: bytes, content_type: str) -> None:
            begun.set()
            await go_on.wait()
            await super().put(key, data, content_type)

    store = SlowStore()
    step = asyncio.create_task(put_object(store, "jobs/j/work/rendered.png", b"", "image/png"))
    await begun.wait()
    step.cancel()
    done, _ = await asyncio.wait([step], timeout=0.05)
    assert not done
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert await store.list_keys("") == ["jobs/j/work/rendered.png"]
