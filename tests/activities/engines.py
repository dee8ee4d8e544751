"""An engine that draws at once, for tests of everything around engines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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


def person_map(height: int = 400, width: int = 320) -> PersonMap:
    generator = np.random.default_rng(0)
    return PersonMap(
        labels=generator.integers(0, 12, (height, width), dtype=np.uint8),
        matte=generator.integers(0, 255, (height, width), dtype=np.uint8),
        landmarks=generator.random((33, 4), dtype=np.float32),
        score=0.75,
    )


class FakeEngine:
    """Segmenter and engine in one: paints the photo green, or raises."""

    info = EngineInfo("fake", "MIT", "MIT", True, "here", "1", "cpu", trained=True, max_garments=4)

    def __init__(self, error: EngineError | None = None) -> None:
        self.requests: list[RenderRequest] = []
        self.examined: list[tuple[Picture, PersonMap | None, list[Garment]]] = []
        self.refusals: list[EngineError] = []
        self._error = error

    def setup(self) -> None:
        pass

    def free_memory(self) -> None:
        pass

    def readings(self) -> dict[str, float]:
        return {"memory_bytes": 5.0}

    def segment(self, photo: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap:
        on_step("segment")
        if self._error:
            raise self._error
        return person_map(*photo.shape[:2])

    def examine(
        self,
        photo: Picture,
        person_map: PersonMap | None,
        garments: Sequence[Garment],
        on_step: OnStep,
        should_stop: ShouldStop,
    ) -> list[EngineError]:
        on_step("examine")
        self.examined.append((photo, person_map, list(garments)))
        return self.refusals

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        on_step("paint")
        self.requests.append(request)
        if self._error:
            raise self._error
        green = np.zeros_like(request.person)
        green[..., 1] = 200
        return RenderResult(green, ["size"], {"tuck_state": "no waist in sight"}, {"paint": 3}, {"cover": 0.123456})


def only(engine: FakeEngine) -> RoutedEngines:
    """The engine, for everything."""
    return RoutedEngines(Route("fake", {}), {"fake": engine})
