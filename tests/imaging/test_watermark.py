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


def test_a_tall_logo_takes_a_quarter_of_the_height() -> None:
    stamped = stamp_logo(flat(1000, 1000, 0), np.full((600, 150, 4), 255, np.uint8))
    rows, columns = np.nonzero((stamped == 255).all(axis=2))
    assert (rows.min(), rows.max() + 1) == (1000 - 30 - 250, 1000 - 30)
    assert columns.max() + 1 - columns.min() == round(250 / 4)


def two_inks(left: int, right: int) -> NDArray[np.uint8]:
    """Two squares of different ink with nothing between them."""
    logo = np.zeros((60, 200, 4), np.uint8)
    logo[:, :60] = (left, left, left, 255)
    logo[:, 140:] = (right, right, right, 255)
    return logo


@pytest.mark.parametrize("ground", [0, 30, 128, 220, 255])
def test_each_ink_of_a_logo_is_set_off_by_itself(ground: int) -> None:
    stamped = stamp_logo(flat(1000, 1000, ground), two_inks(0, 255)).astype(int)
    left, right, row = 1000 - 30 - 180, 1000 - 30 - 1, 1000 - 30 - 27
    assert stamped[row, left - 2, 0] - stamped[row, left + 4, 0] > 60
    assert stamped[row, right - 4, 0] - stamped[row, right + 3, 0] > 60


@pytest.mark.parametrize("ink", [90, 128, 160])
@pytest.mark.parametrize("ground", range(0, 256, 15))
def test_a_halo_never_brings_the_ground_nearer_to_the_ink(ink: int, ground: int) -> None:
    stamped = stamp_logo(flat(1000, 1000, ground), np.full((60, 200, 4), (ink, ink, ink, 255), np.uint8)).astype(int)
    around = stamped[1000 - 30 - 27, 1000 - 30 - 180 - 2, 0]
    assert abs(around - ink) >= min(abs(ground - ink), 75)
    assert abs(around - ink) >= 60


def test_a_halo_has_one_side_where_ground_and_ink_are_alike() -> None:
    """Noise about as bright as the ink must not make it flicker between light and dark."""
    ground = np.random.default_rng(5).integers(118, 139, (1000, 1000, 1), dtype=np.uint8).repeat(3, axis=2)
    stamped = stamp_logo(ground, np.full((60, 200, 4), (128, 128, 128, 255), np.uint8)).astype(int)
    ring = stamped[1000 - 30 - 54 - 2, 1000 - 30 - 180 : 1000 - 30, 0]
    assert ring.min() > 170


def test_a_step_in_the_ground_gets_no_seam() -> None:
    """Ink that contrasts with both sides of a step needs no halo there; the step itself is softened a little."""
    ground = flat(1000, 1000, 0)
    ground[:, 880:] = 255
    stamped = stamp_logo(ground, np.full((60, 200, 4), (128, 128, 128, 255), np.uint8))
    above = stamped[1000 - 30 - 54 - 2]
    assert above[790:874].max() < 5
    assert above[886:970].min() > 250
    assert (np.diff(above[870:890, 0].astype(int)) >= 0).all()


def test_a_tiny_logo_is_enlarged_without_ringing() -> None:
    logo = np.zeros((16, 48, 4), np.uint8)
    logo[4:12, 8:40] = (200, 60, 30, 255)
    stamped = stamp_logo(flat(1000, 1000, 255), logo).astype(int)
    assert (stamped[..., 0] >= 195).all()
    assert (stamped[..., 2] >= 25).all()
