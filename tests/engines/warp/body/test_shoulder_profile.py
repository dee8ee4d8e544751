"""The shoulder of a drawn person, as clothes find it."""

from __future__ import annotations

import numpy as np
import pytest

from engines.warp.body.model import SIDES, measure_body
from engines.warp.body.shoulder_profile import shoulder_rise
from tests.engines.mannequin import draw_mannequin


@pytest.mark.parametrize("sleeves", ["short", "long"])
def test_sleeved_cloth_lies_on_the_rounding_as_the_old_one_does(sleeves: str) -> None:
    body = measure_body(draw_mannequin(960, 760, sleeves=sleeves).person_map)
    for side in SIDES:
        offsets = np.linspace(0.75, 0.98, 12) * body.tip_offset(side)
        columns = np.rint(body.point(0.0, side * offsets)[:, 0]).astype(int)
        silhouette = body.skeleton.shoulders[1] - (body.matte[:, columns] > 0.5).argmax(axis=0)
        laid = shoulder_rise(body, offsets, side, under_sleeve=True)
        bare = shoulder_rise(body, offsets, side)
        # A sleeve goes on from here along the silhouette: a seam below it would leave a dent.
        assert np.abs(laid - silhouette).max() < 0.025 * body.shoulder_width
        assert (silhouette - bare).max() > 0.03 * body.shoulder_width
