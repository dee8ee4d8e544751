"""Drawn garments with a print as pale as the ground they lie on."""

import cv2
import numpy as np
import pytest

from engines.garment.canvas import MARGIN, lay_on_canvas
from engines.garment.cutout import cut_out
from engines.garment.ground import fit_ground, to_lab
from engines.garment.pale_print import settled_by_print

GROUND = (236, 235, 233)
DARK, PALE_BLUE, GREYER = (25, 24, 28), (226, 232, 242), (224, 223, 221)


def striped(pale: tuple[int, int, int], back: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A block of dark and pale stripes on noiseless ground, perhaps with the back's hem below it; photo and mask."""
    cloth = np.zeros((1024, 800), bool)
    cloth[200:850, 220:580] = True
    picture = np.full((1024, 800, 3), GROUND, np.uint8)
    for row in range(200, 850, 26):
        picture[row : row + 13, 220:580] = DARK
        picture[row + 13 : row + 26, 220:580] = pale
    picture[850:] = GROUND
    picture[837:850, 220:580] = DARK
    if back:
        picture[850:858, 240:262] = pale
        picture[858:868, 240:262] = DARK
    return cv2.GaussianBlur(picture, (0, 0), 0.7), cloth


def settled(picture: np.ndarray, mask: np.ndarray) -> np.ndarray:
    canvas = lay_on_canvas(picture)
    blurred = np.asarray(cv2.GaussianBlur(canvas, (0, 0), 1.0), dtype=np.uint8)
    found = settled_by_print(to_lab(blurred), fit_ground(canvas), np.pad(mask, MARGIN))
    return found[MARGIN:-MARGIN, MARGIN:-MARGIN]


def bitten(cloth: np.ndarray) -> np.ndarray:
    """The mask with pale stripes lost at one side, and ground taken for print at the other."""
    wrong = cloth.copy()
    for row in range(200, 824, 52):
        wrong[row + 13 : row + 26, 220:232] = False
        wrong[row + 13 : row + 26, 580:590] = True
    return wrong


@pytest.mark.parametrize("pale", [PALE_BLUE, GREYER])
def test_outline_is_straight_whether_or_not_the_hue_tells(pale: tuple[int, int, int]) -> None:
    picture, cloth = striped(pale)
    found = settled(picture, bitten(cloth))
    middle = slice(230, 820)
    left, right = found[middle].argmax(axis=1), found.shape[1] - found[middle, ::-1].argmax(axis=1)
    assert np.abs(left - 220).max() <= 3
    assert np.abs(right - 580).max() <= 3


def test_hem_of_the_back_is_taken_off() -> None:
    picture, cloth = striped(GREYER, back=True)
    wrong = cloth.copy()
    wrong[850:868, 240:262] = True
    found = settled(picture, wrong)
    assert not found[856:, 240:262].any()
    assert found[840, 240:560].all()


@pytest.mark.parametrize("cloth_colour", [(180, 40, 40), (250, 250, 250), (227, 226, 224)])
def test_cloth_without_pale_print_is_left_as_it_is(cloth_colour: tuple[int, int, int]) -> None:
    picture, cloth = striped(GREYER)
    picture[cloth] = cloth_colour
    wrong = bitten(cloth)
    np.testing.assert_array_equal(settled(picture, wrong), wrong)


def test_pale_stripes_lighter_than_the_ground_are_found_without_it() -> None:
    picture, cloth = striped((247, 246, 244))
    wrong = bitten(cloth)
    np.testing.assert_array_equal(settled(picture, wrong), wrong)


def test_dark_stripes_do_not_end_farther_out_than_pale_ones() -> None:
    picture, _ = striped(GREYER)
    alpha = cut_out(picture).alpha[MARGIN:-MARGIN, MARGIN:-MARGIN]
    ends = alpha[260:780, 200:400].sum(axis=1)
    assert np.ptp(ends) < 2.5


def test_pale_strip_between_the_hem_and_that_of_the_back_is_taken_off() -> None:
    picture, cloth = striped(GREYER)
    picture[850:862, 220:300] = GREYER
    picture[862:866, 220:300] = DARK
    wrong = cloth.copy()
    wrong[850:866, 220:300] = True
    found = settled(cv2.GaussianBlur(picture, (0, 0), 0.7), wrong)
    assert not found[853:, 220:300].any()
    assert found[846, 224:576].all()


def test_dark_hem_that_hangs_lower_at_a_corner_stays() -> None:
    picture, cloth = striped(GREYER)
    picture[850:862, 220:300] = DARK
    wrong = cloth.copy()
    wrong[850:862, 220:300] = True
    assert settled(cv2.GaussianBlur(picture, (0, 0), 0.7), wrong)[858, 226:294].all()
