"""The outer edge of a sleeve over the shoulder."""

from __future__ import annotations

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.body.silhouette import reach
from engines.warp.drape.shoulder_cover import over_shoulder
from tests.engines.mannequin import draw_mannequin

POINTS, STEEP = 25, 50.0


def body_in(sleeves: str) -> BodyModel:
    return measure_body(draw_mannequin(960, 760, sleeves=sleeves).person_map)


def straight_edge(body: BodyModel, side: int) -> np.ndarray:
    """From a shoulder tip above the joint straight to the outside of the arm, inside of the shoulder's round."""
    arm, unit = body.arms[side], body.shoulder_width
    end = np.array([0.3], np.float32)
    tip = body.skeleton.shoulder[side] - 0.06 * unit * body.skeleton.down
    cuff = arm.points(end)[0] + arm.outwards(end)[0] * arm.outer_at(end)
    share = np.linspace(0.0, 1.0, POINTS)[:, None]
    return np.asarray(tip + share * (cuff - tip), np.float64)


def sloping(body: BodyModel, side: int, degrees: float) -> np.ndarray:
    """A unit vector outwards and so far downwards."""
    angle, bone = np.radians(degrees), body.skeleton
    return np.asarray(side * np.cos(angle) * bone.right + np.sin(angle) * bone.down, np.float64)


def above(edge: np.ndarray, slope: np.ndarray, body: BodyModel) -> float:
    """How far an edge rises over the line of the shoulder, shoulder widths."""
    normal = np.array([slope[1], -slope[0]])
    normal *= -np.sign(normal @ body.skeleton.down)
    return float(((edge - edge[0]) @ normal).max()) / body.shoulder_width


def skin_beyond(edge: np.ndarray, body: BodyModel, side: int) -> float:
    """How far bare skin goes on outside of an edge, shoulder widths; its ends are left out."""
    along = np.gradient(edge, axis=0)
    outwards = np.stack([along[:, 1], -along[:, 0]], axis=1) * side
    outwards /= np.linalg.norm(outwards, axis=1, keepdims=True)
    skin, unit = (body.labels == Label.ARMS) & (body.matte > 0.5), body.shoulder_width
    return float(np.nanmax(reach(skin, edge[3:-3], outwards[3:-3], 0.1 * unit))) / unit


@pytest.mark.parametrize("side", SIDES)
def test_under_cloth_no_sleeve_head_rises_over_the_line_of_the_shoulder(side: int) -> None:
    body = body_in("short")
    edge, level, steep = straight_edge(body, side), sloping(body, side, 0.0), sloping(body, side, STEEP)
    assert above(over_shoulder(edge, body, side, level), steep, body) > 0.02
    assert above(over_shoulder(edge, body, side, steep), steep, body) < 0.006


@pytest.mark.parametrize("side", SIDES)
def test_a_bare_shoulder_is_covered_however_it_slopes(side: int) -> None:
    body = body_in("none")
    edge = straight_edge(body, side)
    assert skin_beyond(edge, body, side) > 0.02
    for angle in (0.0, STEEP):
        assert skin_beyond(over_shoulder(edge, body, side, sloping(body, side, angle)), body, side) < 0.006
