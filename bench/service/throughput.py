"""How many jobs a second the service does without its engine, and how long one takes alone.

A test key's jobs go the whole way but for the models: POST, workflow, object store, watermark, ledger, poll.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from bench.figures import Figure
from bench.service.attack import job_done
from bench.service.photos import jpeg_uri

ALONE, AT_ONCE, CROWD = 40, 16, 320
"""Jobs one after the other; clients at once, and jobs among them."""


def measure(client: httpx.Client) -> list[Figure]:
    """Every figure of this module.

    Args:
        client: Calls with a test key.
    """
    photo = jpeg_uri(Image.fromarray(pixels_of(PORTRAIT)).resize((768, 1024)))
    body = json.dumps({"customerPhotoBase64": photo, "productId": "test_completed"})

    def timed_job(_number: int = 0) -> float:
        began = time.monotonic()
        job_done(client, body)
        return 1000 * (time.monotonic() - began)

    timed_job()
    alone = [timed_job() for _ in range(ALONE)]
    spent, crowded = _timed(lambda: _crowd(timed_job))
    return [
        Figure.of("test job, POST to picture, alone", "ms", alone, "p50 <= 150 ms"),
        Figure.of(f"the same, {AT_ONCE} clients at once", "ms", crowded),
        Figure.of(f"test jobs a second, {AT_ONCE} clients at once", "/s", [len(crowded) / spent], ">= 20"),
    ]


def _crowd(job: Callable[[int], float]) -> list[float]:
    with ThreadPoolExecutor(AT_ONCE) as clients:
        return list(clients.map(job, range(CROWD)))


def _timed(call: Callable[[], list[float]]) -> tuple[float, list[float]]:
    began = time.monotonic()
    values = call()
    return time.monotonic() - began, values
