"""How many jobs a second so many GPU workers do, each of which draws one picture at a time.

Their engine sleeps, so that two cores are enough for several of them: what is seen is whether the rest keeps up.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.growth.curve import Point
from bench.service.attack import job_done
from bench.service.photos import portrait_body
from bench.service.usual import Bench, running
from runtime.settings import EMBEDDED_FILE, without_tryon_variables

SIZES = (1, 2, 4, 8)
DRAWING_SECONDS = 1.0
JOBS_OF_ONE = 20
CLIENTS_OF_ONE = 4

LONGEST_POLL_SECONDS = 65.0
"""After which Temporal's server has given up on a worker that is stopped, and hands it no more tasks."""


def measure(folder: Path, sizes: tuple[int, ...] = SIZES) -> Iterator[Point]:
    """Every point, in a stack of its own whose own GPU worker stands still."""
    with running(folder, generations=sum(sizes) * JOBS_OF_ONE + len(sizes)) as bench:
        own = bench.record.children["worker-gpu"].find()
        if own is None:
            raise RuntimeError("the stack has no GPU worker")
        own.send_signal(signal.SIGSTOP)
        try:
            time.sleep(LONGEST_POLL_SECONDS)
            for size in sizes:
                with _workers(folder / EMBEDDED_FILE, size):
                    yield from _at(bench, size)
        finally:
            own.send_signal(signal.SIGCONT)


@contextmanager
def _workers(settings: Path, count: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.growth.sleeping", str(settings), str(DRAWING_SECONDS)]
    processes = [subprocess.Popen(command, env=without_tryon_variables()) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def _at(bench: Bench, workers: int) -> Iterator[Point]:
    body, jobs = json.dumps(portrait_body()), workers * JOBS_OF_ONE

    def job(_number: int) -> float:
        began = time.monotonic()
        job_done(bench.client, body)
        return time.monotonic() - began

    job(0)  # the workers poll by then
    with ThreadPoolExecutor(workers * CLIENTS_OF_ONE) as clients:
        began = time.monotonic()
        waited = list(clients.map(job, range(jobs)))
        spent = time.monotonic() - began
    yield Point("jobs a second", workers, jobs / spent, "/s")
    yield Point("what the engines alone would do", workers, workers / DRAWING_SECONDS, "/s")
    yield Point("a client's wait, four clients a worker", workers, median(waited), "s")
