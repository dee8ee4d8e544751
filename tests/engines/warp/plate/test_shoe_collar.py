"""A shoe that trousers cut off opens around the bared ankle."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from engines.base import Category, Label, Landmark
from engines.warp.body.model import LEFT, measure_body
from engines.warp.pieces import Drape, Piece
from engines.warp.plate.plate import Plate
from engines.warp.plate.shoe_collar import BESIDE_ANKLE, LOWEST_CUT, own_cut, shoe_collar
from tests.engines.mannequin import SKIN, TROUSERS, Mannequin, draw_mannequin
from tests.engines.warp.plating import lay_plate

SHOE = (225, 225, 235)


def on_shoes(colour: tuple[int, int, int] = SHOE, ankle: int = 0) -> tuple[Mannequin, int, int]:
    """A mannequin whose trousers end level on broad shoes, some pixels above them; row and column of its left cut."""
    mannequin = draw_mannequin(height=900, width=700)
    labels, photo = mannequin.person_map.labels, mannequin.photo
    rows, columns = np.indices(labels.shape)
    x, y = mannequin.point(Landmark.LEFT_ANKLE).round().astype(int)
    feet = labels == Label.FEET
    photo[feet], labels[feet] = TROUSERS, Label.LOWER
    below = rows >= y
    photo[below], labels[below] = photo[4, 4], Label.BACKGROUND
    for landmark in (Landmark.LEFT_ANKLE, Landmark.RIGHT_ANKLE):
        middle = round(float(mannequin.point(landmark)[0]))
        shoe = (rows >= y) & (rows < y + 34) & (np.abs(columns - middle) < 30)
        photo[shoe], labels[shoe] = colour, Label.FEET
        bare = (rows >= y - ankle) & (rows < y) & (labels == Label.LOWER)
        photo[bare], labels[bare] = SKIN, Label.LEGS
    mannequin.person_map.matte[:] = np.where(labels != Label.BACKGROUND, 255, 0)
    return mannequin, y, x


def laid(mannequin: Mannequin) -> Plate:
    photo = mannequin.photo.astype(np.float32) / 255.0
    nothing = np.zeros(photo.shape[:2], np.float32)
    drape = Drape((Piece("torso", np.zeros_like(photo), nothing, nothing),), {})
    return lay_plate(photo, mannequin.person_map, measure_body(mannequin.person_map, photo), drape, Category.LOWER_BODY)


def above_cut(mannequin: Mannequin, row: int, column: int) -> np.ndarray:
    picture = laid(mannequin).picture * 255.0
    return picture[row - 8 : row - 3, column - 3 : column + 4].mean(axis=(0, 1))


def test_a_shoe_goes_on_before_the_ankle() -> None:
    colour = above_cut(*on_shoes())
    np.testing.assert_allclose(colour, SHOE, atol=30)


def test_it_ends_below_the_calf() -> None:
    mannequin, row, column = on_shoes()
    calf = laid(mannequin).picture[row - 60 : row - 40, column - 3 : column + 4].mean(axis=(0, 1)) * 255.0
    assert calf[0] - calf[2] > 35


def test_it_is_a_low_shoe() -> None:
    mannequin, row, column = on_shoes()
    ankle = laid(mannequin).picture[row - 14 : row - 11, column - 3 : column + 4].mean(axis=(0, 1)) * 255.0
    assert ankle[0] - ankle[2] > 35


@pytest.mark.parametrize(("colour", "ankle"), [(SHOE, 30), (SKIN, 0)])
def test_neither_a_seen_ankle_nor_a_bare_foot_gets_one(colour: tuple[int, int, int], ankle: int) -> None:
    seen = above_cut(*on_shoes(colour, ankle))
    assert seen[0] - seen[2] > 35


def test_below_a_shin_that_is_held_aside_none_goes_on() -> None:
    mannequin, _, _ = on_shoes()
    labels = mannequin.person_map.labels
    leg = measure_body(mannequin.person_map, mannequin.photo.astype(np.float32) / 255.0).legs[LEFT]
    whole = leg.line.copy()
    nothing = np.zeros(labels.shape, bool)
    bare = Mock(on=np.ones(labels.shape, bool))
    photo = mannequin.photo.astype(np.float32) / 255.0
    skin = np.full(photo.shape, np.array(SKIN) / 255.0, np.float32)
    for aside in (0.0, 0.5):
        line = whole + np.stack([aside * (whole[-1, 1] - whole[:, 1]), np.zeros(len(whole))], axis=1)
        slanting = replace(leg, line=line.astype(np.float32))
        cloth = labels == Label.LOWER
        found = shoe_collar(photo, labels, slanting, cloth=cloth, seen=nothing, bare=bare, skin=skin, unit=150.0)
        assert (found is None) == (aside > 0.0)


def test_what_is_seen_of_the_shoe_stays() -> None:
    mannequin, row, column = on_shoes()
    rows = np.s_[row + 6 : row + 30, column - 20 : column + 20]
    np.testing.assert_array_equal(laid(mannequin).picture[rows], mannequin.photo[rows].astype(np.float32) / 255.0)


def test_the_shadow_of_a_hem_falls_on_it() -> None:
    mannequin, row, column = on_shoes()
    assert laid(mannequin).person[row - 7 : row - 3, column - 3 : column + 4].min() > 0.9


def test_its_cut_ends_where_another_shoe_or_a_shadow_begins() -> None:
    edge = np.full(300, 60.0, np.float32)
    edge[155:] = 60.0 + 2.0 * np.arange(145)
    left, right = own_cut((20, 280, edge), (110, 150), 0.0, 60, 200.0)
    assert left == 110 - round(BESIDE_ANKLE * 200.0)
    assert edge[right] <= 60.0 + LOWEST_CUT * 200.0 < edge[right + 1]
    ends = [own_cut((20, 280, np.full(300, 60.0, np.float32)), (110, 150), turn, 60, 200.0) for turn in (-1.0, 1.0)]
    assert ends[0][0] < ends[1][0]
    assert ends[0][1] < ends[1][1]
