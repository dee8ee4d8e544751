"""The outline of short sleeves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.warp.body.limbs import Limb
from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.drape.hanging_sleeve import MOST_SLANT, STANDS_OFF, flared, slanting, without_spikes
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

POINTS = 25


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760, sleeves="none").person_map)


def raised(arm: Limb, by: float) -> Limb:
    """An arm turned about its shoulder, radians; its outer side then points up."""
    way, normal = arm.outward[0].astype(np.float64), arm.line[-1] - arm.line[0]
    normal = normal / np.linalg.norm(normal)
    along = np.linalg.norm(arm.line - arm.line[0], axis=1)[:, None]
    line = arm.line[0] + along * (np.cos(by) * normal + np.sin(by) * way)
    outward = np.broadcast_to(np.cos(by) * way - np.sin(by) * normal, arm.outward.shape)
    return replace(arm, line=line.astype(np.float32), outward=outward.astype(np.float32))


def edges(arm: Limb, unit: float, end: float = 0.35, off: float = 0.01) -> tuple[np.ndarray, np.ndarray]:
    """A sleeve that follows an arm on both sides, and bulges outwards around the muscle."""
    shares = np.linspace(0.02, end, POINTS).astype(np.float32)
    outer = arm.outer_at(shares) + unit * (off + 0.03 * np.sin(np.pi * shares / end))
    across = arm.outwards(shares)
    return (
        (arm.points(shares) + across * outer[:, None]).astype(np.float64),
        (arm.points(shares) - across * arm.inner_at(shares)[:, None]).astype(np.float64),
    )


def stands_off(upper: np.ndarray, arm: Limb, unit: float, end: float = 0.35) -> float:
    """How far a hem's outer corner lies outside of the arm, shoulder widths."""
    at = np.array([end], np.float32)
    edge = arm.points(at)[0] + arm.outwards(at)[0] * arm.outer_at(at)
    return float((upper[-1] - edge) @ arm.outwards(at)[0]) / unit


@pytest.mark.parametrize("side", SIDES)
def test_a_wide_hem_stands_off_the_arm_and_a_narrow_one_a_little(side: int, body: BodyModel) -> None:
    arm, unit = body.arms[side], body.shoulder_width
    sleeve = edges(arm, unit)
    least, most = STANDS_OFF
    for cuff, expected in ((0.6 * unit, most), (0.1 * unit, least)):
        upper = flared(sleeve, cuff, (arm, 0.35), body, side)
        assert stands_off(upper, arm, unit) == pytest.approx(expected, abs=0.015)
        # Taut: between the shoulder and the hem nothing of it is hollow, and the shoulder stays.
        assert np.allclose(upper[0], sleeve[0][0])
        out = (upper - upper[0]) @ body.skeleton.right * side
        assert out[-1] > out[:-1].max() - 0.02 * unit
    assert stands_off(sleeve[0], arm, unit) < least - 0.02


@pytest.mark.parametrize("side", SIDES)
def test_a_cap_only_covers_what_the_arm_leaves_behind(side: int, body: BodyModel) -> None:
    arm, unit = body.arms[side], body.shoulder_width
    shares = np.linspace(0.02, 0.2, POINTS).astype(np.float32)
    straight = (arm.points(shares) + arm.outwards(shares) * arm.outer_at(shares).max()).astype(np.float64)
    cap = flared((straight, edges(arm, unit, 0.2)[1]), 0.0, (arm, 0.2), body, side)
    assert np.abs(cap - straight).max() < 0.01 * unit


@pytest.mark.parametrize("side", SIDES)
def test_a_hem_keeps_its_length_outside_but_slants_little(side: int, body: BodyModel) -> None:
    arm, unit = body.arms[side], body.shoulder_width
    inner = edges(arm, unit)[1][-1]
    assert slanting(0.5, 0.35, inner, arm, body) == pytest.approx(0.35)
    assert slanting(0.34, 0.35, inner, arm, body) == pytest.approx(0.34)
    risen = (0.35 - slanting(0.1, 0.35, inner, arm, body)) * arm.length
    at = np.array([0.35], np.float32)
    width = float((arm.outer_at(at) + arm.inner_at(at))[0]) + STANDS_OFF[1] * unit
    assert 0.8 * MOST_SLANT < risen / width <= MOST_SLANT + 1e-3


@pytest.mark.parametrize("side", SIDES)
def test_off_a_raised_arm_cloth_does_not_stand(side: int, body: BodyModel) -> None:
    unit = body.shoulder_width
    arm = raised(body.arms[side], np.radians(80))
    sleeve = edges(arm, unit, off=0.0)
    assert stands_off(flared(sleeve, 0.6 * unit, (arm, 0.35), body, side), arm, unit) < 0.02
    assert slanting(0.1, 0.35, sleeve[1][-1], arm, body) > 0.33


@pytest.mark.parametrize("mirrored", [False, True])
def test_no_spike_is_left_at_either_corner_of_a_cuff(mirrored: bool) -> None:
    alpha = np.zeros((200, 200), np.float32)
    alpha[40:120, 60:140] = 1
    alpha[112:117, 140:152] = 1
    mesh = np.stack(np.meshgrid(np.linspace(60, 150, 4), np.linspace(40, 118, 5)), axis=2).astype(np.float32)
    mesh = mesh[:, ::-1] if mirrored else mesh
    sleeve = Piece("left_sleeve", np.repeat(alpha[..., None], 3, axis=2), alpha, np.zeros_like(alpha), mesh)
    rounded = without_spikes(sleeve, 250.0)
    assert rounded.alpha[:, 146:].max() < 0.2
    assert np.array_equal(rounded.alpha[:80], alpha[:80])
    # The other corner is none, and hardly rounded.
    assert np.array_equal(rounded.alpha[:, 66:80], alpha[:, 66:80])
    assert (alpha - rounded.alpha)[:, :66].sum() < 12
    assert rounded.alpha[60:110, 70:132].min() > 0.99
    np.testing.assert_allclose(rounded.colour[..., 0], rounded.alpha, atol=1e-6)
