"""Contact shadows lie below what throws them, and on skin they have its colour."""

import numpy as np
import pytest

from engines.warp.composite.shadows import contact_shadow, shaded

REACH, STRENGTH = 8.0, 0.5


def test_a_shadow_lies_below_its_cover_and_hardly_above_it() -> None:
    cover = np.zeros((200, 120), np.float32)
    cover[80:120] = 1
    shadow = contact_shadow(cover, REACH, STRENGTH)[:, 60]
    below, above = 1 - shadow[120 + round(REACH / 2)], 1 - shadow[79 - round(REACH / 2)]
    assert below > 0.3
    assert above < 0.1 * below
    assert shadow[90:110].min() == pytest.approx(1.0)


@pytest.mark.parametrize("colour", [(0.90, 0.78, 0.72), (0.45, 0.30, 0.22)])
def test_skin_becomes_redder_in_a_shadow(colour: tuple[float, float, float]) -> None:
    skin = np.full((4, 4, 3), colour, np.float32)
    dark = shaded(skin, np.full((4, 4), 0.6, np.float32))
    kept = (dark / skin)[0, 0]
    assert kept[0] > kept[1] > kept[2]
    assert kept[0] / kept[2] > 1.12
    assert kept.mean() == pytest.approx(0.6, abs=0.03)


def test_white_and_pale_blue_cloth_stays_as_it_is_but_for_the_light() -> None:
    for colour, most in (((0.9, 0.9, 0.9), 1.001), ((0.60, 0.68, 0.78), 1.12)):
        cloth = np.full((4, 4, 3), colour, np.float32)
        kept = (shaded(cloth, np.full((4, 4), 0.6, np.float32)) / cloth)[0, 0]
        assert max(kept) / min(kept) < most


def test_light_leaves_skin_its_colour() -> None:
    skin = np.full((4, 4, 3), (0.6, 0.45, 0.38), np.float32)
    np.testing.assert_allclose(shaded(skin, np.full((4, 4), 1.2, np.float32)), 1.2 * skin, rtol=1e-5)
