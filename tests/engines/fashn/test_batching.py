from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from engines.base import DeviceOutOfMemory, EngineError, OnStep, RenderStopped, ShouldStop
from engines.fashn import batching
from engines.fashn.batching import WAIT, MicroBatcher

LONG_S = 20.0
"""No test waits that long; whoever waits for it has lost something."""

OVER = threading.Event()
"""Set once a test is over, so that callers who were forgotten do not wait on."""

GO_ON: ShouldStop = OVER.is_set
SILENT: OnStep = lambda _: None  # noqa: E731


class FakeSampler:
    """Draws the square of each job, in two steps between which a test can hold it."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.threads: set[str] = set()
        self.begun = threading.Semaphore(0)
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.stopped = threading.Event()
        self.failure: BaseException | None = None

    def __call__(self, jobs: Sequence[int], on_step: OnStep, should_stop: ShouldStop) -> Sequence[int | Exception]:
        self.batches.append(list(jobs))
        self.threads.add(threading.current_thread().name)
        on_step("first")
        self.begun.release()
        assert self.may_go_on.wait(LONG_S)
        if should_stop():
            self.stopped.set()
            raise RenderStopped
        on_step("second")
        if self.failure is not None:
            raise self.failure
        return [ValueError(f"{job} is odd") if job % 2 and job > 100 else job * job for job in jobs]

    def wait_until_it_runs(self) -> None:
        assert self.begun.acquire(timeout=LONG_S)


@pytest.fixture
def sampler() -> FakeSampler:
    return FakeSampler()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    OVER.clear()
    with ThreadPoolExecutor(16) as threads:
        yield threads
        OVER.set()
    OVER.clear()


def together(sampler: FakeSampler, most: int) -> MicroBatcher[int, int]:
    """One that waits until as many jobs are there as it takes."""
    return MicroBatcher(sampler, most=most, wait_s=LONG_S)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_one_call_alone(sampler: FakeSampler) -> None:
    batcher = MicroBatcher(sampler, most=8, wait_s=0.001)
    assert batcher.submit(7, SILENT, GO_ON) == 49
    assert batcher.submit(8, SILENT, GO_ON) == 64
    assert sampler.batches == [[7], [8]]


def test_calls_that_come_together_share_a_run_and_get_their_own(sampler: FakeSampler, pool: ThreadPoolExecutor) -> None:
    batcher = together(sampler, 4)
    results = [pool.submit(batcher.submit, number, SILENT, GO_ON) for number in range(4)]
    assert [result.result(LONG_S) for result in results] == [0, 1, 4, 9]
    assert [sorted(batch) for batch in sampler.batches] == [[0, 1, 2, 3]]


def test_no_more_than_fit_into_a_batch(sampler: FakeSampler, pool: ThreadPoolExecutor) -> None:
    sampler.may_go_on.clear()
    batcher = MicroBatcher(sampler, most=3, wait_s=0.0)
    first = pool.submit(batcher.submit, 0, SILENT, GO_ON)
    sampler.wait_until_it_runs()
    others = [pool.submit(batcher.submit, number, SILENT, GO_ON) for number in range(1, 8)]
    wait_for(lambda: len(batcher._waiting) == 7)
    sampler.may_go_on.set()
    assert [result.result(LONG_S) for result in (first, *others)] == [number**2 for number in range(8)]
    assert [len(batch) for batch in sampler.batches] == [1, 3, 3, 1]


def test_first_job_waits_no_longer_than_it_was_told(sampler: FakeSampler) -> None:
    started = time.monotonic()
    MicroBatcher(sampler, most=2, wait_s=0.05).submit(1, SILENT, GO_ON)
    assert 0.05 <= time.monotonic() - started < LONG_S / 4


def test_steps_go_to_everybody_in_their_own_thread(sampler: FakeSampler, pool: ThreadPoolExecutor) -> None:
    batcher = together(sampler, 2)
    told: list[list[tuple[str, int]]] = [[], []]

    def call(number: int) -> int:
        batcher.submit(number, lambda name: told[number].append((name, threading.get_ident())), GO_ON)
        return threading.get_ident()

    threads = list(pool.map(call, range(2), timeout=LONG_S))
    for number in range(2):
        assert [name for name, _ in told[number] if name != WAIT] == ["first", "second"]
        assert {thread for _, thread in told[number]} == {threads[number]}


def test_failure_of_one_job_is_its_own(sampler: FakeSampler, pool: ThreadPoolExecutor) -> None:
    batcher = together(sampler, 2)
    good, bad = (pool.submit(batcher.submit, number, SILENT, GO_ON) for number in (102, 103))
    assert good.result(LONG_S) == 102 * 102
    with pytest.raises(ValueError, match="103 is odd"):
        bad.result(LONG_S)


@pytest.mark.parametrize(
    "failure", [DeviceOutOfMemory("too much"), KeyError("odd"), SystemExit(), EngineError("pose_not_usable", "bent")]
)
def test_failure_of_a_batch_is_everybodys_and_the_next_goes_on(
    sampler: FakeSampler, pool: ThreadPoolExecutor, failure: BaseException
) -> None:
    batcher = together(sampler, 2)
    sampler.failure = failure
    calls = [pool.submit(batcher.submit, number, SILENT, GO_ON) for number in range(2)]
    errors = [call.exception(LONG_S) for call in calls]
    assert [(type(error), str(error)) for error in errors] == [(type(failure), str(failure))] * 2
    assert errors[0] is not errors[1]
    assert getattr(errors[0], "code", None) == getattr(failure, "code", None)
    sampler.failure = None
    again = [pool.submit(batcher.submit, number, SILENT, GO_ON) for number in range(2)]
    assert [result.result(LONG_S) for result in again] == [0, 1]


def test_too_few_results_are_a_failure(pool: ThreadPoolExecutor) -> None:
    batcher: MicroBatcher[int, int] = MicroBatcher(lambda jobs, _step, _stop: jobs[:1], most=2, wait_s=LONG_S)
    for result in [pool.submit(batcher.submit, number, SILENT, GO_ON) for number in range(2)]:
        assert isinstance(result.exception(LONG_S), ValueError)


def test_caller_who_stops_leaves_at_once_and_the_other_goes_on(
    sampler: FakeSampler, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "BREATH_S", 0.01)
    sampler.may_go_on.clear()
    batcher, stop = together(sampler, 2), threading.Event()
    leaver = pool.submit(batcher.submit, 2, SILENT, stop.is_set)
    stayer = pool.submit(batcher.submit, 3, SILENT, GO_ON)
    sampler.wait_until_it_runs()
    stop.set()
    assert isinstance(leaver.exception(LONG_S), RenderStopped)
    assert not stayer.done()
    sampler.may_go_on.set()
    assert stayer.result(LONG_S) == 9
    assert not sampler.stopped.is_set()


def test_run_stops_when_all_have_left(
    sampler: FakeSampler, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "BREATH_S", 0.01)
    sampler.may_go_on.clear()
    batcher, stop = together(sampler, 2), threading.Event()
    calls: list[Future[int]] = [pool.submit(batcher.submit, number, SILENT, stop.is_set) for number in range(2)]
    sampler.wait_until_it_runs()
    stop.set()
    assert all(isinstance(call.exception(LONG_S), RenderStopped) for call in calls)
    sampler.may_go_on.set()
    assert sampler.stopped.wait(LONG_S)


def test_caller_who_leaves_before_the_batch_begins_is_not_drawn(
    sampler: FakeSampler, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "BREATH_S", 0.01)
    batcher, stop = together(sampler, 2), threading.Event()
    leaver = pool.submit(batcher.submit, 1, SILENT, stop.is_set)
    wait_for(lambda: len(batcher._waiting) == 1)
    stop.set()
    assert isinstance(leaver.exception(LONG_S), RenderStopped)
    stayers = [pool.submit(batcher.submit, number, SILENT, GO_ON) for number in (2, 3)]
    assert [stayer.result(LONG_S) for stayer in stayers] == [4, 9]
    assert [sorted(batch) for batch in sampler.batches] == [[2, 3]]


def test_caller_who_should_stop_from_the_start_draws_nothing(sampler: FakeSampler) -> None:
    with pytest.raises(RenderStopped):
        together(sampler, 2).submit(1, SILENT, lambda: True)
    assert sampler.batches == []


def test_waiting_caller_says_so(
    sampler: FakeSampler, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert batching.BREATH_S < 1.0
    monkeypatch.setattr(batching, "BREATH_S", 0.005)
    told: list[str] = []
    batcher = together(sampler, 2)
    first = pool.submit(batcher.submit, 1, told.append, GO_ON)
    wait_for(lambda: len(told) >= 3)
    assert set(told) == {WAIT}
    second = pool.submit(batcher.submit, 2, SILENT, GO_ON)
    assert (first.result(LONG_S), second.result(LONG_S)) == (1, 4)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The batcher's clock, which stands at ``now`` until a test moves it."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(batching, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(batching, "BREATH_S", 0.005)
    return clock


@pytest.mark.parametrize("in_the_batch", [True, False], ids=["in the batch", "waiting for it"])
def test_callers_fall_silent_with_a_batch_that_does_not_move(
    sampler: FakeSampler, pool: ThreadPoolExecutor, clock: SimpleNamespace, in_the_batch: bool
) -> None:
    sampler.may_go_on.clear()
    told: list[str] = []
    asked: list[bool] = []

    def should_stop() -> bool:
        asked.append(OVER.is_set())
        return asked[-1]

    def wait_for_breaths(number: int) -> None:
        until = len(asked) + number
        wait_for(lambda: len(asked) >= until)

    batcher = MicroBatcher(sampler, most=1, wait_s=0.0, still_s=60.0)
    if in_the_batch:
        calls = [pool.submit(batcher.submit, 2, told.append, should_stop)]
        sampler.wait_until_it_runs()
    else:
        calls = [pool.submit(batcher.submit, 1, SILENT, GO_ON)]
        sampler.wait_until_it_runs()
        calls.append(pool.submit(batcher.submit, 2, told.append, should_stop))
    clock.now = 59.0
    wait_for(lambda: told.count(WAIT) > 2)
    clock.now = 61.0
    wait_for_breaths(2)
    silent = len(told)
    wait_for_breaths(10)
    assert len(told) == silent
    sampler.may_go_on.set()
    assert [call.result(LONG_S) for call in calls] == [number**2 for number in range(3 - len(calls), 3)]
    assert len(told) > silent


def test_waiting_caller_says_so_as_long_as_the_batch_before_moves(
    pool: ThreadPoolExecutor, clock: SimpleNamespace
) -> None:
    begun, told = threading.Event(), list[str]()

    def run(jobs: Sequence[int], on_step: OnStep, _should_stop: ShouldStop) -> Sequence[int]:
        for _ in range(5):
            clock.now += 59.0
            on_step("moving")
            begun.set()
            heard = len(told) + 1
            wait_for(lambda heard=heard: jobs == [2] or len(told) > heard)  # type: ignore[misc]
        return jobs

    batcher: MicroBatcher[int, int] = MicroBatcher(run, most=1, wait_s=0.0, still_s=60.0)
    first = pool.submit(batcher.submit, 1, SILENT, GO_ON)
    assert begun.wait(LONG_S)
    second = pool.submit(batcher.submit, 2, told.append, GO_ON)
    assert (first.result(LONG_S), second.result(LONG_S)) == (1, 2)


def test_callback_that_fails_takes_its_caller_out(
    sampler: FakeSampler, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "BREATH_S", 0.01)

    def fail(_name: str) -> None:
        raise ConnectionError("no heartbeat")

    batcher = together(sampler, 2)
    assert isinstance(pool.submit(batcher.submit, 1, fail, GO_ON).exception(LONG_S), ConnectionError)
    assert not batcher._waiting


def test_its_thread_ends_with_the_last_job(sampler: FakeSampler) -> None:
    batcher = MicroBatcher(sampler, most=2, wait_s=0.0)
    batcher.submit(1, SILENT, GO_ON)
    wait_for(lambda: not any(thread.name in sampler.threads for thread in threading.enumerate()))
    assert batcher.submit(2, SILENT, GO_ON) == 4


def test_thread_that_cannot_be_started_keeps_nobody_waiting(
    sampler: FakeSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    batcher = MicroBatcher(sampler, most=2, wait_s=0.0)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError, match="new thread"):
            batcher.submit(1, SILENT, GO_ON)
    assert batcher.submit(2, SILENT, GO_ON) == 4
