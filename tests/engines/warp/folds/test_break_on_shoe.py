"""Trousers that rest on a shoe give way in a fold above it."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import RIGHT, BodyModel, measure_body
from engines.warp.folds.break_on_shoe import UNTIL, break_on_shoe
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(height=900, width=700).person_map)


def trouser_leg(body: BodyModel, end: float) -> Piece:
    """A straight leg of trousers down to a share of the right leg."""
    leg, half = body.legs[RIGHT], 0.15 * body.shoulder_width
    (x, top), (_, bottom) = leg.points(np.array([0.1, end]))
    rows, columns = np.indices(body.shape)
    alpha = ((np.abs(columns - x) < half) & (rows > top) & (rows <= bottom)).astype(np.float32)
    across = np.clip((columns - x) / half, -1, 1).astype(np.float32)
    return Piece("right_leg", np.repeat(alpha[..., None] / 2, 3, axis=2), alpha, across)


def shod(body: BodyModel, end: float) -> BodyModel:
    """Nothing but a shoe below the hem."""
    x, y = body.legs[RIGHT].points(np.array([end]))[0]
    rows, columns = np.indices(body.shape)
    shoe = (rows > y - 4) & (rows < y + 40) & (np.abs(columns - x) < 0.12 * body.shoulder_width)
    return replace(body, labels=np.where(shoe, Label.FEET, Label.BACKGROUND).astype(np.uint8))


def test_a_fold_is_dark_above_and_light_below(body: BodyModel) -> None:
    change = break_on_shoe(trouser_leg(body, 1.03), shod(body, 1.03))
    x, y = body.legs[RIGHT].points(np.array([1.03]))[0].round().astype(int)
    column = change[y - round(0.25 * body.shoulder_width) : y, x]
    assert column.min() < -0.08
    assert column.max() > 0.04
    assert column.argmin() < column.argmax()


def test_it_lies_on_the_cloth_and_near_the_hem(body: BodyModel) -> None:
    piece = trouser_leg(body, 1.03)
    change = break_on_shoe(piece, shod(body, 1.03))
    assert not change[piece.alpha < 0.5].any()
    hem = body.legs[RIGHT].points(np.array([1.03]))[0, 1]
    assert not change[: round(hem - 1.1 * UNTIL * body.shoulder_width)].any()


def test_trousers_that_end_above_the_shoe_hang_straight(body: BodyModel) -> None:
    assert not break_on_shoe(trouser_leg(body, 0.88), shod(body, 1.03)).any()


def test_without_a_shoe_they_do_too(body: BodyModel) -> None:
    barefoot = replace(body, labels=np.zeros_like(body.labels))
    assert not break_on_shoe(trouser_leg(body, 1.03), barefoot).any()


def test_a_slanting_leg_has_no_folds_along_its_edge(body: BodyModel) -> None:
    """Its hem goes on level beside it, and not up along the cloth's edge, which ends in every column further up."""
    piece = trouser_leg(body, 1.03)
    rows, columns = np.indices(body.shape)
    x, bottom = body.legs[RIGHT].points(np.array([1.03]))[0]
    half, off = 0.15 * body.shoulder_width, columns - x - 0.3 * (bottom - rows)
    above = rows > body.legs[RIGHT].points(np.array([0.1]))[0, 1]
    alpha = ((np.abs(off) < half) & above & (rows <= bottom)).astype(np.float32)
    slanting = replace(piece, alpha=alpha, across=np.clip(off / half, -1, 1).astype(np.float32))
    change = break_on_shoe(slanting, shod(body, 1.03))
    assert change.min() < -0.08
    assert not change[: round(bottom - 1.1 * UNTIL * body.shoulder_width)].any()
