"""Operations on masks in windows: the same as over the whole picture."""

import cv2
import numpy as np
import pytest

from engines.regions import (
    BoolMask,
    dilated,
    eroded,
    largest,
    nearest_known,
    pieces,
    runs_of,
    spread,
)


def blots(seed: int, inner: bool) -> BoolMask:
    """Blots of all sizes, within the picture or out to its border."""
    noise = np.random.default_rng(seed).standard_normal((140, 180)).astype(np.float32)
    mask = cv2.GaussianBlur(noise, (0, 0), 5) > 0.04
    if inner:
        mask[:30] = mask[-30:] = False
        mask[:, :40] = mask[:, -40:] = False
    return mask


def distance_from(mask: BoolMask) -> np.ndarray:
    """Of every pixel."""
    return cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)


@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("radius", [12, 19])
def test_large_disks_reach_as_far_as_distances_say(radius: int, inner: bool) -> None:
    mask = blots(radius, inner)
    assert np.array_equal(dilated(mask, radius), distance_from(mask) <= radius)
    assert np.array_equal(eroded(mask, radius), distance_from(~mask) > radius)


@pytest.mark.parametrize("radius", [3, 15])
@pytest.mark.parametrize("everywhere", [True, False])
def test_masks_without_an_outline_stay(radius: int, everywhere: bool) -> None:
    mask = np.full((40, 50), everywhere)
    assert np.array_equal(dilated(mask, radius), mask)
    assert np.array_equal(eroded(mask, radius), mask)


def test_largest_region_and_those_of_a_share_of_it() -> None:
    mask = np.zeros((40, 60), bool)
    mask[2:12, 2:12] = mask[20:26, 2:12] = mask[30:32, 2:4] = True
    assert largest(mask).sum() == 100
    assert largest(mask, 0.5).sum() == 160
    assert largest(mask, 0.01).sum() == 164
    assert not largest(np.zeros((5, 5), bool)).any()


def test_only_a_copy_of_a_single_region_is_handed_out() -> None:
    mask = np.ones((8, 8), bool)
    largest(mask)[:] = False
    assert mask.all()


def test_seeds_spread_over_what_hangs_together_with_them() -> None:
    mask = np.zeros((10, 30), bool)
    mask[5, 2:10] = mask[5, 12:20] = True
    seeds = np.zeros_like(mask)
    seeds[5, 10] = seeds[0, 29] = True
    found = spread(seeds, mask)
    assert found[5, 2:11].all()
    assert found[0, 29]
    assert found.sum() == 10


def test_pieces_touch_by_their_sides_and_come_in_windows() -> None:
    mask = np.zeros((20, 20), bool)
    mask[3:5, 3:5] = mask[5:7, 5:9] = True
    found = list(pieces(mask, 2))
    assert sorted(int(region.sum()) for _, region in found) == [4, 8]
    assert (slice(1, 7), slice(1, 7)) in [window for window, _ in found]
    together = np.zeros_like(mask)
    for window, region in found:
        together[window] |= region
    assert np.array_equal(together, mask)


def test_runs_of_a_row_are_told_by_their_first_places_and_ends() -> None:
    row = np.array([1, 1, 0, 0, 1, 0, 1], bool)
    assert runs_of(row).tolist() == [[0, 2], [4, 5], [6, 7]]
    assert runs_of(np.zeros(4, bool)).tolist() == []


def test_the_nearest_known_pixel_of_each_is_found_and_known_ones_are_their_own() -> None:
    known = np.zeros((5, 9), bool)
    known[2, 1] = known[2, 7] = True
    places = nearest_known(known)
    assert (places[:, :4] == 2 * 9 + 1).all()
    assert (places[:, 5:] == 2 * 9 + 7).all()
