"""A hidden upper arm has the light of the seen forearm, from edge to edge."""

import numpy as np
import pytest

from engines.warp.body.bare_parts import BarePart, bare_arm
from engines.warp.body.model import LEFT, BodyModel, measure_body
from engines.warp.skin.limb_profile import LARGEST, along_limb
from tests.engines.mannequin import draw_mannequin

CUFF = 0.45
"""Share of the arm down to which a sleeve hid it."""


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(arms="out").person_map)


@pytest.fixture(scope="module")
def arm(body: BodyModel) -> BarePart:
    return bare_arm(body, LEFT, 0.0)


def added_to(arm: BarePart, beyond: np.ndarray, body: BodyModel, first: float = CUFF) -> np.ndarray:
    """``(height, width, 3)`` of what the profile adds."""
    added = np.zeros((*body.shape, 3), np.float32)
    added[arm.on] = along_limb(beyond[arm.on], arm, arm.on & (arm.share > first), body.shoulder_width)
    return added


def test_light_from_one_side_goes_on_above_the_cuff(arm: BarePart, body: BodyModel) -> None:
    beyond = (0.06 * arm.across)[..., None] * np.array([1.0, 0.5, -0.5], np.float32)
    added = added_to(arm, beyond.astype(np.float32), body)
    above = arm.on & (arm.share > CUFF - 0.1) & (arm.share < CUFF) & (np.abs(arm.across) < 0.8)
    assert np.abs(added - 0.9 * beyond)[above].max() < 0.015
    assert added[above & (arm.across > 0.5), 0].min() > 0.02


def test_it_fades_towards_the_shoulder(arm: BarePart, body: BodyModel) -> None:
    added = added_to(arm, np.full((*body.shape, 3), 0.05, np.float32), body)
    at_cuff, at_shoulder = arm.on & (np.abs(arm.share - CUFF) < 0.02), arm.on & (arm.share < 0.04)
    assert added[at_cuff].mean() == pytest.approx(0.05, abs=0.003)
    assert 0.0 < added[at_shoulder].mean() < 0.8 * added[at_cuff].mean()


def test_the_shadow_right_below_the_cuff_is_not_learnt(arm: BarePart, body: BodyModel) -> None:
    shadow = np.where(arm.share < CUFF + 0.03, np.float32(-0.3), np.float32(0.0))
    added = added_to(arm, np.repeat(shadow[..., None], 3, axis=2), body)
    assert np.abs(added[arm.on]).max() < 0.01


def test_a_tattoo_is_not_carried_on(arm: BarePart, body: BodyModel) -> None:
    added = added_to(arm, np.full((*body.shape, 3), -0.5, np.float32), body)
    assert np.abs(added).max() <= LARGEST + 1e-6


def test_an_arm_that_is_hardly_seen_says_nothing(arm: BarePart, body: BodyModel) -> None:
    assert not added_to(arm, np.full((*body.shape, 3), 0.1, np.float32), body, first=1.09).any()
