"""Draws calls that arrive together in one batch; the callers do not notice each other."""

from __future__ import annotations

import copy
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from engines.base import OnStep, RenderStopped, ShouldStop

Job = TypeVar("Job")
Result = TypeVar("Result")

Run: TypeAlias = Callable[[Sequence[Job], OnStep, ShouldStop], Sequence[Result | Exception]]
"""Draws a batch and returns one result per job, never None; an exception stands in place of a job that failed alone. It
is told to stop once every caller has left."""

WAIT = "wait"
"""The stage that a caller is told while its batch reports nothing new."""

BREATH_S = 0.5
"""A waiting caller reports this stage, and asks whether it should stop, at least this often."""

STILL_S = 60.0
"""After so long without progress in the running batch, callers stop reporting: the batch may hang, and only a missing
heartbeat shows that."""


@dataclass(eq=False)
class _Call(Generic[Job, Result]):
    """One caller.

    Attributes:
        job: What is to be drawn.
        arrived: By the monotonic clock.
        steps: Stages that its batch began and that the caller has not reported yet.
        outcome: What it waits for.
        left: Whether it has gone.
    """

    job: Job
    arrived: float
    steps: deque[str] = field(default_factory=deque)
    outcome: Result | BaseException | None = None
    left: bool = False

    @property
    def has_news(self) -> bool:
        return bool(self.steps) or self.outcome is not None


class MicroBatcher(Generic[Job, Result]):
    """Collects jobs of several threads into batches and runs one batch at a time.

    The batches run in a thread of their own, which lives as long as there are jobs. Callbacks of a caller are called
    in the caller's own thread.

    Args:
        run: Draws a batch.
        most: Jobs in a batch at most.
        wait_s: How long the first job of a batch waits for others.
        still_s: How long callers go on reporting while the running batch makes no progress. It may be changed when it
            is known how long a step takes.
    """

    def __init__(self, run: Run[Job, Result], *, most: int, wait_s: float, still_s: float = STILL_S) -> None:
        self._run = run
        self._most = most
        self._wait_s = wait_s
        self.still_s = still_s
        self._changed = threading.Condition()
        self._waiting: deque[_Call[Job, Result]] = deque()
        self._working = False
        self._batch_moved_at: float | None = None
        """By the monotonic clock; None while no batch is in work."""

    def submit(self, job: Job, on_step: OnStep, should_stop: ShouldStop) -> Result:
        """Have one job drawn, together with the other waiting jobs.

        Args:
            job: What to draw.
            on_step: Called with the stages of the batch, and with `WAIT` at least every `BREATH_S` seconds while the
                running batch makes progress.
            should_stop: Asked as often, even without progress.

        Raises:
            RenderStopped: ``should_stop`` said so; the others of the batch go on.
            Exception: The batch failed, or this job in it; each caller raises an object of its own.
        """
        call: _Call[Job, Result] = _Call(job, time.monotonic())
        self._enter(call)
        try:
            while call.outcome is None:
                if should_stop():
                    raise RenderStopped
                for name in self._news(call):
                    on_step(name)
        finally:
            self._leave(call)
        if isinstance(call.outcome, BaseException):
            raise call.outcome
        return call.outcome

    def _enter(self, call: _Call[Job, Result]) -> None:
        with self._changed:
            if not self._working:
                # The thread waits for this lock. It is started first, so that nothing has changed if it cannot start.
                threading.Thread(target=self._work, name="fashn batches", daemon=True).start()
                self._working = True
            self._waiting.append(call)
            self._changed.notify_all()

    def _leave(self, call: _Call[Job, Result]) -> None:
        with self._changed:
            call.left = True
            if call in self._waiting:
                self._waiting.remove(call)
            self._changed.notify_all()

    def _news(self, call: _Call[Job, Result]) -> list[str]:
        """Wait for a stage to report to the caller; None once the outcome is there."""
        with self._changed:
            self._changed.wait_for(lambda: call.has_news, timeout=BREATH_S)
            steps = list(call.steps)
            call.steps.clear()
            return steps or ([] if call.outcome is not None or self._is_still() else [WAIT])

    def _is_still(self) -> bool:
        moved_at = self._batch_moved_at
        return moved_at is not None and time.monotonic() - moved_at >= self.still_s

    def _work(self) -> None:
        while batch := self._next_batch():
            self._run_batch(batch)

    def _next_batch(self) -> list[_Call[Job, Result]]:
        """The calls to draw next, once enough are there or the first has waited long enough; none ends the thread."""
        with self._changed:
            while self._waiting and len(self._waiting) < self._most:
                left = self._waiting[0].arrived + self._wait_s - time.monotonic()
                if left <= 0 or not self._changed.wait(timeout=left):
                    break
            batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            self._working = bool(batch)
            self._batch_moved_at = time.monotonic() if batch else None
            return batch

    def _run_batch(self, batch: list[_Call[Job, Result]]) -> None:
        def on_step(name: str) -> None:
            with self._changed:
                self._batch_moved_at = time.monotonic()
                for call in batch:
                    call.steps.append(name)
                self._changed.notify_all()

        def should_stop() -> bool:
            return all(call.left for call in batch)

        outcomes: Sequence[Result | BaseException]
        try:
            outcomes = self._run([call.job for call in batch], on_step, should_stop)
            if len(outcomes) != len(batch):
                raise ValueError(f"{len(outcomes)} results for {len(batch)} jobs")
        except BaseException as error:  # noqa: BLE001 - every caller raises it; nobody must be left waiting
            outcomes = [_own(error) for _ in batch]
        with self._changed:
            self._batch_moved_at = None
            for call, outcome in zip(batch, outcomes, strict=True):
                call.outcome = outcome
            self._changed.notify_all()


def _own(error: BaseException) -> BaseException:
    """A copy for one caller: one object that is raised in several threads collects the tracebacks of all of them."""
    own = copy.copy(error).with_traceback(error.__traceback__)
    own.__cause__ = error.__cause__
    return own
