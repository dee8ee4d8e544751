from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from imaging.watermark import stamp_logo


def flat(width: int, height: int, value: int) -> NDArray[np.uint8]:
    return np.full((height, width, 3), value, np.uint8)


def logo_of(value: int, width: int = 200, height: int = 80) -> NDArray[np.uint8]:
    """A frame of the given grey around a transparent middle, whose hidden colour is a glaring magenta."""
    logo = np.full((height, width, 4), (value, value, value, 255), np.uint8)
    logo[height // 4 : -height // 4, width // 8 : -width // 8] = (255, 0, 255, 0)
    return logo


def test_place_and_size() -> None:
    picture = flat(1000, 1200, 128)
    stamped = stamp_logo(picture, np.full((50, 100, 4), 255, np.uint8))
    rows, columns = np.nonzero((stamped == 255).all(axis=2))
    assert (columns.min(), columns.max() + 1) == (1000 - 30 - 180, 1000 - 30)
    assert (rows.min(), rows.max() + 1) == (1200 - 30 - 90, 1200 - 30)


def test_nothing_changes_beyond_the_halo() -> None:
    picture = np.random.default_rng(1).integers(0, 256, (1200, 1000, 3), dtype=np.uint8)
    stamped = stamp_logo(picture, logo_of(255))
    reach = 9
    assert np.array_equal(stamped[: 1200 - 30 - 72 - reach], picture[: 1200 - 30 - 72 - reach])
    assert np.array_equal(stamped[:, : 1000 - 30 - 180 - reach], picture[:, : 1000 - 30 - 180 - reach])
    assert np.array_equal(stamped[-10:], picture[-10:])


def test_arguments_are_left_alone() -> None:
    picture, logo = flat(400, 400, 90), logo_of(10)
    before = picture.copy(), logo.copy()
    stamp_logo(picture, logo)
    assert np.array_equal(picture, before[0])
    assert np.array_equal(logo, before[1])


@pytest.mark.parametrize("ground", [0, 20, 128, 235, 255])
@pytest.mark.parametrize("ink", [0, 255])
def test_legible_on_every_ground(ground: int, ink: int) -> None:
    stamped = stamp_logo(flat(1000, 1000, ground), logo_of(ink)).astype(int)
    frame_row, outside_row = 1000 - 30 - 72 + 4, 1000 - 30 - 72 - 2
    contrast = abs(stamped[frame_row, 880, 0] - stamped[outside_row, 880, 0])
    assert contrast > 60


@pytest.mark.parametrize(("ground", "ink"), [(0, 255), (255, 0), (90, 255)])
def test_no_halo_where_the_ground_contrasts_anyway(ground: int, ink: int) -> None:
    stamped = stamp_logo(flat(1000, 1000, ground), np.full((50, 100, 4), (ink, ink, ink, 255), np.uint8))
    assert set(np.unique(stamped)) == {ground, ink}


def test_colours_under_transparency_never_show() -> None:
    stamped = stamp_logo(flat(700, 700, 128), logo_of(128)).astype(int)
    assert (np.ptp(stamped, axis=2) <= 1).all()


def test_half_transparent_ink_is_mixed_with_the_ground() -> None:
    logo = np.full((100, 100, 4), (255, 0, 0, 128), np.uint8)
    pixel = stamp_logo(flat(1000, 1000, 0), logo)[880, 880]
    assert 120 <= pixel[0] <= 200
    assert pixel[0] > pixel[1] + 100


def test_wholly_transparent_logo_changes_nothing() -> None:
    picture = flat(500, 500, 77)
    assert np.array_equal(stamp_logo(picture, np.zeros((40, 90, 4), np.uint8)), picture)


@pytest.mark.parametrize("size", [(256, 1024), (1024, 256), (256, 256), (20, 20), (3, 3), (1, 1)])
@pytest.mark.parametrize("logo_size", [(1, 1), (600, 50), (50, 600), (2000, 2000)])
def test_a_logo_never_outgrows_the_picture(size: tuple[int, int], logo_size: tuple[int, int]) -> None:
    picture = flat(*size, 128)
    stamped = stamp_logo(picture, np.full((logo_size[1], logo_size[0], 4), 255, np.uint8))
    assert stamped.shape == picture.shape
    if min(size) >= 256:
        assert (stamped[0] == 128).all()
        assert (stamped[:, 0] == 128).all()
        assert (stamped == 255).any()
