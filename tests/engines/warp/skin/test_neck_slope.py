"""Bare skin slopes from the neck to the shoulder without the lumps of a collar that stood there."""

import cv2
import numpy as np
import pytest

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.bare_parts import bare_torso
from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.skin.bare_skin import antialiased
from engines.warp.skin.neck_slope import below_slope
from tests.engines.mannequin import draw_mannequin

LUMP = 0.03


def clothed_body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760).person_map)


def far_from_old(body: BodyModel) -> np.ndarray:
    cloth = labelled_as(body.labels, (Label.UPPER,))
    return np.asarray(cv2.distanceTransform((~cloth).astype(np.uint8), cv2.DIST_L2, 5), np.float32)


def lump_on(skin: np.ndarray, body: BodyModel, side: int) -> tuple[np.ndarray, tuple[int, int]]:
    """The skin with a lump on its slope, and the place of that."""
    column = int(body.point(0.0, side * 0.30 * body.shoulder_width)[0])
    row = int(np.flatnonzero(skin[:, column] > 0.5)[0])
    lumpy = skin.copy()
    cv2.circle(lumpy, (column, row), round(LUMP * body.shoulder_width), 1.0, cv2.FILLED)
    return lumpy, (row, column)


@pytest.mark.parametrize("side", SIDES)
def test_a_lump_where_a_collar_stood_goes(side: int) -> None:
    body = clothed_body()
    skin = antialiased(bare_torso(body).on)
    lumpy, (row, column) = lump_on(skin, body, side)
    nothing = np.zeros(body.shape, np.float32)
    lowered, cleared = below_slope(lumpy, nothing, far_from_old(body), body)
    above = row - round(0.6 * LUMP * body.shoulder_width)
    assert lumpy[above, column] == 1.0
    assert lowered[above, column] < 0.1
    assert cleared[above, column] > 0.9
    # A little below the slope all of it is skin, and the chest is as it was.
    assert lowered[row + round(0.03 * body.shoulder_width), column] > 0.9
    chest = body.heights > 0.1
    np.testing.assert_array_equal(lowered[chest], skin[chest])


def test_a_slope_that_the_photo_shows_stays() -> None:
    body = clothed_body()
    skin = antialiased(bare_torso(body).on)
    lumpy, (row, column) = lump_on(skin, body, 1)
    shown = lumpy > 0.5
    body.labels[shown] = Label.NECK
    body.labels[~shown & (body.labels == Label.UPPER)] = Label.BACKGROUND
    lowered, cleared = below_slope(lumpy, np.zeros(body.shape, np.float32), np.full(body.shape, 1e3, np.float32), body)
    np.testing.assert_array_equal(lowered, lumpy)
    assert not cleared[row - 4 : row + 4, column - 4 : column + 4].any()


def test_below_the_new_garment_nothing_is_asked() -> None:
    body = clothed_body()
    skin = antialiased(bare_torso(body).on)
    lumpy, (row, column) = lump_on(skin, body, 1)
    clothed = np.where(body.laterals > 0.2, lumpy, 0.0).astype(np.float32)
    lowered, _ = below_slope(lumpy, clothed, far_from_old(body), body)
    np.testing.assert_array_equal(lowered[row - 20 : row + 20, column], lumpy[row - 20 : row + 20, column])


def test_the_edge_of_the_new_garment_is_met_without_a_step() -> None:
    body = clothed_body()
    skin = antialiased(bare_torso(body).on)
    begins = int(body.point(0.0, 0.30 * body.shoulder_width)[0])
    step = round(0.04 * body.shoulder_width)
    tops = np.argmax(skin > 0.5, axis=0)
    clothed = (np.indices(body.shape)[0] >= tops[None] + step).astype(np.float32)
    clothed[:, :begins] = 0.0
    # Over the shoulder of the garment skin was taken away already, in a level cut.
    skin[:, begins:] *= clothed[:, begins:]
    lowered, _ = below_slope(skin, clothed, far_from_old(body), body)
    assert skin[tops[begins - 1] + step // 2, begins - 1] == 1.0
    assert lowered[tops[begins - 1] + step // 2, begins - 1] < 0.5
