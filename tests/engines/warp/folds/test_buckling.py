"""Sheets that are longer than what lies below them."""

import numpy as np
import pytest

from engines.warp.folds.buckling import buckled, creased
from engines.warp.folds.excess import Band, Fan, Sheet, excess_of, torso

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


def test_a_fan_is_longer_across_its_rays_and_only_in_its_sector() -> None:
    xx, xy, yy = excess_of(FLAT._replace(gathered=(Fan(0.0, 0.45, -30.0, 30.0, 0.2, 0.1),)))
    right, left = (30, 40), (30, 20)
    assert yy[right] > 0.02
    assert xx[right] < 0.1 * yy[right]
    assert abs(xy[right]) < 0.1 * yy[right]
    assert yy[left] < 1e-4


def test_a_top_is_gathered_alike_on_both_sides() -> None:
    sheet = Sheet(1.2, 1.8, 0.03, 0.0, torso(), 1)
    xx, xy, yy = excess_of(sheet)
    for part, sign in ((xx, 1), (xy, -1), (yy, 1)):
        assert np.abs(part - sign * part[:, ::-1]).max() < 0.1 * np.abs(part).max()


def test_creases_are_narrower_than_the_hollows_between_them_and_differ() -> None:
    x = np.linspace(0, 0.9, 61, dtype=np.float32)
    waves = (0.01 + 0.01 * np.cos(x * 2 * np.pi / 0.09)).astype(np.float32)[None].repeat(61, axis=0)
    set_in = creased(waves, FLAT)
    ridges = set_in[:, (waves > 0.0199)[0]]
    assert ridges.std() > 0.15 * ridges.mean()
    for row in set_in[10:50]:
        assert (row > row.max() / 2).sum() < 0.8 * (waves[0] > 0.01).sum()
