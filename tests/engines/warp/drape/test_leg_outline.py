"""Cloth of trousers has edges without dents, and keeps to its own width."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Landmark
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.leg_outline import LegRows, outline_of_leg
from tests.engines.mannequin import draw_mannequin

RISE, LEG, BROKEN = 16, 56, 14


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760, arms="out").person_map)


def rows_of(body: BodyModel, width: float, girth: float = 1.0, end: float = 1.05) -> LegRows:
    """Straight legs of a width in shoulder widths."""
    heights = np.linspace(0.8, body.crotch_height, RISE, endpoint=False)
    widths = np.full(RISE + LEG, width * body.shoulder_width)
    return LegRows(heights, np.linspace(0.0, end, LEG), widths, end, short=False, girth=girth)


def across(body: BodyModel, width: float, girth: float = 1.0) -> np.ndarray:
    laid = outline_of_leg(body, RIGHT, rows_of(body, width, girth))
    return np.asarray(np.linalg.norm(laid.outer - laid.inner, axis=1))


def test_the_outer_edge_has_no_dents(body: BodyModel) -> None:
    bumpy = {side: body.legs[side].outer.copy() for side in SIDES}
    for side in SIDES:
        bumpy[side] += 0.03 * body.shoulder_width * np.sin(np.arange(len(bumpy[side])))
    legs = {side: replace(body.legs[side], outer=bumpy[side]) for side in SIDES}
    for width in (0.3, 0.5):
        for side in SIDES:
            # What rests on a shoe is pushed together: see there.
            outer = outline_of_leg(replace(body, legs=legs), side, rows_of(body, width)).outer[:-BROKEN]
            turns = np.diff(np.arctan2(*np.diff(outer, axis=0).T))
            assert np.abs(turns).max() < np.radians(7)


def test_wide_legs_hang_straight_past_the_shin(body: BodyModel) -> None:
    widths = across(body, 0.5)[RISE + LEG // 2 :]
    assert widths.min() > 0.93 * widths.max()


def test_cloth_is_as_wide_as_it_is(body: BodyModel) -> None:
    knee = RISE + LEG // 2
    assert across(body, 0.5)[knee] == pytest.approx(0.5 * body.shoulder_width, rel=0.08)


@pytest.mark.parametrize("width", [0.1, 0.3, 0.5])
def test_larger_sizes_are_wider(body: BodyModel, width: float) -> None:
    fitting, larger = (across(body, width, girth)[RISE:] for girth in (1.0, 1.2))
    assert (larger > 1.05 * fitting).all()


def test_smaller_sizes_are_narrower_as_far_as_there_is_room(body: BodyModel) -> None:
    shin = slice(RISE + LEG // 2, None)
    loose, tight = (across(body, width, 0.85)[shin] / across(body, width)[shin] for width in (0.5, 0.1))
    assert loose == pytest.approx(0.85, abs=0.03)
    assert tight.min() > 0.90


def test_the_back_of_a_bent_knee_does_not_fold_over() -> None:
    person = draw_mannequin(960, 760).person_map
    unit = measure_body(person).shoulder_width
    landmarks = person.landmarks.copy()
    knee = landmarks[Landmark.RIGHT_HIP, :2] + unit * np.array([-1.2, 0.15])
    landmarks[Landmark.RIGHT_KNEE, :2], landmarks[Landmark.RIGHT_ANKLE, :2] = knee, knee + unit * np.array([0, 1.3])
    body = measure_body(replace(person, landmarks=landmarks))
    laid = outline_of_leg(body, LEFT, rows_of(body, 0.5))
    along = body.legs[LEFT].points(np.linspace(0.0, 1.05, LEG))
    ahead = np.diff(along, axis=0)
    steps = np.einsum("nk,nk->n", np.diff(laid.inner[RISE:], axis=0), ahead) / np.linalg.norm(ahead, axis=1)
    beyond_groin = slice(LEG // 4, None)
    assert steps[beyond_groin].min() > -0.1


@pytest.fixture
def raised_aside() -> BodyModel:
    """Somebody with the left of the picture's thighs raised sideways."""
    person = draw_mannequin(960, 760).person_map
    unit = measure_body(person).shoulder_width
    landmarks = person.landmarks.copy()
    knee = landmarks[Landmark.RIGHT_HIP, :2] + unit * np.array([-1.2, 0.15])
    landmarks[Landmark.RIGHT_KNEE, :2], landmarks[Landmark.RIGHT_ANKLE, :2] = knee, knee + unit * np.array([0, 1.3])
    return measure_body(replace(person, landmarks=landmarks))


def test_shorts_over_a_raised_thigh_end_before_the_knee(raised_aside: BodyModel) -> None:
    rows = rows_of(raised_aside, 0.5)
    short = replace(rows, shares=rows.shares * 0.25, end=0.25, short=True)
    laid = outline_of_leg(raised_aside, LEFT, short)
    assert np.isfinite(laid.inner).all()
    knee = raised_aside.legs[LEFT].points(np.array([raised_aside.legs[LEFT].bend], np.float32))[0]
    assert np.linalg.norm(laid.inner - knee, axis=1).min() > 0.2 * raised_aside.shoulder_width


def test_above_its_own_crotch_cloth_is_one(body: BodyModel) -> None:
    hanging = replace(rows_of(body, 0.4), crotch=0.12)
    inner = {side: outline_of_leg(body, side, hanging).inner[RISE:] for side in SIDES}
    above = hanging.shares <= 0.12
    assert inner[LEFT][above] == pytest.approx(inner[RIGHT][above], abs=1.5)
    apart = inner[RIGHT][-LEG // 3 :, 0] - inner[LEFT][-LEG // 3 :, 0]
    assert apart.min() > 0.0
