"""A bare arm has muscles and an elbow."""

import numpy as np
import pytest

from engines.warp.body.bare_parts import BarePart, bare_arm
from engines.warp.body.model import LEFT, RIGHT, SIDES, measure_body
from engines.warp.skin.arm_relief import arm_relief
from engines.warp.skin.light import USUAL_DEPTH, SkinLight, arm_form
from tests.engines.mannequin import draw_mannequin


def arm_of(side: int) -> BarePart:
    return bare_arm(measure_body(draw_mannequin(arms="out").person_map), side, 0.0)


def relief_at(arm: BarePart, along: float, out: float) -> float:
    """Along 0 to 1 from shoulder to elbow and on to 2 at the wrist; out from -1 at the inner to 1 at the outer edge."""
    share = along * arm.elbow if along < 1.0 else arm.elbow + (along - 1.0) * (1.0 - arm.elbow)
    near = (np.abs(arm.share[arm.on] - share) < 0.012) & (np.abs(arm.across[arm.on] * arm.side - out) < 0.1)
    return float(arm_relief(arm)[near].mean())


@pytest.mark.parametrize("side", SIDES)
def test_the_crook_of_the_elbow_is_darker_than_its_bone(side: int) -> None:
    arm = arm_of(side)
    assert relief_at(arm, 1.0, -0.2) < relief_at(arm, 1.0, 0.6) - 0.08


@pytest.mark.parametrize("side", SIDES)
def test_biceps_and_forearm_stand_out_beside_their_furrows(side: int) -> None:
    arm = arm_of(side)
    assert relief_at(arm, 0.7, -0.1) > relief_at(arm, 0.75, 0.52) + 0.08
    assert relief_at(arm, 1.25, 0.35) > relief_at(arm, 1.3, -0.1) + 0.08


def test_both_arms_are_alike() -> None:
    left, right = (relief_at(arm_of(side), 1.0, -0.2) for side in (LEFT, RIGHT))
    assert left == pytest.approx(right, abs=0.02)


def test_in_soft_light_the_form_is_weaker() -> None:
    arm = arm_of(LEFT)
    soft, usual = (arm_form(arm, SkinLight(0.0, depth)) for depth in (0.12, USUAL_DEPTH))
    assert np.abs(soft - 1.0).max() < 0.6 * np.abs(usual - 1.0).max()
