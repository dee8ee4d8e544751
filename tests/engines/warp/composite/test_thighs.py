"""What is seen of two legs in the straight skirt that lies on them."""

import numpy as np
import pytest

from engines.warp.body.model import LEFT, RIGHT, BodyModel, measure_body
from engines.warp.composite.thighs import MOST, legs_below
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

ABOVE = (0.0, -1.0)
ROW = 1.6
"""Height that is looked at: over the thighs, torso lengths."""


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760).person_map)


def _skirt(body: BodyModel, half_width: float, ends: float = 2.2) -> Piece:
    """A skirt so many shoulder widths wide to each side of the body's axis."""
    across = (body.laterals / half_width).astype(np.float32)
    inside = (body.heights > 0.9) & (body.heights < ends) & (np.abs(across) < 1)
    alpha = inside.astype(np.float32)
    return Piece("skirt", np.repeat(alpha[..., None], 3, axis=2) * np.float32(0.6), alpha, across)


def _row(body: BodyModel, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places across the body, in shoulder widths, and the change there, over the thighs."""
    row = int(np.argmin(np.abs(body.heights[:, body.shape[1] // 2] - ROW)))
    return body.laterals[row], change[row]


@pytest.mark.parametrize("side", [-1, 1])
def test_thighs_turn_one_side_to_the_light_and_one_away(body: BodyModel, side: int) -> None:
    places, change = _row(body, legs_below(_skirt(body, 0.5), body, (side * 0.8, -0.6)))
    for leg in (LEFT, RIGHT):
        centre = float(np.median(places[np.abs(places - leg * 0.18) < 0.01]))
        outer, inner = (change[np.abs(places - (centre + away)) < 0.02].mean() for away in (side * 0.08, -side * 0.08))
        assert outer > inner + 0.01


def test_the_hollow_between_the_legs_is_darker_than_the_legs(body: BodyModel) -> None:
    places, change = _row(body, legs_below(_skirt(body, 0.5), body, ABOVE))
    assert change[np.abs(places) < 0.06].min() < change[np.abs(np.abs(places) - 0.2) < 0.03].mean()


def test_nothing_is_seen_in_a_wide_skirt_and_none_above_the_hips(body: BodyModel) -> None:
    assert np.abs(legs_below(_skirt(body, 1.1), body, ABOVE)).max() < 0.01
    straight = legs_below(_skirt(body, 0.5), body, ABOVE)
    assert np.abs(straight).max() <= MOST
    assert not straight[body.heights < 0.95].any()


def test_a_top_lies_on_no_legs(body: BodyModel) -> None:
    assert not legs_below(_skirt(body, 0.5, ends=1.1), body, ABOVE).any()
