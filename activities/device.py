"""One device: whatever uses it runs in its threads, as many at a time as its engines take, and reports progress.

While a call waits for its turn or makes progress, heartbeats go to Temporal. A call that stalls stops sending them,
so that Temporal gives the job to another worker; a call whose activity is cancelled stops at its next stage. What
somebody waits for goes first; a backfill's work fills the gaps.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from opentelemetry.trace import Span, Tracer
from temporalio import activity

from engines.base import EngineInfo, OnStep, RenderResult, ShouldStop
from engines.pace import Countdown, progress_words
from runtime.metric_catalogue import DEVICE_SECONDS
from runtime.metrics import SdkMeter, activity_meter
from runtime.object_store import waiting_at_most
from workflows.contracts import Drawing

INTERVAL_SECONDS = 2.0


@asynccontextmanager
async def heartbeats(spent: float = 0.0) -> AsyncIterator[None]:
    """Send a heartbeat every two seconds for as long as the block runs and the event loop turns.

    So many seconds of the attempt are ``spent`` before it.

    A step that is tried in the workflow's own worker sends none: the worker itself tells the server that it lives.

    The store is waited for less long than the attempt may take: a step can say then that it is away, and no thread goes
    on when the attempt is over. A quarter of the attempt, or ten seconds, is left for the step's own work.
    """
    attempt = activity.info()
    seconds = attempt.start_to_close_timeout.total_seconds() if attempt.start_to_close_timeout else math.inf

    async def beat() -> None:
        while not attempt.is_local:
            activity.heartbeat()
            await asyncio.sleep(INTERVAL_SECONDS)

    beating = asyncio.create_task(beat())
    try:
        with waiting_at_most(max(1.0, seconds - spent - min(10.0, seconds / 4))):
            yield
    finally:
        beating.cancel()


class Turns:
    """A number of places, given to those who wait.

    Urgent work goes before patient work, each in the order of asking. An engine has no more of the places than it
    declares (`EngineInfo.parallel`): what waits for one of these lets others pass. Work that is under way is not
    interrupted, so whoever gives a place back may say that more urgent work follows at once: patient work then stands
    back a moment longer, rather than taking the place between two steps of the same job.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._taken = Counter[str]()  # by engine
        self._asked: list[tuple[asyncio.Future[None], bool, EngineInfo | None]] = []
        self._held_until = 0.0

    async def take(self, *, urgent: bool, engine: EngineInfo | None = None) -> None:
        """Wait for a place; if an engine is named, for one that it may have."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked.append((turn, urgent, engine))
        if urgent:
            self._held_until = 0.0  # what was waited for has come
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given in the very moment
                self.give_back(engine)
            raise

    def give_back(self, engine: EngineInfo | None = None, *, hold_seconds: float = 0.0) -> None:
        """Leave the place to the next; patient work stands back so long for urgent work that follows."""
        self._free += 1
        if engine:
            self._taken[engine.name] -= 1
        if hold_seconds:
            loop = asyncio.get_running_loop()
            self._held_until = loop.time() + hold_seconds
            loop.call_at(self._held_until, self._hand_out)
        self._hand_out()

    def _hand_out(self) -> None:
        held = asyncio.get_running_loop().time() < self._held_until
        for turn, urgent, engine in sorted(self._asked, key=lambda asked: not asked[1]):
            full = self._free < 1 or (engine and self._taken[engine.name] >= engine.parallel)
            if turn.done() or full or (held and not urgent):
                continue
            self._free -= 1
            if engine:
                self._taken[engine.name] += 1
            turn.set_result(None)
        self._asked = [asked for asked in self._asked if not asked[0].done()]


Result = TypeVar("Result")

Work = Callable[[OnStep, ShouldStop], Result]


@contextmanager
def device_span(tracer: Tracer, step: str, engine: str) -> Iterator[DeviceWatch]:
    """A span around a step on the device, by whose name (``segment`` or ``render``) it goes; inside its activity."""
    with tracer.start_as_current_span(step, attributes={"tryon.engine": engine}) as span:
        yield DeviceWatch(span, {"step": step, "engine": engine}, activity_meter())


@dataclass
class DeviceWatch:
    """Watches one call."""

    span: Span
    labels: dict[str, str]
    meter: SdkMeter

    def over(self, work: Work[Result]) -> Work[Result]:
        """The same work, watched: its time on the device alone, each stage an event of the span."""

        def watched(on_step: OnStep, should_stop: ShouldStop) -> Result:
            def on_watched_step(stage: str) -> None:
                self.span.add_event(stage)
                on_step(stage)

            began = time.monotonic()
            try:
                return work(on_watched_step, should_stop)
            finally:
                # Here, in the device's thread, so that what nobody waits for any more counts too.
                self.meter.record(DEVICE_SECONDS, time.monotonic() - began, **self.labels)

        return watched

    def describe(self, result: RenderResult) -> None:
        """Put the engine's own timings and the number of its tries on the span."""
        timings = {f"tryon.timing.{name}_ms": milliseconds for name, milliseconds in result.timings_ms.items()}
        self.span.set_attributes({**timings, "tryon.tries": result.checks.get("tries", 1)})


STALL_SECONDS = 90.0
"""A stage that takes longer is taken for hung; loading a large model is not a stage, it happens before polling."""

STALL_STEPS = 10
"""Where a step of the network takes long, so many of its times are allowed for a stage."""


class _Progress:
    """What the device thread tells the event loop."""

    def __init__(self, step_seconds: float) -> None:
        self.stage = "waiting for the device"
        self.stop = threading.Event()
        self._countdown = Countdown(step_seconds)
        self._stall_seconds = max(STALL_SECONDS, STALL_STEPS * step_seconds)
        self._moved_at: float | None = None

    def begin(self) -> None:
        """The call has the device now: whatever it does, the time counts."""
        self._moved_at = time.monotonic()

    def on_step(self, stage: str) -> None:
        self.stage, self._moved_at = stage, time.monotonic()
        self._countdown.hear(stage)

    @property
    def alive(self) -> bool:
        return self._moved_at is None or time.monotonic() - self._moved_at < self._stall_seconds

    @property
    def details(self) -> tuple[str | Drawing, ...]:
        """For a heartbeat: a line for people, and how far the drawing is."""
        step, left = self._countdown.step, self._countdown.seconds_left
        if step is None:
            return (self.stage,)
        drawing = Drawing(step=step.number, steps=step.steps, seconds_left=round(left, 1))
        return f"{step}: {progress_words(step.number, step.steps, left)}", drawing


class Device:
    """A pool of threads around the engines of a process.

    Args:
        parallel: How many calls run at a time, whichever engine they are for.
        on_stall: Called when a call has not moved for `STALL_SECONDS` or `STALL_STEPS`, whichever is longer: its thread
            cannot be stopped from outside, so that only a new process helps.
    """

    def __init__(self, parallel: int = 1, on_stall: Callable[[], None] = lambda: None) -> None:
        self._threads = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="device")
        self._turns = Turns(parallel)
        self._on_stall = on_stall
        self._unfinished: set[Future[Any]] = set()
        self._watches = set[asyncio.Task[None]]()

    async def run(
        self,
        work: Work[Result],
        *,
        urgent: bool = True,
        hold_seconds: float = 0.0,
        step_seconds: float = 0.0,
        engine: EngineInfo | None = None,
    ) -> Result:
        """Run ``work`` in a thread of the device from inside an activity; it blocks for as long as it needs.

        Urgent work goes before work that is not, which stands back for ``hold_seconds`` afterwards, for the next step
        of the same job. Where a step of the engine's network takes ``step_seconds``, as measured at its start, stages
        may take as long as some of these. Of renders, which name their ``engine``, no more run at a time than it takes.
        """
        progress, future = _Progress(step_seconds), None
        loop = asyncio.get_running_loop()
        give_back = partial(self._turns.give_back, engine, hold_seconds=hold_seconds)

        def begun() -> Result:
            progress.begin()
            return work(progress.on_step, progress.stop.is_set)

        beating = asyncio.create_task(self._beat(progress))
        try:
            await self._turns.take(urgent=urgent, engine=engine)
            try:
                future = self._threads.submit(begun)
            except RuntimeError:  # no thread can be had
                give_back()
                raise
            self._unfinished.add(future)
            future.add_done_callback(self._unfinished.discard)
            # Not when the call is cancelled: until its next stage the work goes on, and takes what it takes.
            future.add_done_callback(lambda _: loop.call_soon_threadsafe(give_back))
            return await asyncio.wrap_future(future)
        finally:
            progress.stop.set()
            beating.cancel()
            if future is not None and not future.done():
                # Nobody waits for it any more, but whoever comes next does: a thread that hangs keeps the device.
                watch = asyncio.create_task(self._watch(progress, future))
                self._watches.add(watch)
                watch.add_done_callback(self._watches.discard)

    async def _watch(self, progress: _Progress, future: Future[Any]) -> None:
        while not future.done():
            if not progress.alive:
                self._on_stall()
                return
            await asyncio.sleep(INTERVAL_SECONDS)

    async def _beat(self, progress: _Progress) -> None:
        while progress.alive:
            activity.heartbeat(*progress.details)
            await asyncio.sleep(INTERVAL_SECONDS)
        self._on_stall()

    def close(self, patience_seconds: float = 5.0) -> bool:
        """Refuse more work and wait for the work at hand; says whether all of it has ended.

        A thread that hangs in the device's driver never does.
        """
        self._threads.shutdown(wait=False, cancel_futures=True)
        return not wait(set(self._unfinished), timeout=patience_seconds).not_done
