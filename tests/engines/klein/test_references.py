from __future__ import annotations

import numpy as np
import pytest

from engines.klein.references import (
    GRID,
    LONGEST_TO_SHORTEST,
    MEGAPIXEL,
    SHORTEST_SIDE,
    Frame,
    frame_for,
    laid_out,
    prepared_garment,
    prepared_person,
)
from tests.engines.klein.tiny import noise

SIZES = [
    (1024, 768), (4032, 3024), (3024, 4032), (1280, 720), (1000, 750), (1001, 667), (256, 1024), (8000, 2000),
    (300, 300), (2047, 1023), (1040, 1009), (5000, 4999), (257, 256),
]  # fmt: skip


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("megapixels", [1.0, 0.5, 0.25])
def test_canvases_suit_the_network_and_keep_proportions(height: int, width: int, megapixels: float) -> None:
    frame = frame_for(height, width, megapixels)
    assert frame.canvas_height % GRID == frame.canvas_width % GRID == 0
    assert frame.canvas_height * frame.canvas_width <= megapixels * MEGAPIXEL
    assert 0 <= frame.canvas_height - frame.height < GRID
    assert 0 <= frame.canvas_width - frame.width < GRID
    assert frame.height <= height
    assert frame.width <= width
    # One side is chosen, the other follows from it to within half a pixel.
    off = min(abs(frame.height - frame.width * height / width), abs(frame.width - frame.height * width / height))
    assert off <= 0.5


@pytest.mark.parametrize(("height", "width"), [size for size in SIZES if size[0] * size[1] > MEGAPIXEL])
def test_nearly_all_that_is_allowed_is_used(height: int, width: int) -> None:
    frame = frame_for(height, width, 1.0)
    assert frame.height * frame.width > 0.75 * MEGAPIXEL


@pytest.mark.parametrize(
    ("size", "frame"),
    [
        ((1024, 768), Frame(1024, 768, 1024, 768)),
        ((4032, 3024), Frame(1152, 864, 1152, 864)),
        ((3024, 4032), Frame(864, 1152, 864, 1152)),
        ((1000, 750), Frame(1000, 750, 1008, 752)),
        ((40, 80), Frame(64, 128, 64, 128)),
    ],
)
def test_known_frames(size: tuple[int, int], frame: Frame) -> None:
    assert frame_for(*size, 1.0) == frame


def test_a_photo_of_the_right_size_is_shown_as_it_is() -> None:
    photo = noise(96, 64, 1)
    person, frame = prepared_person(photo, 1.0)
    np.testing.assert_array_equal(person, photo)
    np.testing.assert_array_equal(frame.cut_out(person), photo)


def test_the_canvas_is_cut_back_to_the_photo() -> None:
    photo = noise(100, 75, 2)
    person, frame = prepared_person(photo, 1.0)
    assert person.shape == (112, 80, 3)
    np.testing.assert_array_equal(frame.cut_out(person), photo)
    np.testing.assert_array_equal(person[100:], np.broadcast_to(person[99], (12, 80, 3)))


def test_a_point_of_the_photo_stays_where_it_was() -> None:
    """A cross in a large photo is found at the same share of both sides of what comes back."""
    photo = np.zeros((2000, 1330, 3), np.uint8)
    photo[1500:1516, :], photo[:, 400:416] = 255, 255
    person, frame = prepared_person(photo, 1.0)
    back = frame.cut_out(person).astype(float).mean(axis=2)
    # Away from the other bar, so that one alone is weighed.
    rows, columns = back[:, : frame.width // 10].sum(axis=1), back[: frame.height // 10].sum(axis=0)
    down = ((np.arange(len(rows)) + 0.5) * rows).sum() / rows.sum() / frame.height
    across = ((np.arange(len(columns)) + 0.5) * columns).sum() / columns.sum() / frame.width
    assert down == pytest.approx(1508 / 2000, abs=2e-4)
    assert across == pytest.approx(408 / 1330, abs=2e-4)


@pytest.mark.parametrize("size", [(2000, 100), (30, 900), (10, 10), (700, 500)])
def test_garments_are_never_too_small_or_too_long(size: tuple[int, int]) -> None:
    garment = prepared_garment(noise(*size, 3), 0.25)
    height, width = garment.shape[:2]
    assert min(height, width) >= SHORTEST_SIDE
    assert max(height, width) <= LONGEST_TO_SHORTEST * min(height, width)
    assert height % GRID == width % GRID == 0


def test_a_thin_garment_is_in_the_middle_of_its_ground() -> None:
    picture = np.full((1600, 50, 3), 240, np.uint8)
    picture[:, 20:30] = 0
    garment = prepared_garment(picture, 1.0)
    dark = np.flatnonzero(garment[0, :, 0] < 120)
    assert dark.mean() == pytest.approx((garment.shape[1] - 1) / 2, abs=GRID / 2)
    assert garment[0, 0, 0] == garment[-1, -1, 0] == 240


def test_laying_out_needs_no_room_where_the_picture_fits() -> None:
    photo = noise(64, 64, 4)
    assert laid_out(photo, Frame(64, 64, 64, 64)).shape == (64, 64, 3)
