"""What falls from a hem on the shoe below it."""

import numpy as np

from engines.warp.composite.shadows import shadow_on_shoes


def test_a_shoe_is_dark_right_below_the_hem_and_lit_at_its_tip() -> None:
    legs, shoes = np.zeros((2, 80, 60), np.float32)
    legs[:40, 10:50] = 1.0
    shoes[36:70, 20:40] = 1.0
    factor = shadow_on_shoes(legs, shoes, 6.0, 0.7)
    assert factor[41, 30] < 0.6
    assert factor[66, 30] > 0.97
    assert np.all(np.diff(factor[41:66, 30]) >= 0)


def test_nothing_falls_beside_the_shoe() -> None:
    legs, shoes = np.zeros((2, 80, 60), np.float32)
    legs[:40, 10:50] = 1.0
    shoes[36:70, 20:30] = 1.0
    factor = shadow_on_shoes(legs, shoes, 6.0, 0.7)
    assert factor[42, 45] == 1.0
    assert (shadow_on_shoes(legs, np.zeros_like(shoes), 6.0, 0.7) == 1.0).all()
