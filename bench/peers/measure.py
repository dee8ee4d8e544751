"""What is measured of a peer: latency, jobs a second, processor time, and what is lost when its workers are killed."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import psutil
from sqlalchemy import func, select

from bench.figures import Figure
from bench.peers.contestants import CLIENT, Peer, account_of
from domain.jobs import jobs
from domain.tables import Job, LedgerEntry

AT_ONCE = 16
ENGINE_SECONDS = 1
"""How long the stub takes where it takes any time. A rehearsal's script knows whole seconds alone."""

WARMING = 4
LOOK_SECONDS = 0.005  # between two looks at the rows of the jobs that are waited for
STRUCK_JOBS_A_SECOND = 5.0
"""While workers are killed. On two quiet cores each peer does more, so what is late is late because of the kills."""

LOOK_AGAIN_SECONDS = 1.0  # while what is late is waited for
UP_SECONDS = 5.0  # for workers that have just been started
PATIENCE_SECONDS = 120.0
"""After the last kill. What is not completed by then is taken for lost."""

SEED = 20

CompleteJob = Callable[[int], float]
"""Has a job done whose engine takes so many seconds, and says in how many milliseconds it was."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Attributes:
        alone: Jobs one after the other.
        crowd: Jobs with `AT_ONCE` in flight.
        slow_alone: Like ``alone``, with an engine that takes `ENGINE_SECONDS`.
        slow_crowd: Like ``crowd``, with that engine.
        struck: Jobs while workers are killed.
        kills: How often; with none of them, that part is left out.
    """

    alone: int = 40
    crowd: int = 200
    slow_alone: int = 10
    slow_crowd: int = 32
    struck: int = 500
    kills: int = 20


QUICK = Sizes(alone=5, crowd=5, slow_alone=1, slow_crowd=2, struck=0, kills=0)


class Customers:
    """Accept jobs as the API does, hand them over, and look at their rows until they are completed."""

    def __init__(self, peer: Peer, photo: bytes) -> None:
        self._peer = peer
        self._photo = photo
        self._account_id = account_of(peer.workplace)
        self._waiting: dict[uuid.UUID, tuple[float, Future[float]]] = {}
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="watcher")
        self._watcher.start()

    def begin(self, engine_seconds: int = 0) -> Future[float]:
        """Start a job; the answer is its milliseconds from here to the end, once its row says that it has ended."""
        began, ended = time.monotonic(), Future[float]()
        job = self._peer.workplace.accept(self._account_id, self._photo, engine_seconds)
        self._waiting[uuid.UUID(job.job_id)] = (began, ended)
        self._peer.start(job)
        return ended

    def job(self, engine_seconds: int) -> float:
        """A job from its beginning to its end."""
        return self.begin(engine_seconds).result()

    def close(self) -> None:
        """Look no more."""
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            waiting = list(self._waiting)
            if not waiting:
                continue
            with self._peer.workplace.database.reading() as session:
                rows = session.execute(select(Job.id, Job.status).where(Job.id.in_(waiting))).all()
            for job_id, status in rows:
                if status == jobs.PROCESSING:
                    continue
                began, ended = self._waiting.pop(job_id)
                if status == jobs.COMPLETED:
                    ended.set_result(1000 * (time.monotonic() - began))
                else:
                    ended.set_exception(RuntimeError(f"the job {job_id} has {status}"))


def speed(peer: Peer, complete_job: CompleteJob, sizes: Sizes) -> list[Figure]:
    """Latency, jobs a second, and what processor time a job costs."""
    _crowd(complete_job, 0, WARMING)
    figures = [Figure.of("latency alone", "ms", [complete_job(0) for _ in range(sizes.alone)])]
    before = _processor_seconds(peer)
    latencies, seconds = _crowd(complete_job, 0, sizes.crowd)
    spent = {role: after - before[role] for role, after in _processor_seconds(peer).items()}
    figures += [
        Figure.of(f"latency, {AT_ONCE} in flight", "ms", latencies),
        Figure.of(f"jobs a second, {AT_ONCE} in flight", "/s", [sizes.crowd / seconds]),
    ]
    figures += [
        Figure.of(f"processor time a job, {role}", "ms", [1000 * each / sizes.crowd])
        for role, each in {"in all": sum(spent.values()), **spent}.items()
    ]
    return figures


def speed_of_waiting(complete_job: CompleteJob, sizes: Sizes) -> list[Figure]:
    """The same with an engine that takes its time."""
    slow = f"engine of {ENGINE_SECONDS} s"
    alone = [complete_job(ENGINE_SECONDS) for _ in range(sizes.slow_alone)]
    _, seconds = _crowd(complete_job, ENGINE_SECONDS, sizes.slow_crowd)
    return [
        Figure.of(f"latency alone, {slow}", "ms", alone),
        Figure.of(f"jobs a second, {AT_ONCE} in flight, {slow}", "/s", [sizes.slow_crowd / seconds]),
    ]


def _crowd(complete_job: CompleteJob, engine_seconds: int, count: int) -> tuple[list[float], float]:
    """Latencies of jobs with `AT_ONCE` in flight, and the seconds that all took together."""
    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        latencies = list(threads.map(complete_job, [engine_seconds] * count))
    return latencies, time.monotonic() - began


def _processor_seconds(peer: Peer) -> dict[str, float]:
    """What each kind of process has spent so far, with the processes that it has started itself."""
    own = psutil.Process().cpu_times()
    spent = {role: sum(map(_family_seconds, processes)) for role, processes in peer.processes().items()}
    return {**spent, CLIENT: own.user + own.system}


def _family_seconds(process: psutil.Process) -> float:
    """Of a process and its descendants, those that have ended included."""
    seconds = 0.0
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def resilience(peer: Peer, customers: Customers, sizes: Sizes) -> list[Figure]:
    """What comes of jobs that are begun at an even pace, while workers are killed at random moments of that time."""
    peer.revive()
    time.sleep(UP_SECONDS)
    chance, seconds = random.Random(SEED), sizes.struck / STRUCK_JOBS_A_SECOND
    moments = sorted(chance.uniform(0, seconds) for _ in range(sizes.kills))
    with ThreadPoolExecutor(AT_ONCE) as threads:
        pacing = threads.submit(_begin_at_pace, customers, threads, sizes.struck)
        _kill_workers(peer, chance, moments)
        latest = time.monotonic() + PATIENCE_SECONDS
        ends = [beginning.result() for beginning in pacing.result()]
    while time.monotonic() < latest and not (all(map(Future.done, ends)) and not peer.workplace.littered()):
        peer.revive()
        time.sleep(LOOK_AGAIN_SECONDS)
    completed = [end.result() for end in ends if end.done() and end.exception() is None]
    return [
        Figure.of("latency while workers are killed", "ms", completed),
        Figure.of("the slowest of them", "ms", [max(completed)]),
        Figure.of(f"jobs not completed {PATIENCE_SECONDS:g} s after the last kill", "", [len(ends) - len(completed)]),
        Figure.of("jobs billed more than once", "", [_billed_again(peer)]),
        Figure.of("jobs that left objects behind", "", [len(peer.workplace.littered())]),
    ]


def _begin_at_pace(customers: Customers, threads: ThreadPoolExecutor, count: int) -> list[Future[Future[float]]]:
    began, begun = time.monotonic(), []
    for number in range(count):
        time.sleep(max(0.0, began + number / STRUCK_JOBS_A_SECOND - time.monotonic()))
        begun.append(threads.submit(customers.begin))
    return begun


def _kill_workers(peer: Peer, chance: random.Random, moments: Iterable[float]) -> None:
    """Kill one of the workers that run at each moment, and start it again at once, unless its own supervisor does."""
    began = time.monotonic()
    for moment in moments:
        time.sleep(max(0.0, began + moment - time.monotonic()))
        while not (running := peer.workers()):
            time.sleep(LOOK_SECONDS)
        victim = chance.choice(running)
        with suppress(psutil.NoSuchProcess):
            victim.kill()
        while victim in peer.workers():  # its threads end one after the other
            time.sleep(LOOK_SECONDS)
        peer.revive()


def _billed_again(peer: Peer) -> int:
    """How many jobs have more than one entry of the ledger that closes them."""
    again = (
        select(LedgerEntry.job_id)
        .where(LedgerEntry.kind.in_(("settle", "release")))
        .group_by(LedgerEntry.job_id)
        .having(func.count() > 1)
    )
    with peer.workplace.database.reading() as session:
        return len(session.scalars(again).all())
