"""One crease: dark where cloth goes in under itself, running out into nothing."""

import itertools

import numpy as np

from engines.warp.folds.creases import Crease, creased

LEVEL = Crease((0.0, 0.5), (0.5, 0.5), (1.0, 0.5), 0.01, 0.03, 0.015)


def at(x: float, y: np.ndarray) -> np.ndarray:
    return LEVEL.heights(np.full((len(y), 1), x, np.float32), y.astype(np.float32)[:, None])[:, 0]


def test_cloth_goes_in_slowly_comes_out_fast_and_stands_out_below() -> None:
    y = np.linspace(0.3, 0.7, 401)
    height = at(0.1, y)
    crease = int(height.argmin())
    assert abs(y[crease] - 0.5) < 0.006
    assert height[crease] < -0.006
    slope = np.gradient(height, y)
    assert slope[crease:].max() > -slope[:crease].min()
    assert y[height.argmax()] > 0.51


def test_it_runs_out_into_nothing() -> None:
    y = np.linspace(0.4, 0.6, 201)
    depths = [-at(x, y).min() for x in np.linspace(0.05, 1.0, 20)]
    assert all(later <= before for before, later in itertools.pairwise(depths))
    assert depths[-1] < 1e-4
    assert np.abs(at(1.2, y)).max() < 1e-6


def test_one_that_is_deepest_half_way_begins_in_nothing_too() -> None:
    free = LEVEL._replace(deepest=0.5)
    y = np.full((1, 1), 0.5, np.float32)
    begin, middle = (float(free.heights(np.full((1, 1), x, np.float32), y)[0, 0]) for x in (0.0, 0.5))
    assert abs(begin) < 1e-4
    assert middle < -0.009


def test_what_is_far_from_a_crease_lies_flat() -> None:
    assert np.abs(creased(np.array([-0.5, 0.5], np.float32), 0.03, 0.015)).max() < 1e-2
