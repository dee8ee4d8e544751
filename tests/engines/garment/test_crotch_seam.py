"""Inner edges pass what is left of the ground above the crotch, and let cloth alone."""

import numpy as np
import pytest

from engines.garment.cloth import Cloth
from engines.garment.crotch_seam import sewn_at_crotch
from engines.garment.lower_landmarks import LEFT, RIGHT, find_lower_landmarks
from tests.engines.hanging_drawings import AXIS, trousers

CROTCH = 330


def with_tip(cloth: Cloth, crotch_row: int, height: int, half: float) -> Cloth:
    """A pale wedge above the crotch that the cut-out took for cloth, narrowing upwards."""
    rows, columns = np.indices(cloth.alpha.shape)
    up = (crotch_row + 4 - rows) / height
    wedge = (up > 0.0) & (up < 1.0) & (np.abs(columns - AXIS) < half * (1.0 - up))
    return Cloth(np.where(wedge[..., None], np.float32(0.95), cloth.colour).astype(np.float32), cloth.alpha)


@pytest.mark.parametrize("striped", [False, True])
def test_edges_pass_the_tip_of_the_gap(striped: bool) -> None:
    cloth = trousers(crotch=CROTCH)
    if striped:
        colours = np.random.default_rng(5).uniform(0.0, 0.6, (cloth.alpha.shape[0] // 12 + 1, 3))
        cloth = Cloth(
            np.broadcast_to(np.repeat(colours, 12, axis=0)[: len(cloth.alpha), None], cloth.colour.shape).astype(
                np.float32
            ),
            cloth.alpha,
        )
    crotch = round(find_lower_landmarks(cloth).crotch[1])
    cloth = with_tip(cloth, crotch, 40, 6.0)
    marks = find_lower_landmarks(cloth)
    sewn = sewn_at_crotch(cloth, marks)
    for side in (LEFT, RIGHT):
        for row in range(crotch - 28, crotch + 4):
            between = sorted((sewn.inseams[side][row] + side * 0.5, sewn.inseams[side][row] + side * 12.0))
            along = cloth.colour[row, int(np.ceil(between[0])) : int(between[1]) + 1]
            assert not (along > 0.9).all(axis=1).any()
        aside = (sewn.inseams[side] - AXIS) * side
        assert aside[crotch - 90] == pytest.approx(0.0, abs=1.0)


def test_whole_cloth_is_joined_on_the_centre_line() -> None:
    cloth = trousers(crotch=CROTCH)
    marks = find_lower_landmarks(cloth)
    sewn = sewn_at_crotch(cloth, marks)
    for side in (LEFT, RIGHT):
        assert sewn.inseams[side][: CROTCH - 20] == pytest.approx(marks.inseams[side][: CROTCH - 20], abs=0.5)
        assert sewn.inseams[side][CROTCH + 60 :] == pytest.approx(marks.inseams[side][CROTCH + 60 :])
