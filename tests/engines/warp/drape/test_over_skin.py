"""Cloth of trousers reaches past all bare skin, also where the pose has a leg beside the middle of its skin."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import RIGHT, BodyModel, measure_body
from engines.warp.drape.leg_outline import LegRows, outline_of_leg
from engines.warp.drape.over_skin import EASE, around_skin
from tests.engines.mannequin import draw_mannequin

SHARES = np.linspace(0.0, 1.05, 56)
SHIN = (SHARES > 0.5) & (SHARES < 0.9)


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760, arms="out").person_map)


def with_skin(body: BodyModel, inwards: float, label: Label = Label.LEGS) -> BodyModel:
    """Worn from a little outside of the right leg's line to so far inside of it, in shoulder widths."""
    labels, leg = np.full_like(body.labels, Label.BACKGROUND), body.legs[RIGHT]
    lines = np.round(leg.line[(leg.shares > 0.0)]).astype(int)
    for x, y in lines:
        labels[y : y + 12, x - round(inwards * body.shoulder_width) : x + 5] = label
    return replace(body, labels=labels)


def test_the_cloth_goes_past_skin_that_lies_further_in_than_its_leg(body: BodyModel) -> None:
    unit, lopsided = body.shoulder_width, with_skin(body, 0.2)
    _, inner = around_skin(lopsided, RIGHT, SHARES)
    assert inner[SHIN] == pytest.approx((0.2 + EASE) * unit, abs=0.03 * unit)
    rows = LegRows(
        np.linspace(0.8, body.crotch_height, 16, endpoint=False), SHARES, np.full(72, 20.0), 1.05, short=False
    )
    laid = outline_of_leg(lopsided, RIGHT, rows).inner[16:]
    away = np.linalg.norm(laid - body.legs[RIGHT].points(SHARES), axis=1)
    assert away[SHIN].min() > 0.19 * unit


def test_where_cloth_is_worn_nothing_is_asked_for(body: BodyModel) -> None:
    for edge in around_skin(with_skin(body, 0.2, Label.LOWER), RIGHT, SHARES):
        assert not edge.any()


def test_the_other_leg_is_not_taken_for_this_one(body: BodyModel) -> None:
    _, inner = around_skin(with_skin(body, 0.9), RIGHT, SHARES)
    assert not inner.any()
