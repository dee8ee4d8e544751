from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
from temporalio.testing import ActivityEnvironment

import activities.device
from activities.device import Device, heartbeats
from engines.base import EngineInfo, OnStep, RenderStopped, ShouldStop
from engines.pace import Step
from runtime.object_store import ObjectStoreUnavailableError
from tests.activities.engines import FakeEngine
from tests.servers.unwilling_store import unwilling_store
from workflows.contracts import Drawing


@pytest.fixture
def device() -> Any:
    device = Device()
    yield device
    device.close()


async def test_work_runs_one_after_the_other(device: Device) -> None:
    running = threading.Semaphore(1)

    def work(on_step: OnStep, _should_stop: ShouldStop) -> bool:
        on_step("work")
        alone = running.acquire(blocking=False)
        time.sleep(0.02)
        running.release()
        return alone

    async def one() -> bool:
        return await ActivityEnvironment().run(device.run, work)

    assert all(await asyncio.gather(*(one() for _ in range(4))))


async def test_a_place_is_free_again_where_no_thread_could_be_had(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(device._threads, "submit", Mock(side_effect=RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError):
            await ActivityEnvironment().run(device.run, lambda *_: None)
    async with asyncio.timeout(10):
        assert await ActivityEnvironment().run(device.run, lambda *_: "drawn") == "drawn"


async def test_a_cancelled_activity_stops_its_work_at_the_next_stage(device: Device) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def work(on_step: OnStep, should_stop: ShouldStop) -> None:
        on_step("work")
        begun.set()
        for _ in range(1000):
            if should_stop():
                stopped.set()
                raise RenderStopped
            time.sleep(0.005)

    environment = ActivityEnvironment()
    task = asyncio.ensure_future(environment.run(device.run, work))
    await asyncio.to_thread(begun.wait, 5)
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stopped.wait, 5)


async def test_work_that_stalls_sends_no_more_heartbeats_and_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activities.device, "INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(activities.device, "STALL_SECONDS", 0.1)
    beats: list[float] = []
    stalls: list[float] = []
    device = Device(on_stall=lambda: stalls.append(time.monotonic()))
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *_: beats.append(time.monotonic())

    def work(on_step: OnStep, _should_stop: ShouldStop) -> float:
        on_step("hang")
        began = time.monotonic()
        time.sleep(0.5)
        return began

    began = await environment.run(device.run, work)
    assert beats
    assert max(beats) - began < 0.4
    assert len(stalls) == 1
    assert stalls[0] - began < 0.4
    assert device.close()


async def test_work_that_hangs_is_reported_though_its_activity_was_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """It never said a word, and nobody waits for it any more; the device is taken all the same."""
    monkeypatch.setattr(activities.device, "INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(activities.device, "STALL_SECONDS", 0.2)
    stalled, freed = asyncio.Event(), threading.Event()
    device = Device(on_stall=stalled.set)
    environment = ActivityEnvironment()

    def work(_on_step: OnStep, _should_stop: ShouldStop) -> None:
        freed.wait(10)

    running = asyncio.create_task(environment.run(device.run, work))
    await asyncio.sleep(0.05)
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not stalled.is_set()
    await asyncio.wait_for(stalled.wait(), 5)
    freed.set()
    assert device.close()


async def test_heartbeats_tell_the_step_and_what_is_left(monkeypatch: pytest.MonkeyPatch, device: Device) -> None:
    monkeypatch.setattr(activities.device, "INTERVAL_SECONDS", 0.01)
    heard: list[tuple[object, ...]] = []
    environment, beaten = ActivityEnvironment(), threading.Event()

    def on_heartbeat(*details: object) -> None:
        heard.append(details)
        if len(details) == 2:
            beaten.set()

    environment.on_heartbeat = on_heartbeat

    def work(on_step: OnStep, _should_stop: ShouldStop) -> None:
        on_step("references")
        on_step(Step("denoise", 7, 20))
        on_step("wait")
        assert beaten.wait(5)

    await environment.run(device.run, work, step_seconds=24.0)
    line, drawing = heard[-1]
    assert line == "denoise: step 7 of 20, about 6 minutes left"
    assert isinstance(drawing, Drawing)
    assert (drawing.step, drawing.steps) == (7, 20)
    assert 330 < drawing.seconds_left <= 336


async def test_a_stage_may_take_as_long_as_steps_do_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activities.device, "INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(activities.device, "STALL_SECONDS", 0.1)
    stalls: list[bool] = []
    device = Device(on_stall=lambda: stalls.append(True))

    def work(on_step: OnStep, _should_stop: ShouldStop) -> None:
        on_step(Step("denoise", 1, 4))
        time.sleep(0.3)

    await ActivityEnvironment().run(device.run, work, step_seconds=0.1)
    assert not stalls
    assert device.close()


async def test_as_many_calls_run_at_a_time_as_the_engine_takes() -> None:
    device, together = Device(parallel=3), threading.Barrier(3, timeout=5)

    def work(_on_step: OnStep, _should_stop: ShouldStop) -> None:
        together.wait()

    await asyncio.gather(*(ActivityEnvironment().run(device.run, work) for _ in range(3)))
    assert device.close()


async def test_a_cancelled_render_counts_until_it_has_stopped() -> None:
    device, engine, begun, freed = Device(parallel=2), FakeEngine.info, threading.Event(), threading.Event()

    def work(_on_step: OnStep, _should_stop: ShouldStop) -> None:
        begun.set()
        freed.wait(10)

    async def asked(ran: list[str], name: str, engine: EngineInfo | None) -> None:
        await ActivityEnvironment().run(partial(device.run, engine=engine), lambda *_: ran.append(name))

    environment, ran = ActivityEnvironment(), list[str]()
    cancelled = asyncio.create_task(environment.run(partial(device.run, engine=engine), work))
    await asyncio.to_thread(begun.wait, 5)
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    following = asyncio.create_task(asked(ran, "render", engine))
    await asyncio.sleep(0.05)
    await asked(ran, "person", None)
    assert ran == ["person"]
    freed.set()
    await asyncio.wait_for(following, 5)
    assert device.close()


async def test_thread_that_hangs_is_not_waited_for_for_ever() -> None:
    device, begun, released = Device(), threading.Event(), threading.Event()

    def work(_on_step: OnStep, _should_stop: ShouldStop) -> None:
        begun.set()
        released.wait(10)

    task = asyncio.ensure_future(ActivityEnvironment().run(device.run, work))
    await asyncio.to_thread(begun.wait, 5)
    assert not await asyncio.to_thread(device.close, 0.05)
    released.set()
    await task
    assert device.close()


async def test_a_step_gives_up_a_silent_store_before_its_attempt_is_over() -> None:
    async with unwilling_store() as store:
        client = store.client()

        async def step() -> None:
            async with heartbeats():
                await client.get("x")

        environment = ActivityEnvironment()
        environment.info = replace(environment.info, start_to_close_timeout=timedelta(seconds=2))
        with pytest.raises(ObjectStoreUnavailableError):
            async with asyncio.timeout(2):
                await environment.run(step)
