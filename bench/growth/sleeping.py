"""``python -m bench.growth.sleeping ENV-FILE SECONDS``: a GPU worker whose engine sleeps, as if a GPU drew."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from activities.device import Device
from activities.inference import InferenceActivities
from engines.base import (
    EngineError,
    EngineInfo,
    Garment,
    OnStep,
    PersonMap,
    Picture,
    RenderRequest,
    RenderResult,
    ShouldStop,
)
from engines.routes import Route, RoutedEngines
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from runtime.object_store import S3ObjectStore
from runtime.settings import Settings
from worker_gpu.main import build_workers

if TYPE_CHECKING:
    from engines.base import PersonSegmenter

NAME = "sleeping"
LANDMARKS = 33
BEAT_SECONDS = 0.1


class SleepingEngine:
    """Segmenter and engine in one: finds nobody at once, and gives the photo back after a while."""

    info = EngineInfo(NAME, "Apache-2.0", "Apache-2.0", True, "built in", "1", "cpu", trained=False, max_garments=4)

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def setup(self) -> None:
        """There is nothing to load."""

    def free_memory(self) -> None:
        """Nothing is kept."""

    def readings(self) -> Mapping[str, float]:
        """There is no device to watch."""
        return {}

    def segment(self, photo: Picture, _on_step: OnStep, _should_stop: ShouldStop) -> PersonMap:
        """A person of no pixel."""
        empty = np.zeros(photo.shape[:2], np.uint8)
        return PersonMap(empty, empty, np.zeros((LANDMARKS, 4), np.float32), 1.0)

    def examine(
        self,
        _photo: Picture,
        _person_map: PersonMap | None,
        _garments: Sequence[Garment],
        _on_step: OnStep,
        _should_stop: ShouldStop,
    ) -> list[EngineError]:
        """It refuses nothing."""
        return []

    def render(self, request: RenderRequest, on_step: OnStep, _should_stop: ShouldStop) -> RenderResult:
        """Sleep for the seconds that a picture takes, saying every now and then that it lives."""
        until = time.monotonic() + self._seconds
        while time.monotonic() < until:
            on_step("sleep")
            time.sleep(min(BEAT_SECONDS, max(until - time.monotonic(), 0)))
        return RenderResult(request.person, [], {}, {}, {})


async def work(settings: Settings, seconds: float) -> None:
    """Poll until the process is ended."""
    client = (await TemporalGateway.connect(settings.temporal)).client
    engine = SleepingEngine(seconds)
    inference = InferenceActivities(
        S3ObjectStore(settings.object_store),
        cast("PersonSegmenter", engine),  # nobody wears the garments, so more is not asked of it
        RoutedEngines(Route(NAME, {}), {NAME: engine}),
        Device(),
        lambda: None,
        decoders=DecoderPool(),
    )
    await asyncio.gather(*(worker.run() for worker in build_workers(client, inference, parallel=1)))


if __name__ == "__main__":
    asyncio.run(work(Settings(Path(sys.argv[1])), float(sys.argv[2])))
