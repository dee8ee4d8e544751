"""The crease between a resting sleeve and the torso, on drawn cloth."""

from __future__ import annotations

import numpy as np
import pytest

from engines.garment.cloth import Cloth
from engines.garment.creases import crease_beside

AXIS, ROWS = 200.0, (100, 420)


def creased(course: np.ndarray, side: int) -> Cloth:
    """Cloth with a dark line whose distance from the axis in each row is given, and a darker stripe across it."""
    colour = np.full((500, 400, 3), 0.6, np.float32)
    across = np.abs(np.arange(400)[None] - (AXIS + side * course)[:, None])
    colour *= (1 - 0.5 * np.exp(-((across / 2.0) ** 2)))[..., None].astype(np.float32)
    colour[200:230] *= 0.5
    return Cloth(colour, np.ones((500, 400), np.float32))


@pytest.mark.parametrize("side", [-1, 1])
def test_a_crease_that_runs_aside_is_followed(side: int) -> None:
    course = 128.0 - 22.0 * np.clip((np.arange(500) - 100) / 320, 0, 1)
    found = crease_beside(creased(course, side), AXIS, side, offset=118.0, rows=ROWS, width=236.0)
    assert np.abs(found - course[slice(*ROWS)]).max() < 3.0


def test_without_a_crease_the_seam_stays_where_it_is_thought_to_be() -> None:
    plain = Cloth(np.full((500, 400, 3), 0.6, np.float32), np.ones((500, 400), np.float32))
    found = crease_beside(plain, AXIS, 1, offset=118.0, rows=ROWS, width=236.0)
    assert np.abs(found - 118.0).max() < 1.0
