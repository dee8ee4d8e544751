"""What one account feels while another sends pictures that are made to be costly.

The attacker sends combos of nine such pictures, several at a time and with a test key, which costs it nothing. There
are two kinds: pictures over the bound on work, and pictures just below it. The neighbour goes about its business
meanwhile: a small POST every second, and one job after the other.
"""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
from PIL import Image

from bench.figures import Figure
from bench.service.photos import portrait_body
from imaging.data_uri import encode_data_uri_bytes
from imaging.opening import MOST_SCANS

SIDE = 7000
"""49 megapixels: nearly the most that a picture may have."""

OVER_THE_BOUND, AT_THE_BOUND = 199, MOST_SCANS
SENDERS, MOST_COMBOS = 2, 20
"""Combos on their way at the same time, and in all: what one key may send in five minutes."""

JOBS, POST_EVERY_SECONDS = 8, 1.0
LONGEST_SECONDS = 600.0
JSON = {"Content-Type": "application/json"}
SINGLE, COMBO = "/api/v1/tryon", "/api/v1/tryon/combo"


@dataclass
class Felt:
    """Milliseconds that the neighbour waited."""

    posts: list[float] = field(default_factory=list)
    jobs: list[float] = field(default_factory=list)


@dataclass
class Sent:
    """What became of the attacker's combos, by status."""

    answers: dict[str, int] = field(default_factory=dict)


def costly_jpeg(scans: int, side: int = SIDE) -> bytes:
    """A progressive JPEG of one colour whose last scan stands in it again and again."""
    sink = io.BytesIO()
    Image.new("RGB", (side, side), (90, 140, 200)).save(sink, "JPEG", progressive=True, quality=50)
    data = sink.getvalue()
    last = data.rindex(b"\xff\xda")
    return data[:-2] + data[last:-2] * (scans - data.count(b"\xff\xda")) + data[-2:]


def measure(neighbour: httpx.Client, probe: httpx.Client, attacker: httpx.Client) -> list[Figure]:
    """Every figure of this module.

    Args:
        neighbour: Calls with a live key.
        probe: Calls with a test key of the same account: its POSTs are counted, and nothing is drawn for them.
        attacker: Calls with a test key of another account.
    """
    figures = _figures("alone", _business(neighbour, probe))
    for name, scans in (("over the bound", OVER_THE_BOUND), ("at the bound", AT_THE_BOUND)):
        with _attack(attacker, scans) as sent:
            felt = _business(neighbour, probe)
        print(f"attacker, pictures {name}: {sent.answers}")
        figures += _figures(f"beside pictures {name}", felt)
    return figures


def _figures(when: str, felt: Felt) -> list[Figure]:
    post_goal, job_goal = ("", "") if when == "alone" else ("p95 <= 1000 ms", "p50 <= twice that alone")
    return [
        Figure.of(f"POST {when}", "ms", felt.posts, post_goal),
        Figure.of(f"job {when}", "ms", felt.jobs, job_goal),
    ]


@contextmanager
def _attack(client: httpx.Client, scans: int) -> Iterator[Sent]:
    bomb = encode_data_uri_bytes(costly_jpeg(scans)).decode()
    garment = {"garmentImageUrl": bomb, "garmentBackImageUrl": bomb, "category": "upper_body"}
    body = json.dumps({"customerPhotoBase64": bomb, "garments": [garment] * 4})
    over, left, lock, sent = threading.Event(), iter(range(MOST_COMBOS)), threading.Lock(), Sent()

    def send() -> None:
        while not over.is_set():
            with lock:
                if next(left, None) is None:
                    return
            try:
                answer = str(client.post(COMBO, content=body, headers=JSON).status_code)
            except httpx.TimeoutException:
                answer = "timed out"
            with lock:
                sent.answers[answer] = sent.answers.get(answer, 0) + 1

    senders = [threading.Thread(target=send) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    time.sleep(POST_EVERY_SECONDS)
    try:
        yield sent
    finally:
        over.set()
        for sender in senders:
            sender.join()


def _business(neighbour: httpx.Client, probe: httpx.Client) -> Felt:
    felt, body, over = Felt(), json.dumps(portrait_body()), threading.Event()

    def probing() -> None:
        while not over.is_set():
            felt.posts.append(_timed(lambda: probe.post(SINGLE, content=body, headers=JSON))[0])
            over.wait(POST_EVERY_SECONDS)

    prober = threading.Thread(target=probing)
    prober.start()
    deadline = time.monotonic() + LONGEST_SECONDS
    try:
        while len(felt.jobs) < JOBS and time.monotonic() < deadline:
            felt.jobs.append(_timed(lambda: job_done(neighbour, body))[0])
    finally:
        over.set()
        prober.join()
    return felt


def job_done(client: httpx.Client, body: str) -> httpx.Response:
    """A job from its POST to its end; polls are held.

    Raises:
        RuntimeError: It failed.
    """
    started = client.post(SINGLE, content=body, headers=JSON)
    started.raise_for_status()
    while True:
        answer = client.get(f"{SINGLE}/{started.json()['jobId']}", headers={"Prefer": "wait=30"})
        answer.raise_for_status()
        if answer.json()["status"] == "completed":
            return answer
        if answer.json()["status"] == "failed":
            raise RuntimeError(f"a job failed: {answer.text[:200]}")


def _timed(call: Callable[[], httpx.Response]) -> tuple[float, httpx.Response]:
    began = time.monotonic()
    try:
        answer = call()
        answer.raise_for_status()
    except httpx.TimeoutException:
        return 1000 * (time.monotonic() - began), httpx.Response(504)
    return 1000 * (time.monotonic() - began), answer
