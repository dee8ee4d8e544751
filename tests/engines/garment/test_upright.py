"""A garment that lies askew is turned upright; upright ones and those cut differently on both sides are left alone."""

import cv2
import numpy as np
import pytest

from engines.garment.canvas import MARGIN
from engines.garment.cloth import Cloth
from engines.garment.upright import stood_upright

TOP = np.array([(330, 150), (470, 150), (640, 300), (590, 350), (520, 300), (530, 700), (270, 700), (280, 300)])
SLEEVE = np.array([(330, 150), (160, 300), (210, 350), (280, 300)])
STUMP = np.array([(330, 150), (300, 180), (280, 300)])


def drawn(sleeve: np.ndarray, tilt: float) -> Cloth:
    """A top in one of two colours per half, turned clockwise by so many degrees."""
    alpha = np.zeros((800, 800), np.uint8)
    for part in (TOP, sleeve):
        cv2.fillPoly(alpha, [part.astype(np.int32)], 255)
    colour = np.zeros((800, 800, 3), np.float32)
    colour[:, :400] = (0.8, 0.1, 0.1)
    way = cv2.getRotationMatrix2D((400, 420), -tilt, 1.0)
    turned = cv2.warpAffine(alpha, way, (800, 800)).astype(np.float32) / 255.0
    return Cloth(cv2.warpAffine(colour, way, (800, 800), borderMode=cv2.BORDER_REPLICATE), turned)


def tilt_of_middle(cloth: Cloth) -> float:
    """Degrees by which the line between both colours leans."""
    red = (cloth.colour[..., 0] > 0.4) & (cloth.alpha > 0.9)
    rows = np.flatnonzero(red.any(axis=1))
    rows = rows[len(rows) // 2 : -len(rows) // 8]
    last = red.shape[1] - red[rows, ::-1].argmax(axis=1)
    return float(np.degrees(np.arctan(-np.polyfit(rows, last, 1)[0])))


@pytest.mark.parametrize("tilt", [-12.0, -6.0, -3.0, 3.0, 9.0])
def test_garment_askew_comes_back_within_a_degree(tilt: float) -> None:
    askew = drawn(SLEEVE, tilt)
    assert abs(tilt_of_middle(askew)) > 0.8 * abs(tilt)
    upright = stood_upright(askew)
    assert abs(tilt_of_middle(upright)) < 1.0
    assert upright.alpha.sum() == pytest.approx(askew.alpha.sum(), rel=0.01)
    assert not upright.alpha[: MARGIN - 2].any()
    assert not upright.alpha[:, -MARGIN + 2 :].any()


@pytest.mark.parametrize("tilt", [0.0, 1.0, -1.5])
def test_garment_that_lies_nearly_straight_is_left_as_it_is(tilt: float) -> None:
    cloth = drawn(SLEEVE, tilt)
    assert stood_upright(cloth) is cloth


def test_garment_with_one_sleeve_is_left_as_it_is() -> None:
    cloth = drawn(STUMP, 0.0)
    assert stood_upright(cloth) is cloth


def test_nothing_at_all_is_left_as_it_is() -> None:
    nothing = Cloth(np.zeros((200, 200, 3), np.float32), np.zeros((200, 200), np.float32))
    assert stood_upright(nothing) is nothing
