"""Contact shadows lie below what throws them, and have the colour of what they fall on."""

import numpy as np
import pytest

from engines.warp.composite.shadows import contact_shadow, shaded


def test_a_shadow_lies_below_its_cover_and_hardly_above_it() -> None:
    cover = np.zeros((200, 120), np.float32)
    cover[80:120] = 1
    shadow = contact_shadow(cover, 8.0, 0.5)[:, 60]
    below, above = 1 - shadow[124], 1 - shadow[75]
    assert below > 0.3
    assert above < 0.1 * below
    assert shadow[90:110].min() == pytest.approx(1.0)
    assert shadow[190] > 0.999


def test_a_garment_at_the_lower_edge_throws_no_shadow_on_the_upper_one() -> None:
    cover = np.zeros((100, 100), np.float32)
    cover[60:] = 1
    factor = contact_shadow(cover, 8.0, 0.5)
    assert factor[:10].min() > 0.999
    assert factor[56].max() < 0.99


def test_what_shows_through_a_soft_edge_is_no_lighter_than_what_is_beside_it() -> None:
    cover = np.zeros((100, 100), np.float32)
    cover[30:60] = 1
    cover[60], cover[61] = 0.75, 0.25
    factor = contact_shadow(cover, 6.0, 0.5)[:, 50]
    assert factor[60:62].max() < factor[64]
    assert factor[45] == 1


@pytest.mark.parametrize("colour", [(0.1, 0.2, 0.6), (0.6, 0.45, 0.3), (0.0, 0.6, 0.45), (0.90, 0.78, 0.72)])
def test_a_colour_deepens_in_the_shade_and_stays_itself_in_the_light(colour: tuple[float, float, float]) -> None:
    surface = np.array([[colour]], np.float32)
    (shade,) = shaded(surface, np.full((1, 1), 0.6, np.float32))[0]
    assert shade.mean() == pytest.approx(0.6 * np.mean(colour), rel=0.15)
    assert np.ptp(shade) / shade.max() >= np.ptp(colour) / max(colour)
    assert np.argmax(shade) == np.argmax(colour)
    (lit,) = shaded(surface, np.full((1, 1), 1.2, np.float32))[0]
    assert lit == pytest.approx(1.2 * surface[0, 0])


def test_grey_stays_grey() -> None:
    grey = np.full((1, 1, 3), 0.6, np.float32)
    assert shaded(grey, np.full((1, 1), 0.6, np.float32))[0, 0] == pytest.approx(np.full(3, 0.36), abs=1e-3)
    assert np.array_equal(shaded(grey, np.ones((1, 1), np.float32)), grey)
