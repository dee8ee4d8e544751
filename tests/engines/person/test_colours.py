"""Colours of cloth."""

import numpy as np
import pytest

from engines.person.colour_models import cells_of, histogram, lab_of, log_density


def cloth(colour: tuple[int, int, int]) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    noise = np.random.default_rng(0).integers(-6, 7, (30, 30, 3))
    return (np.array(colour) + noise).astype(np.uint8)


def test_lab_of_white_and_black() -> None:
    assert lab_of(np.full((8, 8, 3), 255, np.uint8))[4, 4] == pytest.approx((100, 0, 0), abs=0.1)
    assert lab_of(np.zeros((8, 8, 3), np.uint8))[4, 4] == pytest.approx((0, 0, 0), abs=0.1)


def test_seen_colour_is_likelier_than_an_unseen_one() -> None:
    blue, red = cells_of(lab_of(cloth((40, 60, 160)))), cells_of(lab_of(cloth((180, 40, 40))))
    shares = histogram(blue, np.ones(blue.shape, bool))

    assert shares.sum() == pytest.approx(1, abs=1e-4)
    assert log_density(shares, blue, 0.1).min() > log_density(shares, red, 0.1).max()
