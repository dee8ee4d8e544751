"""Folds drawn from the pose alone."""

import numpy as np
import pytest

from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.composite.drawn_folds import UNLIKE_SIDES, arm_folds, deeper_on_dark, leg_folds, torso_folds
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760).person_map)


def thigh(body: BodyModel, side: int) -> np.ndarray:
    """Folds of a thigh, ``(rows, columns)`` from the inside outwards."""
    leg = body.legs[side]
    shares = (np.linspace(0.02, 0.2, 40) + 2 * leg.bend * UNLIKE_SIDES * side).astype(np.float32)
    across = np.linspace(-0.8, 0.8, 31)[None, :, None] * leg.inner_at(shares)[:, None, None]
    points = leg.points(shares)[:, None] + leg.outwards(shares)[:, None] * across
    x, y = np.rint(points).astype(int).transpose(2, 0, 1)
    return np.asarray(leg_folds(body, 1.0)[y, x])


def test_all_folds_go_with_their_strength(body: BodyModel) -> None:
    for folds in (torso_folds, arm_folds, leg_folds):
        full, half = folds(body, 1.0), folds(body, 0.5)
        np.testing.assert_allclose(full - 1, 2 * (half - 1), atol=1e-5)
        assert (folds(body, 0.0) == 1).all()
        assert 0.75 < full.min() < 0.95
        assert 1.0 < full.max() < 1.15


def test_both_thighs_fold_alike_but_not_the_same(body: BodyModel) -> None:
    left, right = thigh(body, LEFT), thigh(body, RIGHT)
    assert np.corrcoef(left.ravel(), right.ravel())[0, 1] > 0.9
    assert right.min() < left.min() - 0.01


def test_legs_fold_at_crotch_knee_and_hem(body: BodyModel) -> None:
    folds = leg_folds(body, 1.0)
    for side in SIDES:
        leg = body.legs[side]
        for share in (0.05, leg.bend, 0.95):
            x, y = leg.points(np.array([share], np.float32))[0].round().astype(int)
            around = folds[y - 25 : y + 26, x - 25 : x + 26]
            assert around.min() < 0.94


@pytest.mark.parametrize(("lightness", "depth"), [(0.9, 0.1), (0.8, 0.1), (0.1, 0.2925)])
def test_folds_are_deeper_in_dark_cloth(lightness: float, depth: float) -> None:
    colour, cover = np.full((4, 4, 3), lightness, np.float32), np.ones((4, 4), np.float32)
    piece = Piece("left_leg", colour, cover, np.zeros_like(cover), np.zeros((2, 2, 2), np.float32))
    assert 1 - deeper_on_dark(np.full((4, 4), 0.9, np.float32), piece) == pytest.approx(depth, abs=1e-3)
