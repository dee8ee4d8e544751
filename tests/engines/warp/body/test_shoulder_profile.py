"""The shoulder of a drawn person, as clothes find it."""

from __future__ import annotations

import numpy as np
import pytest

from engines.warp.body.model import SIDES, measure_body
from engines.warp.drape.fit import shoulder_rise
from tests.engines.mannequin import draw_mannequin


@pytest.mark.parametrize("sleeves", ["short", "long"])
def test_under_an_old_sleeve_the_shoulder_rounds_off_less_where_a_new_one_goes_on(sleeves: str) -> None:
    body = measure_body(draw_mannequin(960, 760, sleeves=sleeves).person_map)
    for side in SIDES:
        offsets = np.linspace(0.75, 0.98, 12) * body.tip_offset(side)
        columns = np.rint(body.point(0.0, side * offsets)[:, 0]).astype(int)
        silhouette = body.skeleton.shoulders[1] - (body.matte[:, columns] > 0.5).argmax(axis=0)
        below, bare = (
            (silhouette - shoulder_rise(body, offsets, side, under_sleeve=sleeved)) / body.shoulder_width
            for sleeved in (True, False)
        )
        assert np.abs(below[0]) < 0.012  # on the shoulder cloth lies where the old one does
        assert 0.02 < below[-1] < 0.035
        assert bare[-1] > below[-1] + 0.01
