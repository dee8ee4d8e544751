"""Edges of trousers run in and out above a hem that rests on a shoe."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.on_shoe import edges_on_shoe, rests_on_shoe
from tests.engines.mannequin import draw_mannequin

END = 1.05
ALONG = np.linspace(0.3, END, 60)


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(height=900, width=700).person_map)


def straight(body: BodyModel, side: int) -> tuple[np.ndarray, np.ndarray]:
    leg, half = body.legs[side], 0.15 * body.shoulder_width
    line, outwards = leg.points(ALONG), leg.outwards(ALONG)
    return (line + half * outwards).astype(np.float32), (line - half * outwards).astype(np.float32)


def gained(body: BodyModel, side: int) -> np.ndarray:
    """How much wider the cloth has become, in shoulder widths."""
    outer, inner = edges_on_shoe(body, side, END, ALONG, straight(body, side))
    return np.asarray(np.linalg.norm(outer - inner, axis=1) / body.shoulder_width - 0.3)


@pytest.mark.parametrize("side", SIDES)
def test_it_is_pinched_above_the_hem_and_stands_out_at_it(body: BodyModel, side: int) -> None:
    wider = gained(body, side)
    above = (END - ALONG) * body.legs[side].length / body.shoulder_width
    assert wider[above < 0.06].max() > 0.006
    assert wider[(above > 0.10) & (above < 0.20)].min() < -0.006
    np.testing.assert_allclose(wider[above > 0.5], 0.0, atol=1e-4)


def test_no_two_legs_break_alike(body: BodyModel) -> None:
    assert np.abs(gained(body, LEFT) - gained(body, RIGHT)).max() > 0.003


def test_without_shoes_the_edges_stay_straight(body: BodyModel) -> None:
    barefoot = replace(body, labels=np.where(body.labels == Label.FEET, np.uint8(Label.BACKGROUND), body.labels))
    assert rests_on_shoe(barefoot, RIGHT, END) == 0.0
    np.testing.assert_allclose(gained(barefoot, RIGHT), 0.0, atol=1e-4)


def test_a_shin_that_lies_rests_on_no_shoe(body: BodyModel) -> None:
    leg = body.legs[RIGHT]
    below = leg.shares > leg.bend
    line, knee = leg.line.copy(), leg.points(np.array([leg.bend]))[0]
    line[below] = knee + (line[below] - knee) @ np.array([[0.0, -1.0], [1.0, 0.0]])
    labels = np.full_like(body.labels, Label.FEET)
    lying = replace(body, labels=labels, legs={**body.legs, RIGHT: replace(leg, line=line)})
    assert rests_on_shoe(lying, RIGHT, END) == 0.0
