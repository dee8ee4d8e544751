"""Folds drawn from the pose alone."""

from dataclasses import replace

import numpy as np
import pytest

from engines.warp.body.limbs import Limb
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.composite.drawn_folds import ABOVE_HEM, arm_folds, leg_folds, torso_folds
from engines.warp.composite.fold_strokes import DEEPER_IN_WEAVE, Fold, drawn, shown_on
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

ABOVE = (0.0, -1.0)
HEM = 1.6


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760).person_map)


def thigh(body: BodyModel, side: int) -> np.ndarray:
    """Folds of a thigh, ``(rows, columns)`` from the inside outwards."""
    leg = body.legs[side]
    shares = (np.linspace(0.02, 0.2, 40) + 0.01 * side).astype(np.float32)
    across = np.linspace(-0.8, 0.8, 31)[None, :, None] * leg.inner_at(shares)[:, None, None]
    points = leg.points(shares)[:, None] + leg.outwards(shares)[:, None] * across
    x, y = np.rint(points).astype(int).transpose(2, 0, 1)
    return np.asarray(leg_folds(body, ABOVE)[y, x])


def bent(limb: Limb, angle: float) -> Limb:
    """The same limb with its lower part turned outwards around elbow or knee."""
    middle = limb.points(np.array([limb.bend], np.float32))[0]
    lower = limb.shares > limb.bend
    turn = np.radians(angle)
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]], np.float32)
    line, outward = limb.line.copy(), limb.outward.copy()
    line[lower] = middle + (line[lower] - middle) @ matrix.T
    outward[lower] = outward[lower] @ matrix.T
    return replace(limb, line=line, outward=outward)


def cloth(lightness: float) -> Piece:
    colour, cover = np.full((40, 40, 3), lightness, np.float32), np.ones((40, 40), np.float32)
    return Piece("left_leg", colour, cover, np.zeros_like(cover), np.zeros((2, 2, 2), np.float32))


def test_folds_are_the_same_every_time_and_as_deep_as_those_of_worn_clothes(body: BodyModel) -> None:
    for draw in (lambda: torso_folds(body, ABOVE, HEM), lambda: arm_folds(body, ABOVE), lambda: leg_folds(body, ABOVE)):
        change = draw()
        assert change.shape == body.shape
        assert np.array_equal(change, draw())
        assert -0.25 < change.min() < -0.06
        assert 0.02 < change.max() < 0.12


def test_both_thighs_fold_alike_but_not_the_same(body: BodyModel) -> None:
    left, right = thigh(body, LEFT), thigh(body, RIGHT)
    alike = np.corrcoef(left.ravel(), right.ravel())[0, 1]
    assert 0.4 < alike < 0.99


def test_legs_fold_at_crotch_knee_and_hem(body: BodyModel) -> None:
    folds = leg_folds(body, ABOVE)
    for side in SIDES:
        leg = body.legs[side]
        for share in (0.05, leg.bend, 0.93):
            x, y = leg.points(np.array([share], np.float32))[0].round().astype(int)
            around = folds[y - 25 : y + 26, x - 25 : x + 26]
            assert around.min() < -0.03


def test_a_bent_elbow_folds_more_than_a_straight_one(body: BodyModel) -> None:
    def at_elbow(arm: Limb) -> float:
        folds = arm_folds(replace(body, arms={**body.arms, RIGHT: arm}), ABOVE)
        x, y = arm.points(np.array([arm.bend], np.float32))[0].round().astype(int)
        return float(-folds[y - 12 : y + 13, x - 12 : x + 13].min())

    assert at_elbow(bent(body.arms[RIGHT], -70)) > 1.4 * at_elbow(body.arms[RIGHT])


def test_only_cloth_that_ends_at_the_hips_hangs_down_in_folds_above_its_hem(body: BodyModel) -> None:
    top, dress, cropped = (torso_folds(body, ABOVE, hem) for hem in (HEM, 3.0, 1.0))
    assert np.array_equal(dress, cropped)
    differing = np.abs(top - dress) > 0.01
    heights = body.heights[differing] * body.torso_length / body.shoulder_width
    assert heights.min() > HEM + min(fan.down for fan in ABOVE_HEM) - 0.2
    assert heights.max() < HEM + 0.2


@pytest.mark.parametrize("light", [(0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)])
def test_the_flank_towards_the_light_is_the_lit_one(light: tuple[float, float]) -> None:
    way = np.array([-light[1], light[0]], np.float32)
    change = drawn((120, 120), [Fold(np.array([60, 60], np.float32), way, 30.0, 6.0, 0.1, sag=0.0)], light)
    towards = tuple(int(60 + 10 * part) for part in light)
    away = tuple(int(60 - 10 * part) for part in light)
    assert change[towards[1], towards[0]] > 0.02
    assert change[away[1], away[0]] < 0.002
    assert change[60, 60] < -0.06


def test_black_cloth_shows_drawn_folds_as_highlights_and_white_cloth_as_shade() -> None:
    valley, flank = np.full((40, 40), -0.05, np.float32), np.full((40, 40), 0.05, np.float32)
    for lightness in (0.05, 0.95):
        assert shown_on(cloth(lightness), valley, None, 100.0) == pytest.approx(1 - 0.05 * DEEPER_IN_WEAVE[0])
    assert shown_on(cloth(0.05), flank, None, 100.0).mean() > 1.1
    assert shown_on(cloth(0.95), flank, None, 100.0).mean() < 1.03


def test_a_white_print_in_black_cloth_does_not_shine() -> None:
    piece = cloth(0.05)
    piece.colour[16:24, 16:24] = 0.9
    factor = shown_on(piece, np.full((40, 40), 0.05, np.float32), None, 100.0)
    assert factor[20, 20] < 1.05
    assert factor[2, 2] > 1.1


def test_folds_are_drawn_deeper_in_coarse_weave_than_in_smooth_cloth() -> None:
    valley = np.full((40, 40), -0.05, np.float32)
    woven = cloth(0.5)
    woven.colour[:] *= np.random.default_rng(0).normal(1, 0.06, (40, 40, 1)).astype(np.float32)
    smooth = shown_on(cloth(0.5), valley, None, 100.0).min()
    assert 0.9 < smooth < 0.94
    assert shown_on(woven, valley, None, 100.0).min() < smooth - 0.02


@pytest.mark.parametrize("lightness", [0.05, 0.3, 0.5])
def test_folds_of_other_cloth_are_carried_over_as_deep_as_they_are(lightness: float) -> None:
    seen = np.linspace(-0.1, 0.08, 1600, dtype=np.float32).reshape(40, 40)
    factor = shown_on(cloth(lightness), np.zeros_like(seen), seen, 100.0)
    assert np.abs(factor - 1 - seen).max() < 0.02


def test_white_cloth_shows_folds_of_other_cloth_less() -> None:
    seen = np.linspace(-0.1, 0.08, 1600, dtype=np.float32).reshape(40, 40)
    factor = shown_on(cloth(0.95), np.zeros_like(seen), seen, 100.0)
    assert 0.94 < factor.min() < 0.96
    assert factor.max() < 1.02
