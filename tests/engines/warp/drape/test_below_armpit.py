"""Long sleeves leave the armpit along the seam and follow the arm further down."""

import numpy as np
import pytest

from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.drape.below_armpit import FREE, edge_of_torso, led_on_from_seam
from engines.warp.drape.fit import fit_garment
from engines.warp.drape.torso_loft import TorsoLoft
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin

ALONG = np.linspace(0, 1.3, 27)


def a_body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760).person_map)


def line_at(body: BodyModel, side: int, outwards: np.ndarray) -> np.ndarray:
    """``(27, 2)`` points down the body at these distances from its axis; both in shoulder widths."""
    bone = body.skeleton
    offsets = ALONG[:, None] * bone.down.astype(float) + outwards[:, None] * bone.right.astype(float) * side
    return bone.shoulders + body.shoulder_width * offsets


def outwards_of(line: np.ndarray, body: BodyModel, side: int) -> np.ndarray:
    return (line - body.skeleton.shoulders) @ body.skeleton.right * side / body.shoulder_width


@pytest.mark.parametrize("side", SIDES)
def test_an_arm_before_the_torso_makes_no_notch_below_the_armpit(side: int) -> None:
    body = a_body()
    # A step inwards below the armpit, and a forearm that leads across the body.
    inwards = np.where(ALONG > 0.08, 0.12, 0) + np.maximum(ALONG - 0.8, 0)
    torso = line_at(body, side, np.full(27, 0.52))
    held = outwards_of(led_on_from_seam(line_at(body, side, 0.5 - inwards), torso, body, side), body, side)
    steps = -np.diff(held)[ALONG[1:] < 0.3]
    assert steps.max() < 0.5 * (ALONG[1] - ALONG[0])
    assert held[0] == pytest.approx(0.5)
    assert held[ALONG > 1.2 * FREE] == pytest.approx((0.5 - inwards)[ALONG > 1.2 * FREE])


@pytest.mark.parametrize("side", SIDES)
def test_an_arm_beside_the_torso_is_covered(side: int) -> None:
    body = a_body()
    inwards = np.where(ALONG > 0.08, 0.12, 0)
    narrow = line_at(body, side, np.where(ALONG > 0.2, 0.35, 0.5))
    held = outwards_of(led_on_from_seam(line_at(body, side, 0.5 - inwards), narrow, body, side), body, side)
    assert (held[ALONG > 0.2] < 0.39).all()


@pytest.mark.parametrize(("gap", "closed"), [(0.03, True), (0.2, False)])
def test_a_slit_at_the_armpit_is_closed_and_a_wedge_is_not(gap: float, *, closed: bool) -> None:
    body = a_body()
    torso = line_at(body, 1, 0.5 - np.where(ALONG > 0.1, gap, 0))
    held = led_on_from_seam(line_at(body, 1, np.full(27, 0.5)), torso, body, 1)
    over = outwards_of(torso, body, 1) - outwards_of(held, body, 1)
    near = (ALONG > 0.2) & (ALONG < 0.25)
    assert (over[near] > 0).all() if closed else (over[near] < -0.9 * gap).all()


@pytest.mark.parametrize("side", SIDES)
def test_the_torso_s_edge_is_that_of_its_cloth(side: int) -> None:
    body, marks = a_body(), find_upper_landmarks(cut_out(draw_garment("long sleeve").picture))
    loft = TorsoLoft(marks, body, fit_garment(marks, body))
    edge = outwards_of(edge_of_torso(loft, marks, side), body, side)
    armpit = outwards_of(loft.place(marks.armpit(side))[None].astype(float), body, side)
    assert edge[1] == pytest.approx(armpit[0], abs=0.06)
    assert (edge > 0.2).all()
