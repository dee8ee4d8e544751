from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

import intake.pace
import runtime.object_store
from engines.pace import Pace
from intake.job import lengthened
from intake.pace import DrawingTimes, keep_telling
from runtime.object_store import ObjectStoreUnavailableError, waiting_at_most
from tests.memory_store import MemoryObjectStore

SLOW = Pace("cpu", "bfloat16", 100.0, 30, garments_per_pass=1)
QUICK = Pace("cuda:0", "bfloat16", 0.2, 4, garments_per_pass=4)


async def tell(store: MemoryObjectStore, *paces: Pace, host: str = "one") -> None:
    telling = asyncio.create_task(keep_telling(store, paces, host))
    await asyncio.sleep(0)
    telling.cancel()


async def seconds(store: MemoryObjectStore) -> list[float]:
    return [await DrawingTimes(store).seconds_for(garments) for garments in (1, 2, 4)]


async def test_nobody_tells() -> None:
    assert await seconds(MemoryObjectStore()) == [0, 0, 0]


async def test_the_slowest_engine_of_the_slowest_machine_counts() -> None:
    store = MemoryObjectStore()
    await tell(store, QUICK, host="one")
    assert await seconds(store) == [0.8, 0.8, 0.8]
    await tell(store, QUICK, SLOW, host="two")
    assert await seconds(store) == [3000, 6000, 12_000]


async def test_a_machine_that_starts_anew_tells_its_new_time() -> None:
    store = MemoryObjectStore()
    await tell(store, SLOW)
    await tell(store, QUICK)
    assert await seconds(store) == [0.8, 0.8, 0.8]
    await tell(store)  # an engine that has nothing to tell
    assert await store.list_keys("") == []


async def test_a_machine_that_is_gone_is_forgotten() -> None:
    store = MemoryObjectStore()
    await tell(store, SLOW, host="gone")
    store.written_at["workers/gone.json"] = datetime.now(UTC) - timedelta(hours=23)
    assert await seconds(store) == [3000, 6000, 12_000]
    store.written_at["workers/gone.json"] -= timedelta(hours=2)
    assert await seconds(store) == [0, 0, 0]
    await tell(store, QUICK)
    await asyncio.sleep(0)
    assert await store.list_keys("") == ["workers/one.json"]


async def test_what_is_no_time_is_passed_over() -> None:
    store = MemoryObjectStore()
    await store.put("workers/a.json", b"of another release", "application/json")
    await tell(store, QUICK)
    assert await seconds(store) == [0.8, 0.8, 0.8]


class AwayStore(MemoryObjectStore):
    away = True

    async def list_page(self, prefix: str, **how: object) -> Sequence[object]:  # type: ignore[override]
        if self.away:
            raise ObjectStoreUnavailableError
        return await super().list_page(prefix)

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        if self.away:
            raise ObjectStoreUnavailableError
        await super().put(key, data, content_type)


async def test_while_the_store_is_away_the_last_time_counts_and_telling_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intake.pace, "TOLD_AGAIN_SECONDS", 0)
    now = 0.0
    store = AwayStore()
    times = DrawingTimes(store, lambda: now)
    telling = asyncio.create_task(keep_telling(store, [SLOW], "one"))
    assert await times.seconds_for(1) == 0
    await asyncio.sleep(0.01)
    store.away = False
    while not store.objects:
        await asyncio.sleep(0)
    assert await times.seconds_for(1) == 3000, "a look that failed is none"
    store.away, now = True, now + intake.pace.LOOK_SECONDS
    assert await times.seconds_for(1) == 3000
    telling.cancel()


async def test_all_wait_for_the_first_look_and_then_nobody_for_one_of_others() -> None:
    store, now, waiting = MemoryObjectStore(), 0.0, asyncio.Event()
    await tell(store, SLOW)
    read = store.list_page

    async def slowly(prefix: str) -> object:
        await waiting.wait()
        return await read(prefix)

    store.list_page = slowly  # type: ignore[method-assign,assignment]
    times = DrawingTimes(store, lambda: now)
    first, second = (asyncio.create_task(times.seconds_for(1)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    waiting.set()
    assert await second == 3000
    waiting.clear()
    now += intake.pace.LOOK_SECONDS
    third = asyncio.create_task(times.seconds_for(1))
    await asyncio.sleep(0)
    assert await times.seconds_for(1) == 3000
    waiting.set()
    assert await third == 3000


async def test_whoever_has_no_time_left_for_the_store_takes_none_from_the_others() -> None:
    store = MemoryObjectStore()
    await tell(store, SLOW)
    read = store.list_page

    async def heeding(prefix: str) -> object:
        runtime.object_store._seconds_left(runtime.object_store._PATIENCE.get())
        return await read(prefix)

    store.list_page = heeding  # type: ignore[method-assign,assignment]
    times = DrawingTimes(store)
    with waiting_at_most(0):
        first = asyncio.create_task(times.seconds_for(1))
    assert [await first, await times.seconds_for(1)] == [3000, 3000]


@pytest.mark.parametrize(("drawing", "deadline"), [(0, 300), (75, 300), (600, 2400), (30_000, 86_400)])
def test_a_deadline_holds_four_drawings_and_is_a_day_at_most(drawing: float, deadline: float) -> None:
    assert lengthened(timedelta(seconds=300), drawing) == timedelta(seconds=deadline)
