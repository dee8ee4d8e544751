"""The sides of short wide sleeves."""

from __future__ import annotations

import numpy as np
import pytest

from engines.warp.body.model import SIDES, measure_body
from engines.warp.drape.hanging_sleeve import MOST_OFF, hung, with_round_corner
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

POINTS = 25


def edges(side: int, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """An arm that runs inwards below the shoulder's round, as its outer and inner edge."""
    down = np.linspace(0.0, 0.6, POINTS)
    out = 0.50 + 0.10 * np.sin(np.pi * np.clip(down / 0.4, 0, 1)) - 0.05 * np.clip(down - 0.2, 0, 1)
    upper = np.stack([300 + side * out * unit, 200 + down * unit], axis=1)
    lower = np.stack([np.full(POINTS, 300 + side * 0.36 * unit), 260 + 0.7 * down * unit], axis=1)
    return upper, lower


@pytest.mark.parametrize("side", SIDES)
def test_a_wide_sleeve_hangs_straight_and_a_narrow_one_follows_the_arm(side: int) -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    unit = body.shoulder_width
    upper, lower = edges(side, unit)
    wide = hung(upper, lower, np.full(POINTS, 2.0 * unit), body, side)
    lost = (np.maximum.accumulate(side * wide[:, 0]) - side * wide[:, 0])[-1]
    followed = (np.maximum.accumulate(side * upper[:, 0]) - side * upper[:, 0])[-1]
    assert followed > 0.1 * unit
    assert lost < followed - 0.9 * MOST_OFF * unit
    narrow = hung(upper, lower, np.linalg.norm(upper - lower, axis=1), body, side)
    assert np.abs(narrow - upper).max() < 0.5


def test_no_spike_is_left_at_the_inner_corner_of_a_cuff() -> None:
    alpha = np.zeros((200, 200), np.float32)
    alpha[40:120, 60:140] = 1
    alpha[112:117, 140:152] = 1
    mesh = np.stack(np.meshgrid(np.linspace(60, 150, 4), np.linspace(40, 118, 5)), axis=2).astype(np.float32)
    sleeve = Piece("left_sleeve", np.repeat(alpha[..., None], 3, axis=2), alpha, np.zeros_like(alpha), mesh)
    rounded = with_round_corner(sleeve, 250.0)
    assert rounded.alpha[:, 146:].max() < 0.2
    assert np.array_equal(rounded.alpha[:80], alpha[:80])
    assert np.array_equal(rounded.alpha[:, :80], alpha[:, :80])
    assert rounded.alpha[60:110, 70:132].min() > 0.99
    np.testing.assert_allclose(rounded.colour[..., 0], rounded.alpha, atol=1e-6)
