"""The largest requests that are allowed, and what everybody else feels of them."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import httpx
import psutil

from bench.figures import Figure
from bench.service.photos import grainy_photo_uri, portrait_body

ALMOST_8_MB = 7_500_000
WIDTH = 3700
"""18 megapixels: what a camera puts into 8 MB."""

SINGLES, COMBOS, UPLOADS = 12, 5, 6
POLLERS = 50
POLL_EVERY_SECONDS = 1.0
"""More often than the contract asks of clients (2 to 3 s)."""

QUIET_SECONDS = 2.0
"""An erased job's render stops at its next stage."""

JSON = {"Content-Type": "application/json"}
SINGLE, COMBO = "/api/v1/tryon", "/api/v1/tryon/combo"


def measure(client: httpx.Client, workers: Sequence[psutil.Process]) -> list[Figure]:
    """Every figure of this module.

    Jobs are erased as soon as they are accepted, and the workers stand still beside the uploads: beyond one machine
    they are elsewhere, and it is the API that is measured.
    """
    photo = grainy_photo_uri(WIDTH, ALMOST_8_MB)
    single = json.dumps({"customerPhotoBase64": photo, "garmentImageUrl": photo, "category": "upper_body"})
    garment = {"garmentImageUrl": photo, "garmentBackImageUrl": photo, "category": "upper_body"}
    combo = json.dumps({"customerPhotoBase64": photo, "garments": [garment] * 4})
    alone = json.dumps({**json.loads(single), "garmentImageUrl": grainy_photo_uri(600, 100_000)})
    figures = [
        Figure.of("POST, photo of 8 MB", "ms", _accepts(client, SINGLE, alone, SINGLES), "p95 <= 180 ms"),
        Figure.of("POST, photo and garment of 8 MB each", "ms", _accepts(client, SINGLE, single, SINGLES)),
        Figure.of(
            f"POST, combo of nine pictures, {len(combo) / 1e6:.0f} MB", "ms", _accepts(client, COMBO, combo, COMBOS)
        ),
    ]
    with _suspended(workers):
        job_id = client.post(SINGLE, json=portrait_body()).json()["jobId"]
        polls = asyncio.run(_polls_beside_uploads(client, job_id, combo))
    name = f"{POLLERS} clients polling beside uploads of {len(combo) / 1e6:.0f} MB"
    return [*figures, Figure.of(name, "ms", polls, "p95 <= 80 ms")]


@contextmanager
def _suspended(processes: Sequence[psutil.Process]) -> Iterator[None]:
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


def _accepts(client: httpx.Client, path: str, body: str, count: int) -> list[float]:
    """Latencies of POSTs, none of which has to share the cores with a render of the one before."""
    values = []
    for _ in range(count):
        answer = client.post(path, content=body, headers=JSON)
        values.append(_milliseconds(answer, 202))
        client.delete(f"{SINGLE}/{answer.json()['jobId']}")
        time.sleep(QUIET_SECONDS)
    return values


async def _polls_beside_uploads(client: httpx.Client, job_id: str, combo: str) -> list[float]:
    """Poll from this process while another one uploads."""
    base_url, headers = str(client.base_url), dict(client.headers)
    loop = asyncio.get_running_loop()
    async with httpx.AsyncClient(
        base_url=base_url, headers=headers, timeout=60, trust_env=False, limits=httpx.Limits(max_connections=None)
    ) as polling:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as elsewhere:
            await loop.run_in_executor(elsewhere, time.sleep, 0)  # the process is there
            uploading = loop.run_in_executor(elsewhere, _upload, base_url, headers, combo)
            polled = await asyncio.gather(*(_poll(polling, job_id, number, uploading) for number in range(POLLERS)))
            await uploading
    return [value for values in polled for value in values]


def _upload(base_url: str, headers: dict[str, str], combo: str) -> None:
    with httpx.Client(base_url=base_url, headers=headers, timeout=60, trust_env=False) as client:
        for _ in range(UPLOADS):
            answer = client.post(COMBO, content=combo, headers=JSON)
            _milliseconds(answer, 202)
            client.delete(f"{SINGLE}/{answer.json()['jobId']}")


async def _poll(client: httpx.AsyncClient, job_id: str, number: int, until: asyncio.Future[None]) -> list[float]:
    """Poll while the uploads last; the clients are spread over the interval."""
    values = []
    await asyncio.sleep(POLL_EVERY_SECONDS * number / POLLERS)
    while not until.done():
        values.append(_milliseconds(await client.get(f"{SINGLE}/{job_id}"), 200))
        await asyncio.sleep(POLL_EVERY_SECONDS)
    return values


def _milliseconds(answer: httpx.Response, status: int) -> float:
    if answer.status_code != status:
        raise RuntimeError(f"answered {answer.status_code}: {answer.text[:200]}")
    return answer.elapsed / timedelta(milliseconds=1)
