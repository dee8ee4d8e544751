"""Lengths along the cloth of a hood, as they are worn."""

import numpy as np

from engines.warp.drape.hood_down import HEIGHT, lowered

UNIT = 200.0


def test_a_hood_that_stands_up_is_laid_down_on_the_shoulders() -> None:
    standing = 2.0 * HEIGHT * UNIT
    worn = lowered(np.linspace(-standing, 0.0, 9), standing, UNIT)
    assert np.isclose(worn[0], -HEIGHT * UNIT)
    assert np.all(np.diff(worn) > 0)


def test_a_low_hood_and_what_lies_below_its_foot_stay() -> None:
    lengths = np.linspace(-0.5 * HEIGHT * UNIT, 100.0, 9)
    assert np.allclose(lowered(lengths, 0.5 * HEIGHT * UNIT, UNIT), lengths)
    below = np.linspace(0.0, 100.0, 5)
    assert np.array_equal(lowered(below, 3.0 * HEIGHT * UNIT, UNIT), below)
