"""Drawn necklines that were found a little too high in some places."""

import cv2
import numpy as np

from engines.garment.neck_rests import led_around, rests_of_back
from engines.garment.neckline import inner_back, without_inner_back
from tests.engines.garment.test_neckline import AXIS, LEFT, RIGHT, SIDE, TOP, TORSO, WIDTH, flat, hung, plain

LINE = np.stack([np.linspace(LEFT[0], RIGHT[0], 37), hung(0.6)[np.linspace(LEFT[0], RIGHT[0], 37).astype(int)]], axis=1)
ROWS = np.arange(SIDE)[:, None]


def found() -> np.ndarray:
    """The inside of the back as it was found."""
    return (hung(0.6)[None] > ROWS) & (np.abs(np.arange(SIDE) - AXIS) < WIDTH / 2)[None] & (ROWS > TOP + 16)


def hanging(width: float, depth: float) -> np.ndarray:
    """A piece of something that goes on below what was found, right of the middle."""
    offset = np.arange(SIDE)[None] - AXIS
    return (offset > 6) & (offset < 6 + width) & (hung(0.6)[None] <= ROWS) & (hung(0.6)[None] + depth > ROWS)


def shirt(mark: np.ndarray) -> np.ndarray:
    """A plain shirt with a white mark."""
    colour = plain(0.85, label=False, seam=False)
    colour[mark] = 0.95
    return colour


def test_the_corner_of_a_label_that_hangs_below_the_neckline_is_a_rest() -> None:
    mark = hanging(30, 5)
    rests = rests_of_back(flat(shirt(mark)), found(), WIDTH)
    assert rests[mark].mean() > 0.95
    assert not rests[~cv2.dilate(mark.astype(np.uint8), np.ones((5, 5))).astype(bool)].any()


def test_stripes_prints_and_patterned_bands_are_the_front_s_own() -> None:
    for mark in (hanging(30, 40), (ROWS // 4 + np.arange(SIDE)[None] // 4) % 2 == 0, hanging(30, 30) & ~hanging(30, 6)):
        assert not rests_of_back(flat(shirt(mark)), found(), WIDTH).any()


def test_a_line_is_led_around_a_rest_in_one_bend() -> None:
    mark = hanging(30, 5)
    led = led_around(LINE, mark, WIDTH)
    below = led[:, 1] - LINE[:, 1]
    on_mark = (LINE[:, 0] > AXIS + 8) & (LINE[:, 0] < AXIS + 34)
    assert below[on_mark].min() > 3.5
    assert np.abs(np.diff(np.linalg.norm(led - LINE, axis=1))).max() < 2.0
    assert np.abs(led[:12] - LINE[:12]).max() < 0.1


def test_no_label_is_left_below_a_neckline_on_whose_edge_it_lies() -> None:
    mark = (ROWS > TOP + 0.5 * WIDTH) & (hung(0.6)[None] > ROWS) & (np.abs(np.arange(SIDE) - AXIS - 30) < 18)[None]
    cloth = flat(shirt(mark))
    left = without_inner_back(cloth, inner_back(cloth, LEFT, RIGHT, TORSO)).alpha
    assert left[mark].max() < 0.5
