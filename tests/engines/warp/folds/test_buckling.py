"""Sheets that are longer than what lies below them."""

import numpy as np
import pytest

from engines.warp.folds.buckling import buckled
from engines.warp.folds.excess import Band, Sheet, excess_of

FLAT = Sheet(0.9, 0.9, 0.015, 0.0, (), 1)
PUSHED = Band(0.0, 0.45, 0.2, 0.2, 0.0, 0.08)


def slopes(heights: np.ndarray) -> tuple[float, float]:
    """Usual slopes along x and along y in the middle of a sheet."""
    down, across = (np.abs(part[10:-10, 10:-10]).mean() / 0.015 for part in np.gradient(heights))
    return float(across), float(down)


def test_cloth_that_is_as_long_as_the_body_lies_flat() -> None:
    assert buckled(FLAT, steps=600).max() < 0.004


@pytest.mark.parametrize("turned", [0.0, 90.0])
def test_cloth_folds_across_the_direction_in_which_it_is_pushed_together(turned: float) -> None:
    across, down = slopes(buckled(FLAT._replace(gathered=(PUSHED._replace(turned=turned),)), steps=600))
    steep, gentle = (across, down) if turned == 0 else (down, across)
    assert steep > 0.08
    assert steep > 1.3 * gentle


def test_more_excess_folds_deeper() -> None:
    less, more = (
        buckled(FLAT._replace(gathered=(PUSHED._replace(excess=excess),)), steps=600).std() for excess in (0.02, 0.08)
    )
    assert more > 1.3 * less


def test_the_same_sheet_buckles_the_same_way_every_time_and_another_seed_another_way() -> None:
    sheet = FLAT._replace(gathered=(PUSHED,))
    first = buckled(sheet, steps=60)
    assert np.array_equal(first, buckled(sheet, steps=60))
    assert not np.array_equal(first, buckled(sheet._replace(seed=2), steps=60))


def test_a_band_is_longer_in_its_own_direction_and_only_where_it_lies() -> None:
    xx, xy, yy = excess_of(FLAT._replace(gathered=(PUSHED._replace(turned=90.0),)))
    middle, beyond = (30, 30), (2, 2)
    assert yy[middle] > 0.02
    assert xx[middle] < 0.1 * yy[middle]
    assert abs(xy[middle]) < 0.1 * yy[middle]
    assert yy[beyond] < 0.1 * yy[middle]
