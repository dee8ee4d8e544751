"""Pastes each garment, cut out of its picture, flat onto the part of the body that it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image

from engines.base import (
    Category,
    EngineError,
    EngineInfo,
    Garment,
    Landmark,
    OnStep,
    PersonMap,
    Picture,
    RenderRequest,
    RenderResult,
    ShouldStop,
)
from engines.flat.about import FLAT
from engines.hint_sense import settle
from engines.registration import EngineOptions, Workplace
from engines.stages import Stages

FROM_TO = {
    Category.UPPER_BODY: (Landmark.LEFT_SHOULDER, Landmark.LEFT_HIP),
    Category.LOWER_BODY: (Landmark.LEFT_HIP, Landmark.LEFT_ANKLE),
    Category.FULL_BODY: (Landmark.LEFT_SHOULDER, Landmark.LEFT_KNEE),
}
"""Where a garment begins and ends."""

GROUND = 30
"""Largest difference of a pixel's channels from the picture's corner, 0 to 255, that counts as background."""


class FlatEngine:
    """Draws at once, and so crudely that every change can be seen."""

    info: EngineInfo = FLAT

    def __init__(self, _options: EngineOptions, _workplace: Workplace) -> None:
        """It needs nothing."""

    def setup(self) -> None:
        """There is nothing to load."""

    def free_memory(self) -> None:
        """Nothing is kept."""

    def readings(self) -> Mapping[str, float]:
        """There is no device to watch."""
        return {}

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

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        """Paste the garments in their order."""
        stages, picture, swatches = Stages(on_step, should_stop), request.person.copy(), []
        for garment in request.garments:
            stages.begin(f"paste {garment.category}")
            swatches.append(_paste(picture, garment, request.person_map))
        applied, not_applied = settle(request.garments, lambda _garment, _name: "This engine follows no hint.")
        return RenderResult(picture, applied, not_applied, stages.timings_ms(), swatches=swatches)


def _paste(picture: Picture, garment: Garment, person: PersonMap) -> Picture:
    """Change the picture; gives back the garment's pixels, ``(n, 3)``."""
    top, bottom = (person.landmarks[each][1] for each in FROM_TO[garment.category])
    shoulders = person.landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], 0]
    left, right = shoulders.mean() - np.ptp(shoulders), shoulders.mean() + np.ptp(shoulders)
    width, height = max(1, round(float(right - left))), max(1, round(float(bottom - top)))
    laid: Picture = np.asarray(Image.fromarray(garment.picture).resize((width, height)))
    cloth = np.abs(laid.astype(int) - laid[0, 0]).max(2) > GROUND
    rows, columns = np.nonzero(cloth)
    at_y, at_x = rows + round(float(top)), columns + round(float(left))
    inside = (at_y >= 0) & (at_y < picture.shape[0]) & (at_x >= 0) & (at_x < picture.shape[1])
    picture[at_y[inside], at_x[inside]] = laid[rows[inside], columns[inside]]
    pixels: Picture = laid[cloth]
    return pixels
