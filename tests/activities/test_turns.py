from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from activities.device import Turns
from engines.base import EngineInfo
from tests.activities.engines import FakeEngine

KLEIN, WARP = replace(FakeEngine.info, name="klein", parallel=2), replace(FakeEngine.info, name="warp", parallel=1)


class Queue:
    """Takers of turns, and in which order they got them."""

    def __init__(self, places: int = 1) -> None:
        self.turns = Turns(places)
        self.order: list[str] = []

    async def ask(self, name: str, *, urgent: bool, engine: EngineInfo | None = None) -> asyncio.Task[None]:
        async def wait() -> None:
            await self.turns.take(urgent=urgent, engine=engine)
            self.order.append(name)

        task = asyncio.create_task(wait())
        await self.settle()
        return task

    @staticmethod
    async def settle() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    async def give_back(self, engine: EngineInfo | None = None, hold_seconds: float = 0.0) -> None:
        self.turns.give_back(engine, hold_seconds=hold_seconds)
        await self.settle()


async def test_urgent_work_overtakes_what_waits_and_not_what_runs() -> None:
    queue = Queue()
    for name in ("first", "second", "third"):
        await queue.ask(name, urgent=False)
    await queue.ask("urgent", urgent=True)
    await queue.ask("urgent too", urgent=True)
    assert queue.order == ["first"]
    for _ in range(4):
        await queue.give_back()
    assert queue.order == ["first", "urgent", "urgent too", "second", "third"]


async def test_no_more_have_a_turn_than_there_are_places() -> None:
    queue = Queue(places=2)
    for name in "abc":
        await queue.ask(name, urgent=True)
    assert queue.order == ["a", "b"]
    await queue.give_back()
    assert queue.order == ["a", "b", "c"]


async def test_patient_work_stands_back_for_the_next_step_of_an_urgent_job() -> None:
    queue = Queue()
    await queue.ask("segment", urgent=True)
    await queue.ask("patient", urgent=False)
    await queue.give_back(hold_seconds=60)
    assert queue.order == ["segment"]
    await queue.ask("render", urgent=True)
    assert queue.order == ["segment", "render"]
    await queue.give_back()
    assert queue.order == ["segment", "render", "patient"]


async def test_a_step_that_does_not_come_is_not_waited_for_for_long() -> None:
    queue = Queue()
    await queue.ask("segment", urgent=True)
    patient = await queue.ask("patient", urgent=False)
    await queue.give_back(hold_seconds=0.01)
    await asyncio.wait_for(patient, 5)


@pytest.mark.parametrize("granted", [False, True])
async def test_who_gives_up_waiting_holds_no_place(granted: bool) -> None:
    queue = Queue()
    await queue.ask("first", urgent=True)
    given_up = await queue.ask("given up", urgent=True)
    await queue.ask("last", urgent=False)
    if granted:
        queue.turns.give_back()  # the turn is there, and its taker has not seen it yet
    given_up.cancel()
    await queue.settle()
    if not granted:
        await queue.give_back()
    assert queue.order == ["first", "last"]


async def test_an_engine_has_no_more_turns_than_it_takes_and_others_have_what_is_left() -> None:
    queue = Queue(places=4)
    for name, engine in (("w1", WARP), ("w2", WARP), ("k1", KLEIN), ("k2", KLEIN), ("k3", KLEIN), ("person", None)):
        await queue.ask(name, urgent=True, engine=engine)
    assert queue.order == ["w1", "k1", "k2", "person"]
    await queue.give_back()
    assert queue.order[4:] == [], "the device has a place, but neither engine"
    await queue.give_back(KLEIN)
    assert queue.order[4:] == ["k3"]
    await queue.give_back(WARP)
    assert queue.order[4:] == ["k3", "w2"]


async def test_the_places_of_all_engines_are_no_more_than_the_devices() -> None:
    queue = Queue(places=2)
    for name, engine in (("k1", KLEIN), ("k2", KLEIN), ("w1", WARP)):
        await queue.ask(name, urgent=True, engine=engine)
    assert queue.order == ["k1", "k2"]
    await queue.give_back(KLEIN)
    assert queue.order == ["k1", "k2", "w1"]


async def test_urgent_work_goes_first_at_its_engine_and_keeps_no_other_waiting() -> None:
    queue = Queue(places=2)
    await queue.ask("w1", urgent=False, engine=WARP)
    await queue.ask("person", urgent=True)
    await queue.ask("w2", urgent=False, engine=WARP)
    await queue.ask("k1", urgent=False, engine=KLEIN)
    await queue.give_back(hold_seconds=60)
    assert queue.order == ["w1", "person"]
    await queue.ask("urgent", urgent=True, engine=WARP)
    assert queue.order == ["w1", "person", "k1"], "the render that the place was held for cannot have it"
    await queue.give_back(WARP)
    assert queue.order == ["w1", "person", "k1", "urgent"]


@pytest.mark.parametrize("granted", [False, True])
async def test_who_gives_up_waiting_holds_no_place_of_its_engine(granted: bool) -> None:
    queue = Queue(places=3)
    await queue.ask("first", urgent=True, engine=WARP)
    given_up = await queue.ask("given up", urgent=True, engine=WARP)
    await queue.ask("last", urgent=False, engine=WARP)
    if granted:
        queue.turns.give_back(WARP)
    given_up.cancel()
    await queue.settle()
    if not granted:
        await queue.give_back(WARP)
    assert queue.order == ["first", "last"]
