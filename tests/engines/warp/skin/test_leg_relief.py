"""A bare leg has the form of a leg, in the light of the photo."""

import numpy as np
import pytest

from engines.warp.body.bare_parts import BarePart, bare_leg
from engines.warp.body.model import LEFT, RIGHT, measure_body
from engines.warp.skin.leg_relief import DARKEST, LIGHTEST, leg_relief
from tests.engines.mannequin import draw_mannequin


@pytest.fixture(scope="module")
def legs() -> dict[int, BarePart]:
    body = measure_body(draw_mannequin(height=1024, width=768).person_map)
    return {side: bare_leg(body, side, 0.0) for side in (LEFT, RIGHT)}


def relief_at(leg: BarePart, place: float, aside: float, tilt: float = 0.0, gloss: float = 1.0) -> float:
    """Mean around a place: along the leg 1 at the knee and 2 at the ankle, across it 1 at its outer edge."""
    along, across = leg.share[leg.on], leg.across[leg.on] * leg.side
    own = np.where(along < leg.bend, along / leg.bend, 1.0 + (along - leg.bend) / (1.0 - leg.bend))
    near = (np.abs(own - place) < 0.02) & (np.abs(across - aside) < 0.1)
    return float(leg_relief(leg, tilt, gloss=gloss)[near].mean())


@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_a_kneecap_is_lighter_than_the_fold_below_it_and_the_hollows_beside_it(
    legs: dict[int, BarePart], side: int
) -> None:
    cap = relief_at(legs[side], 0.965, 0.05)
    assert cap > relief_at(legs[side], 1.055, 0.05) + 0.06
    assert cap > relief_at(legs[side], 0.985, -0.60) + 0.06


def test_the_shin_is_lighter_than_the_furrow_within_it(legs: dict[int, BarePart]) -> None:
    assert relief_at(legs[LEFT], 1.4, 0.05) > relief_at(legs[LEFT], 1.4, -0.42) + 0.05


def test_the_form_fades_at_the_outline_and_is_bounded(legs: dict[int, BarePart]) -> None:
    leg = legs[LEFT]
    relief = leg_relief(leg, 0.14)
    assert np.abs(relief[np.abs(leg.across[leg.on]) > 0.99] - 1.0).max() < 0.01
    assert relief.min() > 1.0 - DARKEST
    assert relief.max() < 1.0 + LIGHTEST


def test_light_from_one_side_falls_on_the_calf_that_faces_it(legs: dict[int, BarePart]) -> None:
    leg = legs[RIGHT]
    # The outer calf of the leg at the right faces the right of the picture, its inner one the left.
    assert relief_at(leg, 1.30, 0.72, tilt=0.14) < relief_at(leg, 1.30, 0.72, tilt=-0.14) - 0.02
    assert relief_at(leg, 1.36, -0.60, tilt=0.14) > relief_at(leg, 1.36, -0.60, tilt=-0.14) + 0.02


def test_two_legs_are_alike_but_no_mirror_images(legs: dict[int, BarePart]) -> None:
    places = [(place, aside) for place in np.arange(0.7, 1.8, 0.05) for aside in (-0.6, -0.3, 0.0, 0.3, 0.6)]
    one, other = (np.array([relief_at(legs[side], *place) for place in places]) for side in (LEFT, RIGHT))
    assert np.corrcoef(one, other)[0, 1] > 0.7
    assert np.abs(one - other).max() > 0.02


def test_dark_skin_shines_and_its_shadows_are_no_darker(legs: dict[int, BarePart]) -> None:
    usual, shining = (leg_relief(legs[LEFT], 0.0, gloss=gloss) for gloss in (1.0, 1.8))
    assert shining.max() - 1.0 > 1.5 * (usual.max() - 1.0)
    assert shining.min() == pytest.approx(usual.min())


def test_a_leg_whose_form_is_seen_gets_hardly_any(legs: dict[int, BarePart]) -> None:
    assert np.abs(leg_relief(legs[LEFT], 0.1, contrast=0.0) - 1.0).max() < 1e-6
