"""Slim tops show the body under loose old ones; boxy and short-sleeved ones lie on what is seen."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Landmark
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.warp.body.model import RIGHT, SIDES, BodyModel, measure_body
from engines.warp.body.seen_width import seen_half_width
from engines.warp.body.slim_width import MOST_NARROWER, slim_half_width
from engines.warp.drape.close_fit import HUGS, SLIM, held_in, most_off, slack_of, worn_half_width
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import Mannequin, draw_mannequin

HEIGHTS = np.linspace(0.1, 1.2, 120)
AT_WAIST = (HEIGHTS > 0.5) & (HEIGHTS < 0.62)


def loosely_dressed(mannequin: Mannequin | None = None) -> BodyModel:
    """Somebody whose top falls straight from the chest, far from the waist."""
    body = measure_body((mannequin or draw_mannequin(960, 760, arms="out", sleeves="long")).person_map)
    loose = {side: np.maximum(body.widths[side], 0.50 * body.shoulder_width).astype(np.float32) for side in SIDES}
    return replace(body, widths=loose)


def top(kind: str, proportion: float) -> UpperLandmarks:
    marks = find_upper_landmarks(cut_out(draw_garment(kind).picture))
    length = marks.chest / proportion
    return replace(marks, hem=float(marks.shoulders.neck_foot[1]) + length)


def test_a_slim_top_is_worn_closer_than_the_loose_one_it_takes_the_place_of() -> None:
    body, marks = loosely_dressed(), top("long sleeve", SLIM)
    seen, worn = seen_half_width(body, HEIGHTS, RIGHT), worn_half_width(marks, body, HEIGHTS, RIGHT)
    assert slack_of(marks) == pytest.approx(0.0)
    assert (worn / seen)[AT_WAIST].max() < 0.9
    assert (worn / seen).min() >= 1 - MOST_NARROWER - 1e-6


@pytest.mark.parametrize(("kind", "proportion"), [("long sleeve", 0.7), ("t-shirt", SLIM)])
def test_a_boxy_or_short_sleeved_top_lies_on_what_is_seen(kind: str, proportion: float) -> None:
    body, marks = loosely_dressed(), top(kind, proportion)
    np.testing.assert_allclose(
        worn_half_width(marks, body, HEIGHTS, RIGHT), seen_half_width(body, HEIGHTS, RIGHT), rtol=1e-6
    )


def test_a_short_top_without_sleeves_comes_in_to_the_bare_belly_and_a_long_one_does_not() -> None:
    body, marks = loosely_dressed(draw_mannequin(960, 760, arms="out", sleeves="none")), top("tank top", 1.2)
    seen = seen_half_width(body, HEIGHTS, RIGHT)
    worn = worn_half_width(marks, body, HEIGHTS, RIGHT)
    assert (worn / seen)[AT_WAIST].max() < 0.95
    np.testing.assert_array_equal(worn[HUGS[0] > HEIGHTS], seen[HUGS[0] > HEIGHTS])
    np.testing.assert_array_equal(worn_half_width(top("tank top", SLIM), body, HEIGHTS, RIGHT), seen)


def test_the_hem_of_a_short_top_does_not_stand_off_and_that_of_a_long_one_may() -> None:
    short, long = top("tank top", 1.2), top("tank top", SLIM)
    edge = 100.0 + 40.0 * np.maximum(HEIGHTS - 0.5, 0.0)
    assert np.diff(held_in(short, edge, HEIGHTS)[HUGS[0] < HEIGHTS]).max() <= 0
    np.testing.assert_array_equal(held_in(long, edge, HEIGHTS), edge)
    assert np.all(np.array(most_off(short)) < most_off(long))


def test_hips_are_as_wide_as_the_trousers_on_them() -> None:
    body = loosely_dressed()
    seen = seen_half_width(body, HEIGHTS, RIGHT)
    slim = slim_half_width(body, HEIGHTS, RIGHT, seen)
    at_hips = body.waist.height - 0.07 < HEIGHTS
    np.testing.assert_array_equal(slim[at_hips], seen[at_hips])


def test_beside_a_forearm_across_the_belly_nothing_changes() -> None:
    mannequin = draw_mannequin(960, 760, sleeves="long")
    landmarks = mannequin.person_map.landmarks.copy()
    landmarks[Landmark.LEFT_WRIST, :2] = 390, 0.42 * 960
    crossing = replace(mannequin, person_map=replace(mannequin.person_map, landmarks=landmarks))
    body = loosely_dressed(crossing)
    seen = seen_half_width(body, HEIGHTS, RIGHT)
    assert slim_half_width(body, HEIGHTS, RIGHT, seen) is seen
