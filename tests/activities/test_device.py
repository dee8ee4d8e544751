from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

import activities.device
from activities.device import Device
from engines.base import OnStep, RenderStopped, ShouldStop


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


async def test_work_that_stalls_sends_no_more_heartbeats(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activities.device, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(activities.device, "STALL_SECONDS", 0.1)
    beats: list[float] = []
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
