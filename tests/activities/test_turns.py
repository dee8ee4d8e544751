from __future__ import annotations

import asyncio

import pytest

from activities.device import Turns


class Queue:
    """Takers of turns, and in which order they got them."""

    def __init__(self, places: int = 1) -> None:
        self.turns = Turns(places)
        self.order: list[str] = []

    async def ask(self, name: str, *, urgent: bool) -> asyncio.Task[None]:
        async def wait() -> None:
            await self.turns.take(urgent=urgent)
            self.order.append(name)

        task = asyncio.create_task(wait())
        await self.settle()
        return task

    @staticmethod
    async def settle() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    async def give_back(self, hold_seconds: float = 0.0) -> None:
        self.turns.give_back(hold_seconds=hold_seconds)
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
