import numpy as np
import pytest
from numpy.typing import NDArray

from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body.model import measure_body
from engines.warp.drape.fit import fit_garment
from engines.warp.drape.torso_loft import TorsoLoft
from engines.warp.drape.upper import GAP_AT_HEM, GAP_AT_NECK, drawn_open, parted
from engines.warp.ribbon import Ribbon, draw
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin

ROWS, COLUMNS = 9, 21


def straight_ribbon() -> Ribbon:
    """100 wide and 200 high on the garment, twice that on the body."""
    x, y = np.meshgrid(np.linspace(0, 100, COLUMNS), np.linspace(0, 200, ROWS))
    source = np.stack([x, y], axis=-1).astype(np.float32)
    return Ribbon(source, 2 * source)


def columns_of(ribbon: Ribbon, row: int) -> NDArray[np.float32]:
    return ribbon.target[row, :, 0]


@pytest.mark.parametrize("side", [-1, 1])
def test_a_half_keeps_its_outer_edge_and_leaves_the_axis(side: int) -> None:
    half = parted(straight_ribbon(), side)
    inner, outer = (1, -1) if side > 0 else (-2, 0)
    for row, gap in ((0, GAP_AT_NECK), (ROWS - 1, GAP_AT_HEM)):
        assert columns_of(half, row)[outer] == pytest.approx(100 + side * 100, abs=0.1)
        assert columns_of(half, row)[inner] == pytest.approx(100 + side * gap * 100, abs=0.1)


@pytest.mark.parametrize("side", [-1, 1])
def test_cloth_keeps_its_order_and_its_scale_beside_the_opening(side: int) -> None:
    steps = np.diff(columns_of(parted(straight_ribbon(), side), ROWS - 1))
    assert (steps > 0).all()
    beside = steps[1] if side > 0 else steps[-2]
    assert beside == pytest.approx(10.0, rel=0.1)


def test_what_is_under_an_open_top_is_seen_between_its_fronts() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    cloth = cut_out(draw_garment("long sleeve").picture)
    marks = find_upper_landmarks(cloth)
    ribbon = TorsoLoft(marks, body, fit_garment(marks, body)).ribbon()
    closed, opened = (
        piece.alpha
        for piece in (draw(ribbon, cloth, body.shape, "torso"), drawn_open(ribbon, cloth, marks, body.shape))
    )
    x, y = body.point(0.6).astype(int)
    assert closed[y, x] > 0.99
    assert opened[y, x] == 0.0
    row = np.flatnonzero(opened[y] > 0.5)
    whole = np.flatnonzero(closed[y] > 0.5)
    assert (row[0], row[-1]) == pytest.approx((whole[0], whole[-1]), abs=2)
    assert opened.max() < 1.0001
