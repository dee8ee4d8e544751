"""Necklines that no symmetric curve follows: their edge is drawn, and known."""

from __future__ import annotations

import numpy as np

from engines.garment.neck_edge import offsets_tried, on_edge
from engines.garment.neckline import inner_back, without_inner_back
from tests.engines.garment.test_neckline import AXIS, LEFT, RIGHT, SIDE, TOP, TORSO, WIDTH, flat, hung

BULGE = 0.09
"""How far the drawn neckline lies outside a symmetric one at its left, in neck widths."""


def askew() -> np.ndarray:
    """Row of a neckline that hangs further out left of the middle than right of it, in every column."""
    across = (np.arange(SIDE) - AXIS) / (WIDTH / 2)
    curve = hung(0.6)
    return np.interp(np.arange(SIDE) + BULGE * WIDTH * np.clip(-across, 0, 1), np.arange(SIDE), curve)


def test_a_neckline_that_hangs_askew_is_followed_to_its_edge() -> None:
    rows = np.arange(SIDE)[:, None]
    within = (rows < askew()[None]) & (np.abs(np.arange(SIDE) - AXIS) < WIDTH / 2)[None]
    colour = np.where(within[..., None], (0.12, 0.18, 0.3), (0.2, 0.3, 0.5))
    cloth = flat(colour)
    back = inner_back(cloth, LEFT, RIGHT, TORSO)
    window = (rows > TOP + 0.15 * WIDTH) & (np.abs(np.arange(SIDE) - AXIS) < 0.47 * WIDTH)[None]
    wrong = (back != within) & window & (cloth.alpha > 0.9)
    assert wrong.sum() < 0.035 * (within & window).sum()


def straight(edges: list[tuple[np.ndarray, float]]) -> np.ndarray:
    """How far a line moves, in neck widths, at whose points there are edges of such distances and strengths."""
    count, tried = 37, offsets_tried(1.0)
    across = np.zeros((count, len(tried), 3))
    for places, strength in edges:
        bump = strength * np.exp(-(((tried[None] - np.broadcast_to(places, count)[:, None]) / 0.008) ** 2))
        across[..., 0] = np.maximum(across[..., 0], bump)
    points = np.stack([np.linspace(0, 1, count), np.zeros(count)], axis=1).astype(np.float32)
    normals = np.broadcast_to(np.array([0.0, 1.0], np.float32), (count, 2))
    return on_edge(points, normals, 1.0, across)[:, 1]


def test_a_line_follows_its_edge_where_that_leaves_the_curve() -> None:
    leaving = 0.05 * np.clip((np.linspace(0, 1, 37) - 0.6) / 0.3, 0, 1)
    assert np.abs(straight([(leaving, 0.6)]) - leaving).max() < 0.012


def test_a_line_does_not_leap_to_the_clearer_outer_edge_of_a_band() -> None:
    assert np.abs(straight([(np.zeros(1), 0.5), (np.full(1, 0.06), 1.0)])).max() < 0.01


def test_a_band_of_another_colour_keeps_its_ends() -> None:
    rows = np.arange(SIDE)[:, None]
    inside = (rows < hung(0.5)[None]) & (np.abs(np.arange(SIDE) - AXIS) < WIDTH / 2)[None]
    band = (rows < hung(0.56, half=WIDTH / 2 + 10)[None]) & ~inside
    colour = np.where(inside[..., None], (0.25, 0.25, 0.28), (0.9, 0.9, 0.92))
    colour = np.where(band[..., None], (0.9, 0.75, 0.2), colour)
    cloth = flat(colour)
    left = without_inner_back(cloth, inner_back(cloth, LEFT, RIGHT, TORSO))
    seen = band & (cloth.alpha > 0.9)
    assert left.alpha[seen].mean() > 0.8
    ends = seen & (rows < TOP + 0.1 * WIDTH)
    assert left.alpha[ends].mean() > 0.9
