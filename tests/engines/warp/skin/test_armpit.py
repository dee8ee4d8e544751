"""Between a hanging arm and the chest there is a crease."""

import numpy as np
import pytest

from engines.warp.body.bare_parts import bare_arm, bare_torso
from engines.warp.body.model import LEFT, SIDES, BodyModel, measure_body
from engines.warp.skin.armpit import APART, ARMPIT, draw_armpits
from tests.engines.mannequin import draw_mannequin

TONE = (0.8, 0.62, 0.5)


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(sleeves="long").person_map)


def creased(body: BodyModel, hidden: float = 1.0, clothed: float = 0.0) -> np.ndarray:
    """Even skin over the whole picture with its armpits."""
    arms = {side: bare_arm(body, side, 0.0) for side in SIDES}
    even = np.full((*body.shape, 3), TONE, np.float32)
    everywhere = np.ones(body.shape, np.float32)
    torso = bare_torso(body).on
    drawn = {"hidden": hidden * everywhere, "clothed": clothed * everywhere}
    draw_armpits(even, arms, torso, **drawn, unit=body.shoulder_width)
    return even


def around_armpit(body: BodyModel, along: tuple[float, float]) -> np.ndarray:
    """Where arm and torso meet, between shares of the upper arm."""
    arm, torso = bare_arm(body, LEFT, 0.0), bare_torso(body).on
    share = arm.share / arm.elbow
    inner = arm.on & (arm.across * LEFT < -0.7) & (share > along[0]) & (share < along[1])
    beside = np.zeros_like(torso)
    reach = round(2 * APART * body.shoulder_width) + 1
    for step in range(1, reach + 1):
        beside |= np.roll(torso & ~arm.on, LEFT * step, axis=1)
    return np.asarray(inner & beside)


def test_it_is_dark_in_the_armpit_and_lost_above(body: BodyModel) -> None:
    skin = creased(body)
    at, above = around_armpit(body, (ARMPIT[0] - 0.02, ARMPIT[1])), around_armpit(body, (0.0, 0.03))
    assert at.any()
    assert skin[at].min() < 0.85 * min(TONE)
    assert not above.any() or skin[above].mean() > 0.95 * np.mean(TONE)


def test_it_is_warm(body: BodyModel) -> None:
    skin = creased(body)
    red, _, blue = skin[np.unravel_index(np.argmin(skin[..., 1]), body.shape)] / np.array(TONE)
    assert red > blue + 0.03


def test_away_from_it_nothing_changes(body: BodyModel) -> None:
    skin = creased(body)
    far = (np.abs(body.laterals) < 0.2) | (body.heights > 0.8) | (body.heights < -0.3)
    np.testing.assert_allclose(skin[far], np.broadcast_to(np.float32(TONE), skin[far].shape), atol=0.01)


def test_seen_skin_has_its_own_and_under_cloth_there_is_none(body: BodyModel) -> None:
    even = np.full((*body.shape, 3), TONE, np.float32)
    np.testing.assert_allclose(creased(body, hidden=0.0), even, atol=1e-6)
    np.testing.assert_allclose(creased(body, clothed=1.0), even, atol=1e-6)
