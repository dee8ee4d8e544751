"""The side of a garment runs straight from its cuff to where an arm lies before it."""

import numpy as np

from engines.warp.body.model import RIGHT, BodyModel, measure_body
from engines.warp.body.sampling import values_at
from engines.warp.body.seen_arms import SeenArm
from engines.warp.composite.arms import arm_places
from engines.warp.composite.taut_side import TautSides, drawn_taut
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

SHAPE = (960, 760)
CUFF = 0.25


def a_body() -> BodyModel:
    return measure_body(draw_mannequin(*SHAPE, arms="down", sleeves="none").person_map)


def dressed(body: BodyModel, offset: float, inner: float) -> TautSides:
    """A torso whose edge lies ``offset`` inside the right arm's centre line, and an arm seen in as far as ``inner``."""
    arm = body.arms[RIGHT]
    line = np.interp(np.arange(SHAPE[0]), arm.line[:, 1], arm.line[:, 0])[:, None]
    cloth = (np.arange(SHAPE[1])[None] < line - offset).astype(np.float32)
    torso = Piece("torso", cloth[..., None].repeat(3, axis=2), cloth, np.zeros_like(cloth))
    even = np.full(len(arm.shares), inner)
    seen = SeenArm(np.abs(even), even, even, np.abs(even), np.ones_like(even))
    share = arm_places(body)[RIGHT].share
    sleeve = ((share > 0) & (share < CUFF) & (np.arange(SHAPE[1])[None] > line - offset)).astype(np.float32)
    return drawn_taut(torso, body, {RIGHT: seen}, {RIGHT: sleeve})


def edge_of(torso: Piece, body: BodyModel, shares: np.ndarray) -> np.ndarray:
    """Offset inwards from the right arm's centre line at which the torso begins."""
    arm = body.arms[RIGHT]
    offsets = np.arange(-20.0, 40.0, 0.5)
    points = arm.points(shares)[:, None] - arm.outwards(shares)[:, None] * offsets[None, :, None]
    return offsets[(values_at(torso.alpha, points)[0] > 0.5).argmax(axis=1)]


def test_cloth_over_the_upper_arm_leads_straight_to_the_arm_before_it_at_the_elbow() -> None:
    body = a_body()
    arm = body.arms[RIGHT]
    inner = 0.8 * float(np.interp(arm.bend, arm.shares, arm.inner))
    sides = dressed(body, 0.0, inner)
    shares = np.linspace(CUFF + 0.02, arm.bend - 0.07, 12, dtype=np.float32)
    edge = edge_of(sides.torso, body, shares)
    straight = np.polynomial.Polynomial.fit(shares, edge, 1)
    assert edge[-1] > 0.5 * inner
    assert np.abs(edge - straight(shares)).max() < 2.0
    assert sides.uncovered.max() > 0.9
    assert sides.seen[RIGHT].inner[np.searchsorted(arm.shares, CUFF + 0.03)] < 0.5 * inner


def test_what_lies_under_the_sleeve_stays() -> None:
    body = a_body()
    sides = dressed(body, 0.0, 15.0)
    share = arm_places(body)[RIGHT].share
    above = (share > 0) & (share < CUFF - 0.03)
    assert sides.uncovered[above].max() == 0


def test_a_garment_that_ends_beside_the_arm_is_not_touched() -> None:
    body = a_body()
    sides = dressed(body, 25.0, 10.0)
    assert sides.uncovered.max() < 0.05


def test_without_sleeves_nothing_is_done() -> None:
    body = a_body()
    torso = Piece("torso", np.ones((*SHAPE, 3), np.float32), np.ones(SHAPE, np.float32), np.zeros(SHAPE, np.float32))
    assert drawn_taut(torso, body, {}, {}).torso is torso
