"""The service as a client meets it: latency of POST and poll, the time around the engine, start-up, idle memory."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil

from bench.figures import Figure
from bench.service import attack, heavy, throughput
from bench.service.photos import grainy_photo_uri, portrait_body
from domain.jobs import jobs
from runtime.database import Database
from runtime.embedded.record import StackRecord
from runtime.object_store import S3ObjectStore
from runtime.settings import EMBEDDED_FILE, Settings, without_tryon_variables

SPACED_POSTS, CROWDED_POSTS, POLLS, JOBS, CHECKS = 20, 40, 200, 12, 20
POST_PAUSE_SECONDS = 0.2
LARGE_PHOTO_BYTES = 2_000_000
IDLE_SECONDS = 10.0
"""Before memory is read, so that start-up's garbage is gone."""

NO_RATE_LIMIT = {"TRYON_RATE_LIMIT_REQUESTS": "10000", "TRYON_RATE_LIMIT_WINDOW_SECONDS": "1"}
"""The bench polls much more often than a client should. The short window keeps the log of calls short."""

OWNER, ATTACKER = "bench@example.com", "attacker@example.com"

STAGES_AROUND = "stage_"
"""Prefix of the workflow's own stage times in a job's report; what is left are times inside segmenter and engine."""


@dataclass
class Bench:
    """A stack of its own and a caller."""

    settings: Settings
    started_seconds: float
    record: StackRecord
    tryon: Callable[..., str]
    client: httpx.Client = field(init=False)

    @contextmanager
    def caller(self, email: str, *, test: bool = False) -> Iterator[httpx.Client]:
        """A client with a new key of an account."""
        mode = ["--test"] if test else []
        key = json.loads(self.tryon("key", "create", "--account", email, *mode, "--json"))["apiKey"]
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(
            base_url=self.record.addresses["API"], headers=headers, timeout=60, trust_env=False
        ) as client:
            yield client


@contextmanager
def running(data_dir: Path, generations: int | None = None) -> Iterator[Bench]:
    """Bring a stack up, and down again at the end.

    Args:
        data_dir: Where it keeps everything.
        generations: What its account may start; the plan's volume without.
    """
    environment = {**without_tryon_variables(), "TRYON_DATA_DIR": str(data_dir), **NO_RATE_LIMIT}

    def tryon(*arguments: str) -> str:
        command = [sys.executable, "-m", "cli.main", *arguments]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    began = time.monotonic()
    tryon("up", "--detach")
    started = time.monotonic() - began
    try:
        record = StackRecord.read(data_dir)
        if record is None:
            raise RuntimeError("the stack left no record")
        terms = () if generations is None else ("--included", str(generations), "--daily-cap", str(generations))
        tryon("account", "create", "--email", OWNER, "--plan", "scale", *terms)
        bench = Bench(Settings(data_dir / EMBEDDED_FILE), started, record, tryon)
        with bench.caller(OWNER) as client:
            bench.client = client
            yield bench
    finally:
        tryon("down")


def measure(data_dir: Path) -> list[Figure]:
    """Every figure of this module, in one run."""
    with running(data_dir) as bench:
        time.sleep(IDLE_SECONDS)
        figures = [
            Figure.of("tryon up to healthy", "s", [bench.started_seconds], "<= 5 s"),
            Figure.of("idle memory of the stack", "MB", [memory_megabytes(bench.record)], "<= 650 MB"),
        ]
        figures += job_figures(bench)
        with bench.caller(OWNER, test=True) as tester:
            figures += throughput.measure(tester)
        figures.append(Figure.of("poll, picture of 300 KB", "ms", poll_latencies(bench), "p50 <= 8 ms"))
        body = json.dumps({**portrait_body(), "customerPhotoBase64": grainy_photo_uri(2250, LARGE_PHOTO_BYTES)})
        figures.append(Figure.of("POST, photo of 2 MB", "ms", spaced_posts(bench, body), "p95 <= 90 ms"))
        figures.append(Figure.of("the same while renders take both cores", "ms", crowded_posts(bench, body)))
        figures.append(Figure.of("check, photo of 2 MB", "ms", check_latencies(bench, body), "p50 <= 2000 ms"))
        workers = [bench.record.children[name].find() for name in ("worker-cpu", "worker-gpu")]
        figures += heavy.measure(bench.client, [worker for worker in workers if worker])
        figures += attacked(bench)
    return figures


def attacked(bench: Bench) -> list[Figure]:
    """What the account feels of another one's costly pictures."""
    bench.tryon("account", "create", "--email", ATTACKER, "--plan", "starter")
    with bench.caller(OWNER, test=True) as probe, bench.caller(ATTACKER, test=True) as attacker:
        return attack.measure(bench.client, probe, attacker)


def memory_megabytes(record: StackRecord) -> float:
    """Proportional set size of the supervisor and its children, where the system tells; else resident size."""
    processes = [psutil.Process(identity.pid) for identity in (record.supervisor, *record.children.values())]
    sizes = [getattr(process.memory_full_info(), "pss", process.memory_info().rss) for process in processes]
    return sum(sizes) / 2**20


def finished(bench: Bench, job_id: str) -> dict[str, Any]:
    """Poll without the contract's pause, to see the end soon."""
    while True:
        body: dict[str, Any] = bench.client.get(f"/api/v1/tryon/{job_id}").json()
        if body["status"] != "processing":
            return body
        time.sleep(0.1)


def job_figures(bench: Bench) -> list[Figure]:
    """Whole jobs one after the other since the start, and what of each was not spent inside segmenter and engine."""
    body, totals, overheads = portrait_body(), [], []
    for _ in range(JOBS + 1):
        job_id = bench.client.post("/api/v1/tryon", json=body).json()["jobId"]
        if finished(bench, job_id)["status"] != "completed":
            raise RuntimeError("a bench job failed")
        total, inside = times_of(bench, job_id)
        totals.append(total)
        overheads.append(total - inside)
    (first, *totals), (_, *overheads) = totals, overheads
    return [
        Figure.of("the first job, accepted to pollable", "ms", [first], "as those after it"),
        Figure.of("job, accepted to pollable", "ms", totals),
        Figure.of("of that outside segmenter and engine", "ms", overheads, "p50 <= 120 ms"),
    ]


def times_of(bench: Bench, job_id: str) -> tuple[float, float]:
    """Milliseconds from acceptance to the end, and those inside segmenter and engine."""
    with closing(Database(bench.settings.database)) as database, database.reading() as session:
        job = jobs.get_job(session, job_id=uuid.UUID(job_id))
    timings = (job.report or {})["timingsMs"]
    inside = sum(spent for stage, spent in timings.items() if not stage.startswith(STAGES_AROUND))
    return float(job.generation_ms or 0), float(inside)


def poll_latencies(bench: Bench) -> list[float]:
    """Polls of a completed job whose picture has 300 KB."""
    job_id = bench.client.post("/api/v1/tryon", json=portrait_body()).json()["jobId"]
    finished(bench, job_id)
    store = S3ObjectStore(bench.settings.object_store)
    asyncio.run(store.put(f"results/{job_id}.jpg", os.urandom(300_000), "image/jpeg"))
    return latencies(POLLS, lambda: bench.client.get(f"/api/v1/tryon/{job_id}"), 200)


def post(bench: Bench, body: str, path: str = "/api/v1/tryon") -> httpx.Response:
    """POST a body that is JSON already, so that making it is not measured."""
    return bench.client.post(path, content=body, headers={"Content-Type": "application/json"})


def check_latencies(bench: Bench, body: str) -> list[float]:
    """Checks one after the other, by workers that have done one before; whatever they find, everything is looked at."""
    values = latencies(CHECKS + 1, lambda: post(bench, body, "/api/v1/tryon/check"), 200)
    return values[1:]


def spaced_posts(bench: Bench, body: str) -> list[float]:
    """POSTs each of which waits until the job before it is done."""
    values = []
    for _ in range(SPACED_POSTS):
        answer = post(bench, body)
        values += latencies(1, lambda answer=answer: answer, 202)
        finished(bench, answer.json()["jobId"])
    return values


def crowded_posts(bench: Bench, body: str) -> list[float]:
    """POSTs one after the other, while the jobs of those before are rendered on the same cores."""

    answers = []

    def post_after_a_pause() -> httpx.Response:
        time.sleep(POST_PAUSE_SECONDS)
        answers.append(post(bench, body))
        return answers[-1]

    values = latencies(CROWDED_POSTS, post_after_a_pause, 202)
    for answer in answers:  # or whatever is measured next would have to share the cores with them
        bench.client.delete(f"/api/v1/tryon/{answer.json()['jobId']}")
    return values


def latencies(count: int, call: Any, status: int) -> list[float]:
    """Milliseconds of each answer as httpx counts them: from sending to the last byte of the headers and body."""
    values = []
    for _ in range(count):
        answer: httpx.Response = call()
        if answer.status_code != status:
            raise RuntimeError(f"answered {answer.status_code}: {answer.text[:200]}")
        values.append(answer.elapsed / timedelta(milliseconds=1))
    return values
