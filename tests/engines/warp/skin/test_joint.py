"""Nobody sees where seen skin ends and invented skin begins."""

import numpy as np

from engines.base import Label
from engines.warp.skin.joint import led_to_seen

UNIT = 160.0


def lacking(label: Label, part: int) -> np.ndarray:
    """Skin of a label in the upper half that is lighter by a tenth; one part of the body all over."""
    beyond = np.full((240, 160, 3), 0.1, np.float32)
    labels = np.full((240, 160), Label.UPPER, np.uint8)
    labels[:120] = label
    everywhere, nowhere = np.ones(labels.shape, bool), np.zeros(labels.shape, bool)
    parts = tuple(everywhere if number == part else nowhere for number in range(3))
    return led_to_seen(beyond, labels, labels == label, (parts[0], parts[1], parts[2]), UNIT)


def test_there_is_no_step_at_the_joint_and_none_further_on() -> None:
    added = lacking(Label.NECK, 0)[:, 80, 0]
    assert abs(added[122] - 0.1) < 0.015
    assert added[230] < 0.03
    assert np.abs(np.diff(added)).max() < 0.006


def test_a_limb_keeps_the_colour_of_what_is_seen_of_it_for_longer() -> None:
    assert lacking(Label.ARMS, 1)[160, 80, 0] > lacking(Label.NECK, 0)[160, 80, 0] + 0.01


def test_an_arm_says_nothing_about_the_belly_beside_it() -> None:
    np.testing.assert_allclose(lacking(Label.ARMS, 0), 0.0, atol=1e-6)
