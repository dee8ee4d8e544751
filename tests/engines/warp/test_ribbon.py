"""A ribbon bends cloth; it never folds, tears or loses it."""

import numpy as np
import pytest

from engines.garment.cloth import Cloth
from engines.warp.ribbon import OUTSIDE, Ribbon, draw, forced_monotone, rasterise, string_ribbon


def checkerboard(height: int = 120, width: int = 80, cell: int = 8) -> Cloth:
    rows, cols = np.mgrid[0:height, 0:width]
    squares = (((rows // cell) + (cols // cell)) % 2).astype(np.float32)
    return Cloth(np.repeat(squares[..., None], 3, axis=2), np.ones((height, width), np.float32))


def upright_edges(
    left: float, right: float, top: float, bottom: float, rows: int = 20
) -> tuple[np.ndarray, np.ndarray]:
    y = np.linspace(top, bottom, rows, dtype=np.float32)
    return np.stack([np.full_like(y, left), y], axis=1), np.stack([np.full_like(y, right), y], axis=1)


def arc(radius: float, rows: int = 40) -> np.ndarray:
    angle = np.linspace(0.0, np.pi / 2, rows, dtype=np.float32)
    return np.stack([200 - radius * np.cos(angle), 20 + radius * np.sin(angle)], axis=1).astype(np.float32)


def test_straight_ribbon_is_the_identity() -> None:
    cloth = checkerboard()
    edges = upright_edges(10, 70, 10, 110)
    piece = draw(string_ribbon(edges, edges), cloth, cloth.alpha.shape, "torso")
    inner = np.s_[12:108, 12:68]
    np.testing.assert_allclose(piece.alpha[inner], 1.0, atol=1e-3)
    np.testing.assert_allclose(piece.colour[inner], cloth.colour[inner], atol=2e-2)


def test_across_runs_from_edge_to_edge() -> None:
    cloth = checkerboard()
    edges = upright_edges(10, 70, 10, 110)
    piece = draw(string_ribbon(edges, edges), cloth, cloth.alpha.shape, "torso")
    assert piece.across[60, 10] == pytest.approx(-1.0, abs=0.02)
    assert piece.across[60, 40] == pytest.approx(0.0, abs=0.02)
    assert piece.across[60, 70] == pytest.approx(1.0, abs=0.02)


def test_bent_ribbon_has_no_holes() -> None:
    cloth = checkerboard()
    ribbon = string_ribbon(upright_edges(10, 70, 10, 110, rows=40), (arc(150), arc(70)))
    piece = draw(ribbon, cloth, (240, 240), "sleeve")
    rows, cols = np.mgrid[0:240, 0:240]
    radius = np.hypot(cols - 200, rows - 20)
    ring = (radius > 73) & (radius < 147) & (cols < 198) & (rows > 22)
    assert piece.alpha[ring].min() > 0.99


def test_sharp_bend_stays_monotone() -> None:
    edge_out, edge_in = arc(60), arc(-25)  # the inner edge runs backwards: its centre lies outside the arm
    folded = np.stack([edge_out, (edge_out + edge_in) / 2, edge_in], axis=1)
    settled = forced_monotone(folded)
    centre = folded.mean(axis=1)
    ahead = np.diff(centre, axis=0)
    gained = np.einsum("rcd,rd->rc", np.diff(settled, axis=0), ahead / np.linalg.norm(ahead, axis=1, keepdims=True))
    assert gained.min() > 0


def test_monotone_grid_is_left_alone() -> None:
    edges = upright_edges(0, 50, 0, 90)
    grid = np.stack(edges, axis=1)
    np.testing.assert_array_equal(forced_monotone(grid), grid)


def test_fine_stripes_become_grey_when_shrunk() -> None:
    stripes = np.zeros((400, 400, 3), np.float32)
    stripes[:, ::2] = 1.0
    cloth = Cloth(stripes, np.ones((400, 400), np.float32))
    ribbon = string_ribbon(upright_edges(0, 399, 0, 399), upright_edges(10, 110, 10, 110))
    piece = draw(ribbon, cloth, (120, 120), "torso")
    assert piece.colour[20:100, 20:100].std() < 0.05
    assert piece.colour[20:100, 20:100].mean() == pytest.approx(0.5, abs=0.03)


def test_colour_is_premultiplied() -> None:
    cloth = checkerboard()
    half = Cloth(np.ones_like(cloth.colour), np.full_like(cloth.alpha, 0.5))
    edges = upright_edges(10, 70, 10, 110)
    piece = draw(string_ribbon(edges, edges), half, cloth.alpha.shape, "torso")
    np.testing.assert_allclose(piece.colour[60, 40], 0.5, atol=1e-3)


def test_ribbon_outside_the_picture_draws_nothing() -> None:
    cloth = checkerboard()
    ribbon = string_ribbon(upright_edges(10, 70, 10, 110), upright_edges(500, 560, 10, 110))
    assert draw(ribbon, cloth, (120, 80), "torso").alpha.max() == 0


def test_pixels_outside_the_grid_are_marked() -> None:
    grid = np.stack(upright_edges(10, 20, 10, 20, rows=3), axis=1)
    field = np.moveaxis(rasterise(grid, grid, np.s_[0:30, 0:30]), 0, 2)
    assert field[5, 5, 0] == OUTSIDE
    np.testing.assert_allclose(field[15, 15], [15, 15], atol=1e-4)


def test_scale_is_a_ratio_of_lengths() -> None:
    source = np.stack(upright_edges(0, 100, 0, 100), axis=1)
    assert Ribbon(
        source, (source * 0.5).astype(np.float32), np.zeros(source.shape[1], np.float32)
    ).scale == pytest.approx(0.5)


def test_rows_that_meet_at_a_corner_give_way_before_the_end() -> None:
    """A sleeve at a deep armhole: what is pushed past the cuff would hang from it as a thread."""
    outer = np.stack([np.linspace(0, -60, 20), np.linspace(0, 100, 20)], axis=1)
    inner = np.tile([50.0, 90.0], (20, 1))
    ribbon = string_ribbon(upright_edges(0, 60, 0, 100, rows=20), (outer, inner), monotone=False)
    settled = forced_monotone(ribbon.target, advance=0.02, end_stays=True)
    np.testing.assert_array_equal(settled[-1], ribbon.target[-1])
    assert forced_monotone(ribbon.target)[..., -1, 1].max() > settled[..., -1, 1].max() + 5


def test_cloth_that_reaches_beyond_its_grid_is_cut_without_teeth() -> None:
    edges = (np.array([[20.0, 10.0], [45.0, 100.0]], np.float32), np.array([[70.0, 10.0], [95.0, 100.0]], np.float32))
    cloth = Cloth(np.full((120, 120, 3), 0.5, np.float32), np.ones((120, 120), np.float32))
    alpha = draw(string_ribbon(edges, edges, overhang=(0.0, 0.0)), cloth, (120, 120), "sleeve").alpha
    rim = alpha[30:90]
    assert ((rim > 0.1) & (rim < 0.9)).sum() > 60
    assert alpha[50:60, 45:60].min() > 0.999
