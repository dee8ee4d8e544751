"""The outline of a trouser leg goes in where its creases reach the edge, and nothing else moves."""

import numpy as np
import pytest

from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.drape.edge_creases import with_creased_edges
from engines.warp.ribbon import Ribbon, string_ribbon
from tests.engines.mannequin import draw_mannequin

RISE, LEG, COLUMNS = 10, 112, 9


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760, arms="out").person_map)


def ribbon_of(body: BodyModel, side: int) -> tuple[Ribbon, np.ndarray]:
    """A straight leg, and the shares of its rows."""
    leg, shares = body.legs[side], np.linspace(0.0, 1.05, LEG)
    line = np.concatenate([leg.points(np.linspace(-0.2, 0.0, RISE, endpoint=False)), leg.points(shares)])
    half = 0.2 * body.shoulder_width * np.array([side, 0.0])
    ribbon = string_ribbon((line + half, line - half), (line + half, line - half), COLUMNS, (0.0, 0.0))
    return Ribbon(ribbon.source, ribbon.target, -side * np.asarray(ribbon.across)), shares


@pytest.mark.parametrize("side", SIDES)
def test_edges_go_in_and_out_from_the_knee_down(body: BodyModel, side: int) -> None:
    ribbon, shares = ribbon_of(body, side)
    moved = np.linalg.norm(with_creased_edges(ribbon, body, side, shares).target - ribbon.target, axis=2)
    unit, knee = body.shoulder_width, RISE + int(np.searchsorted(shares, body.legs[side].bend))
    assert moved[: RISE + (knee - RISE) // 2].max() < 0.01
    assert 0.004 * unit < max(moved[:, 0].max(), moved[:, -1].max()) < 0.04 * unit
    assert moved[:, COLUMNS // 2].max() < 0.2 * moved.max()


@pytest.mark.parametrize("side", SIDES)
def test_the_edge_goes_in_further_than_it_stands_out(body: BodyModel, side: int) -> None:
    ribbon, shares = ribbon_of(body, side)
    shift = with_creased_edges(ribbon, body, side, shares).target - ribbon.target
    for column, way in ((0, 1), (-1, -1)):
        out = way * np.einsum("nk,nk->n", shift[RISE:, column], body.legs[side].outwards(shares))
        assert -out.min() > 1.4 * out.max() > 0


def test_no_two_legs_are_alike(body: BodyModel) -> None:
    shifts = []
    for side in SIDES:
        ribbon, shares = ribbon_of(body, side)
        shifts.append(np.linalg.norm(with_creased_edges(ribbon, body, side, shares).target - ribbon.target, axis=2))
    assert np.abs(shifts[0][:, 0] - shifts[1][:, 0]).max() > 0.002 * body.shoulder_width
