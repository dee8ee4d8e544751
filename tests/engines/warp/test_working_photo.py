import numpy as np
import pytest

from engines.base import PersonMap
from engines.warp.working_photo import (
    WORKING_SIDE,
    changed_region,
    pasted_back,
    reduced_map,
    reduced_photo,
    working_scale,
)


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (height, width, 3)).astype(np.uint8)


def test_small_photos_are_worked_on_as_they_are() -> None:
    photo = noise(60, 50)
    assert working_scale(photo) == 1.0
    assert np.array_equal(np.rint(reduced_photo(photo, 1.0) * 255), photo)


def test_map_shrinks_with_the_photo() -> None:
    height, width = 2 * WORKING_SIDE, WORKING_SIDE
    landmarks = np.full((33, 4), 100, np.float32)
    before = PersonMap(np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8), landmarks, 1.0)
    after = reduced_map(before, 0.5)
    assert after.labels.shape == after.matte.shape == (WORKING_SIDE, WORKING_SIDE // 2)
    assert after.landmarks[0].tolist() == [50, 50, 50, 100]


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_only_the_changed_region_is_touched(factor: int) -> None:
    original = noise(80 * factor, 60 * factor)
    scale = 1 / factor
    before = reduced_photo(original, scale)
    after = before.copy()
    after[30:40, 20:30] = (0.1, 0.9, 0.1)
    result = pasted_back(original, after, changed_region(before, after))
    untouched = np.ones(original.shape[:2], bool)
    untouched[24 * factor : 46 * factor, 14 * factor : 36 * factor] = False
    assert np.array_equal(result[untouched], original[untouched])
    assert np.abs(result[35 * factor, 25 * factor].astype(int) - (26, 230, 26)).max() < 12
