"""Soft folds where cloth gathers on any body, for when the old clothes do not show any: drawn from the pose alone.

Cloth is gathered in a few places, under the arm, in the crook of the elbow, at the waist, the crotch, the knees and
above a hem that rests on something. From there folds run out like a fan: narrow and deep where they begin, wide and
shallow where they end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.limbs import Limb
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import towards
from engines.warp.composite.fold_strokes import Fold, drawn

DEEPER_ON_TORSO, DEEPER_ON_ARM, DEEPER_ON_LEG = 1.15, 1.5, 1.5
"""By how much folds are deeper than the tables say."""


class Fan(NamedTuple):
    """Folds that run out from one place.

    Attributes:
        out: On a torso, how far outwards from its axis, in shoulder widths. On a limb, from its axis towards the body's
            middle, in its half widths.
        down: On a torso, below the shoulders, in shoulder widths. On a limb, its share beyond elbow or knee where both
            bones are taken to be half of it.
        first: Direction of the first fold, degrees: 0 across, inwards on a torso and outwards on a limb; 90 down.
        last: Direction of the last one.
        folds: How many.
        length: Half length, shoulder widths.
        width: Half width, shoulder widths.
        depth: Share of the light that a valley loses.
        bent: Whether a straight limb shows them less and a bent one more.
    """

    out: float
    down: float
    first: float
    last: float
    folds: int
    length: float
    width: float
    depth: float
    bent: bool = False


ON_TORSO = (
    # From the armpit over the chest, down the side, and towards the waist.
    Fan(0.42, 0.30, 12, 40, 3, 0.13, 0.020, 0.045),
    Fan(0.43, 0.38, 48, 76, 3, 0.17, 0.026, 0.050),
    Fan(0.30, 0.44, 55, 66, 1, 0.20, 0.050, 0.035),
    # Gathered at the waist.
    Fan(0.44, 0.84, 2, 32, 3, 0.15, 0.022, 0.050),
    Fan(0.44, 1.02, -28, 12, 3, 0.15, 0.022, 0.050),
    Fan(0.22, 0.93, 5, 25, 1, 0.18, 0.045, 0.035),
)
ABOVE_HEM = (
    Fan(0.30, -0.48, 70, 88, 2, 0.17, 0.034, 0.040),
    Fan(0.06, -0.40, 80, 96, 1, 0.16, 0.040, 0.035),
)
"""Folds of a torso's lower end; ``down`` is below its hem."""

ON_ARM = (
    # Half-shadow on the side towards the body, and in the crook of the elbow.
    Fan(1.00, -0.42, 86, 86, 1, 0.170, 0.050, 0.050),
    Fan(1.00, 0.06, 86, 86, 1, 0.170, 0.045, 0.050),
    Fan(0.95, -0.02, 4, 4, 1, 0.060, 0.050, 0.050, bent=True),
    # From the armpit over the upper arm, and down from the shoulder.
    Fan(0.95, -0.40, 18, 62, 3, 0.085, 0.017, 0.060),
    Fan(-0.45, -0.46, 74, 100, 2, 0.120, 0.034, 0.022),
    # In the crook of the elbow.
    Fan(0.95, 0.00, -42, 42, 4, 0.075, 0.016, 0.070, bent=True),
    Fan(-0.90, 0.03, 205, 150, 2, 0.060, 0.015, 0.045, bent=True),
    # Down the forearm, and pushed together above the cuff.
    Fan(0.90, 0.16, 28, 62, 3, 0.085, 0.017, 0.050),
    Fan(-0.80, 0.26, 150, 118, 2, 0.080, 0.018, 0.040),
    Fan(0.90, 0.41, -22, 24, 3, 0.060, 0.015, 0.055),
)
ON_LEG = (
    # Half-shadow on the inner thigh, and in the hollow below the knee.
    Fan(1.00, -0.52, 84, 84, 1, 0.300, 0.090, 0.050),
    Fan(-0.90, 0.22, 104, 104, 1, 0.240, 0.070, 0.040),
    Fan(0.90, 0.30, 96, 96, 1, 0.200, 0.070, 0.040),
    # From the crotch towards the hip.
    Fan(1.00, -0.47, -38, 0, 2, 0.130, 0.017, 0.050),
    # Over the outer thigh, and down its middle.
    Fan(-0.95, -0.44, 152, 126, 2, 0.160, 0.026, 0.032),
    Fan(-0.10, -0.38, 88, 88, 1, 0.300, 0.060, 0.020),
    # Pushed together at the knee, on one side after the other.
    Fan(0.98, -0.04, -16, 30, 2, 0.120, 0.017, 0.055, bent=True),
    Fan(-0.98, 0.07, 172, 172, 1, 0.110, 0.019, 0.050, bent=True),
    # Down the calf.
    Fan(0.95, 0.12, 70, 70, 1, 0.270, 0.030, 0.034),
    Fan(-0.90, 0.20, 108, 108, 1, 0.230, 0.028, 0.032),
    # Where the hem comes to lie on the shoe.
    Fan(0.95, 0.42, -14, 14, 2, 0.110, 0.017, 0.048),
    Fan(-0.95, 0.39, 186, 186, 1, 0.105, 0.017, 0.044),
)

HEM_FROM, HEM_UNTIL = 1.35, 1.95
"""How far below the shoulders a top may end to hang down so, in shoulder widths: a shorter one does not hang, and cloth
that goes on below the hips hangs otherwise."""

STRAIGHT, FULLY_BENT = 0.55, 60.0
"""Share of its folds that a straight elbow or knee shows, and the angle from which it shows them deepest, degrees."""

DEEPEST_BENT = 1.5
"""Depth of the folds of a bent elbow or knee over that in the tables."""

MOST_FOLDS = 5
"""No fan has more."""

SPREAD = 0.45
"""How folds widen from where they are gathered."""

UNLIKE = (0.5698, 0.7549, 0.3820, 0.8192)
"""Irrational shares by which lengths, widths, depths and bends of one fold after the other differ evenly, and which no
two of them repeat: no two halves of a person are dressed alike."""

LONGER, WIDER, DEEPER, SAGGING, TURNED = 0.45, 0.5, 0.5, 1.6, 9.0
"""Range of those differences, as shares, in half widths, and in degrees."""


class _Frame(NamedTuple):
    """Directions at a place on the body, unit vectors, and the shoulder width in pixels: in what a `Fan` is given."""

    across: NDArray[np.float32]
    down: NDArray[np.float32]
    unit: float


def torso_folds(body: BodyModel, light: tuple[float, float], hem: float) -> NDArray[np.float32]:
    """``(h, w)`` change of light by folds on the torso.

    Args:
        body: Measured from the photo.
        light: As `fold_strokes.drawn` has it.
        hem: Where the cloth ends, in shoulder widths below the shoulders.
    """
    bone, unit = body.skeleton, body.shoulder_width
    above_hem = [fan._replace(down=hem + fan.down) for fan in ABOVE_HEM] if HEM_FROM < hem < HEM_UNTIL else []
    folds: list[Fold] = []
    for side in SIDES:
        frame = _Frame(-bone.right * np.float32(side), bone.down, unit)
        for number, fan in enumerate((*ON_TORSO, *above_hem)):
            at = bone.shoulders + bone.right * np.float32(side * fan.out * unit)
            at = at + bone.down * np.float32((fan.down + 0.025 * side) * unit)
            folds += _fanned(fan, at, frame, _first(number, side), DEEPER_ON_TORSO)
    return drawn(body.shape, folds, light)


def leg_folds(body: BodyModel, light: tuple[float, float]) -> NDArray[np.float32]:
    """``(h, w)`` change of light by folds on trouser legs."""
    return _on_limbs(body, body.legs, ON_LEG, light, DEEPER_ON_LEG)


def arm_folds(body: BodyModel, light: tuple[float, float]) -> NDArray[np.float32]:
    """``(h, w)`` change of light by folds on sleeves."""
    return _on_limbs(body, body.arms, ON_ARM, light, DEEPER_ON_ARM)


def _on_limbs(
    body: BodyModel, limbs: dict[int, Limb], table: tuple[Fan, ...], light: tuple[float, float], deeper: float
) -> NDArray[np.float32]:
    folds: list[Fold] = []
    for side in SIDES:
        limb, unit = limbs[side], body.shoulder_width
        bent = _depth_at_bend(limb)
        for number, fan in enumerate(table):
            beyond = fan.down + 0.01 * side
            at = np.array([limb.bend + 2 * beyond * (limb.bend if beyond < 0 else 1 - limb.bend)], np.float32)
            out = limb.outwards(at)[0]
            along = np.array([-out[1], out[0]], np.float32)
            along = along if along @ _way_at(limb, float(at[0])) > 0 else -along
            half = float(limb.outer_at(at)[0] + limb.inner_at(at)[0]) / 2
            origin = limb.points(at)[0] - out * np.float32(fan.out * half)
            depth = deeper * (bent if fan.bent else 1.0)
            folds += _fanned(fan, origin, _Frame(out, along, unit), _first(number, side), depth)
    return drawn(body.shape, folds, light)


def _way_at(limb: Limb, share: float) -> NDArray[np.float32]:
    ends = limb.points(np.array([share - 0.05, share + 0.05], np.float32))
    return np.asarray(ends[1] - ends[0], dtype=np.float32)


def _depth_at_bend(limb: Limb) -> float:
    """Depth of the folds at elbow or knee over that in the tables."""
    middle = limb.points(np.array([limb.bend], np.float32))[0]
    upper, lower = towards(middle - limb.line[0]), towards(limb.points(np.ones(1, np.float32))[0] - middle)
    angle = float(np.degrees(np.arccos(np.clip(upper @ lower, -1, 1))))
    return float(np.interp(angle, (0.0, FULLY_BENT), (STRAIGHT, DEEPEST_BENT)))


def _first(fan: int, side: int) -> int:
    """Number of a fan's first fold on one side, so that no fold's form depends on which others are drawn."""
    return MOST_FOLDS * (2 * fan + (side > 0))


def _fanned(fan: Fan, origin: NDArray[np.float32], frame: _Frame, number: int, deeper: float) -> list[Fold]:
    """The folds of a fan, whose first one has a number."""
    folds = []
    for k in range(fan.folds):
        longer, wider, depth, bend = (((number + k + 1) * share) % 1 - 0.5 for share in UNLIKE)
        position = (k + 0.5) / fan.folds
        angle = np.radians(fan.first + (fan.last - fan.first) * position + 2 * TURNED * bend)
        way = towards(frame.across * np.float32(np.cos(angle)) + frame.down * np.float32(np.sin(angle)))
        length = fan.length * (1 + LONGER * longer) * frame.unit
        middle = np.asarray(origin + way * np.float32(0.9 * length), dtype=np.float32)
        width = fan.width * (1 + WIDER * wider) * frame.unit
        deep = deeper * fan.depth * (1 + DEEPER * depth)
        folds.append(Fold(middle, way, length, width, deep, SAGGING * (0.35 + wider), SPREAD))
    return folds
