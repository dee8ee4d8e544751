"""One device: whatever uses it runs in its threads, as many at a time as the engine can take, and reports progress.

While a call waits for its turn or makes progress, heartbeats go to Temporal. A call that stalls stops sending them,
so that Temporal gives the job to another worker; a call whose activity is cancelled stops at its next stage.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from temporalio import activity

from activities.turns import Turns
from engines.base import OnStep, ShouldStop

HEARTBEAT_SECONDS = 2.0
STALL_SECONDS = 90.0
"""A stage that takes longer is taken for hung; loading a large model is not a stage, it happens before polling."""

Result = TypeVar("Result")


class _Progress:
    """What the device thread tells the event loop."""

    def __init__(self) -> None:
        self.stage = "waiting for the device"
        self._moved_at = time.monotonic()
        self._running = False
        self._stop = threading.Event()

    def on_step(self, stage: str) -> None:
        self.stage = stage
        self._moved_at = time.monotonic()
        self._running = True

    def request_stop(self) -> None:
        self._stop.set()

    def should_stop(self) -> bool:
        return self._stop.is_set()

    @property
    def alive(self) -> bool:
        return not self._running or time.monotonic() - self._moved_at < STALL_SECONDS


class Device:
    """A pool of threads around an engine.

    Args:
        parallel: How many calls run at a time, see `engines.base.EngineInfo.parallel`.
        on_stall: Called when a call has not moved for `STALL_SECONDS`: its thread cannot be stopped from outside, so
            that only a new process helps.
    """

    def __init__(self, parallel: int = 1, on_stall: Callable[[], None] = lambda: None) -> None:
        self._threads = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="device")
        self._turns = Turns(parallel)
        self._on_stall = on_stall
        self._unfinished: set[Future[Any]] = set()

    async def run(
        self, work: Callable[[OnStep, ShouldStop], Result], *, urgent: bool = True, hold_seconds: float = 0.0
    ) -> Result:
        """Run ``work`` in a thread of the device from inside an activity.

        Args:
            work: Takes the two callbacks of `engines.base` and blocks for as long as it needs.
            urgent: Whether it goes before work that is not.
            hold_seconds: How long work that is not urgent stands back afterwards, for the next step of the same job.
        """
        progress = _Progress()
        beating = asyncio.create_task(self._beat(progress))
        try:
            await self._turns.take(urgent=urgent)
            try:
                return await self._in_thread(work, progress)
            finally:
                self._turns.give_back(hold_seconds=hold_seconds)
        finally:
            progress.request_stop()
            beating.cancel()

    async def _in_thread(self, work: Callable[[OnStep, ShouldStop], Result], progress: _Progress) -> Result:
        future = self._threads.submit(work, progress.on_step, progress.should_stop)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return await asyncio.wrap_future(future)

    async def _beat(self, progress: _Progress) -> None:
        while progress.alive:
            activity.heartbeat(progress.stage)
            await asyncio.sleep(HEARTBEAT_SECONDS)
        self._on_stall()

    def close(self, patience_seconds: float = 5.0) -> bool:
        """Refuse more work and wait for the work at hand.

        Args:
            patience_seconds: How long; a thread that hangs in the device's driver never ends.

        Returns:
            Whether all of it has ended.
        """
        self._threads.shutdown(wait=False, cancel_futures=True)
        return not wait(set(self._unfinished), timeout=patience_seconds).not_done
