"""Ground runs to a point between sleeve and body and between legs; what is as pale in a print is cloth."""

import cv2
import numpy as np
import pytest

from engines.garment.cutout import garment_mask

WHITE, INK = (245, 245, 245), (70, 30, 110)


def jumper(shade: float = 1.0, chest: tuple[int, int, int] | None = None) -> np.ndarray:
    """A jumper, and from row 300 down a slit that widens to 20 pixels between its left sleeve and its body.

    Args:
        shade: Brightness of the ground at the point of the slit, over that 250 rows below it and everywhere else.
        chest: Colour of a print on it.
    """
    picture = np.full((900, 800, 3), WHITE, np.uint8)
    picture[100:800, 150:650] = INK
    if chest:
        picture[140:260, 300:500] = chest
    slit = cv2.fillPoly(np.zeros(picture.shape[:2], np.uint8), [np.array([(220, 300), (220, 800), (240, 800)])], 1) > 0
    light = np.clip(shade + (1 - shade) * (np.arange(900) - 300) / 250, 0, 1)
    ground = np.rint(light[:, None, None] * np.array(WHITE)).astype(np.uint8)
    picture[slit] = np.broadcast_to(ground, picture.shape)[slit]
    picture[800:] = WHITE
    return picture


def width_of_slit(mask: np.ndarray, row: int) -> int:
    return int((~mask[row, 205:300]).sum())


@pytest.mark.parametrize("shade", [1.0, 0.5])
def test_ground_between_sleeve_and_body_is_open_up_to_its_point(shade: float) -> None:
    mask = garment_mask(jumper(shade))
    for row in (340, 360, 380, 400, 450):
        assert abs(width_of_slit(mask, row) - 20 * (row - 300) / 500) <= 1.5, row
    assert mask[300:320, 205:300].mean() > 0.98


def test_print_as_pale_as_the_ground_stays_beside_such_a_slit() -> None:
    picture = jumper(chest=WHITE)
    picture[330:400, 260:330] = WHITE
    mask = garment_mask(picture)
    assert mask[150:250, 310:490].all()
    assert mask[335:395, 265:325].all()


def test_pale_stripes_that_end_at_the_outline_stay() -> None:
    picture = jumper()
    for row in range(420, 780, 40):
        picture[row : row + 16, 262:640] = (236, 236, 238)
    mask = garment_mask(picture)
    assert mask[420:780, 275:625].all()


def test_ground_tinted_by_the_cloth_beside_it_is_followed_up_to_its_point() -> None:
    picture = jumper()
    slit = (picture[300:420] == WHITE).all(axis=2)
    slit[:, 240:] = False
    tint = np.clip((np.arange(300, 420) - 360) / 60, 0, 1)[:, None, None]
    tinted = np.rint(tint * np.array(WHITE) + (1 - tint) * np.array((246, 226, 240)))
    picture[300:420][slit] = np.broadcast_to(tinted, (120, 800, 3))[slit]
    mask = garment_mask(picture)
    assert all(abs(width_of_slit(mask, row) - 20 * (row - 300) / 500) <= 1.5 for row in (360, 370, 380, 400, 450))
    assert mask[150:790, 262:640].all()
