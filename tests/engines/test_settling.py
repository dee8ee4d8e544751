"""The guided filter keeps to the edges of its guide; colours tell what was seen from what was not."""

import numpy as np
import pytest

from engines.settling import Guide, cells_of, histogram, lab_of, log_density


def split(height: int, width: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Dark on the left, light on the right."""
    picture = np.zeros((height, width), np.float32)
    picture[:, width // 2 :] = 1.0
    return picture


def test_even_map_stays_even() -> None:
    smooth = Guide(split(40, 60), 4, 1e-3).smooth(np.full((40, 60), 0.3, np.float32))

    assert np.abs(smooth - 0.3).max() < 1e-4


def test_noisy_map_is_settled_along_the_edge() -> None:
    edge = split(40, 60)
    noise = np.random.default_rng(0).normal(0, 0.2, edge.shape).astype(np.float32)

    smooth = Guide(edge, 4, 1e-3).smooth(edge + noise)

    assert ((smooth > 0.5) == (edge > 0.5)).all()
    assert np.abs(smooth - edge).max() < 0.15


def test_enlarged_map_takes_the_edge_of_the_large_guide() -> None:
    soft = split(40, 60)
    soft[:, 27:33] = np.linspace(0, 1, 6, dtype=np.float32)

    large = Guide(split(40, 60), 3, 1e-4).enlarge(soft, split(160, 240))

    step = np.abs(np.diff(large[80]))
    assert large.shape == (160, 240)
    assert step.argmax() == 119
    assert step[119] > 0.5


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
