"""The drawn garments look like product photos to the programs that will read them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from cli.samples import SAMPLES, draw_sample, sample_person
from engines.base import Category

ALL = sorted(SAMPLES)
BORDER = 8
CLOTH_DIFFERENCE = 30
"""Cloth differs from the paper by more than this in some channel; the soft shadow stays below it."""

_drawn: dict[str, NDArray[np.uint8]] = {}


def picture_of(name: str) -> NDArray[np.uint8]:
    if name not in _drawn:
        _drawn[name] = draw_sample(name)
    return _drawn[name]


def border_of(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    frame = np.ones(picture.shape[:2], dtype=bool)
    frame[BORDER:-BORDER, BORDER:-BORDER] = False
    return picture[frame]


def cloth_mask(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    paper = np.median(border_of(picture), axis=0)
    difference = np.abs(picture.astype(float) - paper).max(axis=2)
    mask = (difference > CLOTH_DIFFERENCE).astype(np.uint8)
    closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((9, 9), dtype=np.uint8))
    return cv2.morphologyEx(closed, cv2.MORPH_OPEN, np.ones((3, 3), dtype=np.uint8))


def row_at(mask: NDArray[np.uint8], share: float) -> NDArray[np.uint8]:
    """The row at a share of the garment's height, from its top."""
    rows = np.flatnonzero(mask.any(axis=1))
    return mask[int(rows[0] + share * (rows[-1] - rows[0]))]


def runs(row: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """First and last column of every stretch of cloth wider than a stray pixel."""
    steps = np.flatnonzero(np.diff(np.concatenate([[0], row, [0]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(steps[::2], steps[1::2], strict=True) if b - a > 10]


def test_the_default_garment_comes_first() -> None:
    assert next(iter(SAMPLES)) == "striped_sweater"


@pytest.mark.parametrize("name", ALL)
def test_a_sample_is_known_by_its_name_and_has_a_category(name: str) -> None:
    sample = SAMPLES[name]
    assert sample.name == name
    assert sample.description
    assert sample.category in set(Category)


@pytest.mark.parametrize("name", ALL)
def test_drawing_twice_gives_the_same_pixels(name: str) -> None:
    np.testing.assert_array_equal(picture_of(name), draw_sample(name))


@pytest.mark.parametrize("name", ALL)
def test_it_is_a_colour_picture_of_the_promised_size(name: str) -> None:
    picture = picture_of(name)
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert picture.shape[2] == 3
    assert max(picture.shape) == 1024


@pytest.mark.parametrize("name", ALL)
def test_the_border_is_plain_and_nearly_white(name: str) -> None:
    border = border_of(picture_of(name)).astype(float)
    assert border.min() > 225
    assert border.std(axis=0).max() < 3


@pytest.mark.parametrize("name", ALL)
def test_the_garment_is_one_piece(name: str) -> None:
    mask = cloth_mask(picture_of(name))
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask)
    areas = stats[1:count, cv2.CC_STAT_AREA]
    assert areas.max() > 0.15 * mask.size
    assert areas.max() > 0.998 * areas.sum()


@pytest.mark.parametrize("share", [0.5, 0.6, 0.75])
def test_long_sleeves_leave_a_gap_to_the_torso(share: float) -> None:
    left, torso, right = runs(row_at(cloth_mask(picture_of("striped_sweater")), share))
    assert torso[0] - left[1] > 0.05 * (torso[1] - torso[0])
    assert right[0] - torso[1] > 0.05 * (torso[1] - torso[0])


def test_short_sleeves_stick_out_above_open_ground() -> None:
    mask = cloth_mask(picture_of("plain_tee"))
    sleeves = np.flatnonzero(mask.any(axis=0))
    (torso,) = runs(row_at(mask, 0.42))
    assert torso[1] - torso[0] < 0.8 * (sleeves[-1] - sleeves[0])


@pytest.mark.parametrize("name", ALL)
def test_it_is_nearly_but_not_quite_symmetric(name: str) -> None:
    mask = cloth_mask(picture_of(name)).astype(bool)
    columns = np.flatnonzero(mask.any(axis=0))
    cropped = mask[:, columns[0] : columns[-1] + 1]
    flipped = cropped[:, ::-1]
    overlap = (cropped & flipped).sum() / (cropped | flipped).sum()
    assert 0.93 < overlap < 0.9999


@pytest.mark.parametrize("name", ["striped_sweater", "plain_tee", "summer_dress"])
def test_the_inside_of_the_back_is_darker_than_the_front(name: str) -> None:
    picture = picture_of(name).astype(float)
    mask = cloth_mask(picture_of(name)).astype(bool)
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    middle, height = (columns[0] + columns[-1]) // 2, rows[-1] - rows[0]
    beside_label = slice(middle - 42, middle - 30)
    top = int(np.flatnonzero(mask[:, middle - 36])[0])
    inside = picture[top + int(0.03 * height) : top + int(0.075 * height), beside_label].mean()
    front = picture[top + int(0.17 * height) : top + int(0.30 * height), beside_label].mean()
    assert inside < 0.93 * front


def test_an_unknown_sample_is_refused() -> None:
    with pytest.raises(KeyError):
        draw_sample("top_hat")


def test_the_person_is_the_portrait_at_its_own_size() -> None:
    portrait = sample_person()
    assert portrait.shape == (512, 512, 3)
    assert portrait.dtype == np.uint8
