"""A bare leg has a knee."""

import numpy as np

from engines.warp.body.bare_parts import BarePart, bare_leg
from engines.warp.body.model import LEFT, measure_body
from engines.warp.plate.leg_relief import leg_relief
from tests.engines.mannequin import draw_mannequin


def relief_at(leg: BarePart, along: float, aside: float) -> float:
    near = (np.abs(leg.share[leg.on] - leg.bend - along) < 0.01) & (np.abs(np.abs(leg.across[leg.on]) - aside) < 0.1)
    return float(leg_relief(leg)[near].mean())


def test_a_kneecap_is_lighter_than_what_is_beside_and_below_it() -> None:
    leg = bare_leg(measure_body(draw_mannequin().person_map), LEFT, 0.0)
    cap = relief_at(leg, -0.012, 0.1)
    assert cap > relief_at(leg, 0.0, 0.64) + 0.06
    assert cap > relief_at(leg, 0.046, 0.1) + 0.06


def test_the_outline_and_the_thigh_have_no_relief() -> None:
    leg = bare_leg(measure_body(draw_mannequin().person_map), LEFT, 0.0)
    relief = leg_relief(leg)
    assert np.abs(relief[np.abs(leg.across[leg.on]) > 0.99] - 1.0).max() < 0.01
    assert np.abs(relief[leg.share[leg.on] < leg.bend - 0.2] - 1.0).max() < 0.01


def test_the_shin_is_lighter_than_the_calf_beside_it() -> None:
    leg = bare_leg(measure_body(draw_mannequin().person_map), LEFT, 0.0)
    assert relief_at(leg, 0.25, 0.0) > relief_at(leg, 0.25, 0.5) + 0.10
