"""Soft folds where cloth gathers on any body, for when the old clothes do not show any: drawn from the pose alone."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.warp.body.limbs import Limb
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import towards
from engines.warp.pieces import Piece

REDUCTION = 2
"""Folds are soft: they are drawn this many times smaller."""

DEEPER_ON_TORSO, DEEPER_ON_ARM, DEEPER_ON_LEG = 1.3, 1.15, 1.7
"""By how much folds are deeper than the tables say: a picture is looked at from farther away than they were drawn."""

SHARPER_BELOW = 1.7
"""By how much a fold of a leg is narrower below its valley than above, where its flank is lit."""

LIT_SHARE = 0.55
"""Brightness of a fold's lit flank over the depth of its valley."""

ON_TORSO = (
    # Down from the armpit towards the middle.
    (0.36, 0.30, -0.80, 0.60, 0.17, 0.030, 0.055),
    (0.40, 0.44, -0.62, 0.78, 0.14, 0.026, 0.045),
    (0.27, 0.52, -0.50, 0.86, 0.16, 0.034, 0.035),
    # Gathered at the waist.
    (0.32, 0.86, -0.95, 0.30, 0.14, 0.026, 0.045),
    (0.28, 0.97, -0.97, 0.22, 0.16, 0.028, 0.040),
    (0.12, 1.00, -0.90, -0.42, 0.13, 0.032, 0.030),
    # Hanging down above a hem.
    (0.24, 1.28, -0.18, 0.98, 0.17, 0.034, 0.040),
    (0.08, 1.34, 0.12, 0.99, 0.14, 0.030, 0.030),
)
"""Folds of one half of a torso: middle outwards and downwards from the shoulders, way outwards and downwards, half
length, half width, all in shoulder widths, and depth as a share of the light."""

ON_ARM = (
    (-0.05, 0.45, 0.35, 0.10, 0.018, 0.075),
    (0.00, 0.55, 0.05, 0.09, 0.016, 0.085),
    (0.05, 0.45, -0.35, 0.10, 0.018, 0.070),
    (-0.30, 0.35, 0.80, 0.10, 0.020, 0.055),
    (0.38, 0.10, 0.45, 0.08, 0.014, 0.050),
)
"""Folds of an arm: share beyond the elbow of an arm that bends in its middle, offset inwards in half widths, how far
the way leans along the arm, half length and half width in shoulder widths, depth."""

ON_LEG = (
    # From the crotch over the thigh: one up to the hip, and two that end sooner.
    (-0.47, 0.25, -0.60, 0.18, 0.026, 0.056),
    (-0.41, 0.66, -0.15, 0.10, 0.018, 0.064),
    (-0.32, 0.55, 0.45, 0.12, 0.024, 0.046),
    # Pushed together in the hollow of the knee.
    (-0.08, 0.45, -0.35, 0.13, 0.022, 0.060),
    (-0.03, 0.25, 0.10, 0.14, 0.020, 0.075),
    (0.04, -0.30, -0.25, 0.12, 0.022, 0.070),
    (0.09, 0.40, 0.35, 0.11, 0.020, 0.050),
    # Down the calf.
    (0.24, 0.25, 1.60, 0.16, 0.028, 0.050),
    (0.30, -0.35, -1.30, 0.13, 0.026, 0.045),
    # Where the hem comes to lie on the shoe.
    (0.39, 0.20, 0.40, 0.12, 0.022, 0.065),
    (0.43, -0.20, -0.35, 0.12, 0.020, 0.075),
    (0.47, 0.15, 0.15, 0.10, 0.018, 0.065),
)
"""The same of a leg, beyond the knee."""

ALONG = 1.0
"""From this lean on a fold runs down the limb, and the limb's width does not shorten it."""

UNLIKE_SIDES, UNLIKE_DEPTHS = 0.015, 0.08
"""How far the folds of the right leg lie further down than those of the left one, as a share of the leg, and how much
they differ in depth: no two halves of a person are dressed alike."""

DEEPER_ON_DARK, PALE = 2.2, 0.8
"""By how much folds of black cloth are deeper, and the brightness from which cloth shows them as they are drawn."""


@dataclass(frozen=True)
class Fold:
    """A fold that is dark in its valley and a little lit on the flank above.

    Attributes:
        middle: x and y in pixels.
        way: Unit vector along it.
        length: Half length, pixels.
        width: Half width, pixels.
        depth: Share of the light that its valley loses.
    """

    middle: NDArray[np.float32]
    way: NDArray[np.float32]
    length: float
    width: float
    depth: float


def torso_folds(body: BodyModel, strength: float) -> NDArray[np.float32]:
    """``(h, w)`` factor around 1 of folds on the torso; strength 0 to 1 of their depth."""
    bone, unit = body.skeleton, body.shoulder_width
    folds = []
    for side in SIDES:
        for out, down, way_out, way_down, length, width, depth in ON_TORSO:
            # No two halves of a person are dressed alike.
            lower = down + 0.035 * side
            middle = bone.shoulders + bone.right * (side * out * unit) + bone.down * (lower * unit)
            way = towards(bone.right * (side * way_out) + bone.down * way_down)
            folds.append(Fold(middle, way, length * unit, width * unit, depth * (1 + 0.2 * side)))
    return _drawn(body.shape, folds, DEEPER_ON_TORSO * strength)


def leg_folds(body: BodyModel, strength: float) -> NDArray[np.float32]:
    """``(h, w)`` factor around 1 of folds on trouser legs."""
    folds = []
    for side in SIDES:
        table = tuple(
            (beyond + UNLIKE_SIDES * side, *form, depth * (1 + UNLIKE_DEPTHS * side)) for beyond, *form, depth in ON_LEG
        )
        folds += _limb_folds(body.legs[side], table, body.shoulder_width)
    return _drawn(body.shape, folds, DEEPER_ON_LEG * strength, SHARPER_BELOW)


def arm_folds(body: BodyModel, strength: float) -> NDArray[np.float32]:
    """``(h, w)`` factor around 1 of folds on sleeves."""
    folds = [fold for side in SIDES for fold in _limb_folds(body.arms[side], ON_ARM, body.shoulder_width)]
    return _drawn(body.shape, folds, DEEPER_ON_ARM * strength)


def _limb_folds(limb: Limb, table: tuple[tuple[float, ...], ...], unit: float) -> list[Fold]:
    folds = []
    way_down = limb.line[-1] - limb.line[0]
    for beyond, inwards, lean, length, width, depth in table:
        at = np.array([limb.bend + 2 * beyond * (limb.bend if beyond < 0 else 1 - limb.bend)], np.float32)
        out = limb.outwards(at)[0]
        along = np.array([-out[1], out[0]], np.float32)
        along = along if along @ way_down > 0 else -along
        half = float(limb.outer_at(at)[0] + limb.inner_at(at)[0]) / 2
        middle = limb.points(at)[0] - out * np.float32(inwards * half)
        long = length * unit if abs(lean) > ALONG else min(length * unit, 0.8 * half)
        folds.append(Fold(middle, towards(out + along * lean), long, width * unit, depth))
    return folds


def _drawn(
    shape: tuple[int, int], folds: list[Fold], strength: float, sharper_below: float = 1.0
) -> NDArray[np.float32]:
    height, width = shape[0] // REDUCTION, shape[1] // REDUCTION
    change = np.zeros((height, width), dtype=np.float32)
    for fold in folds:
        middle = fold.middle / REDUCTION
        long, thick = max(fold.length / REDUCTION, 1.0), max(fold.width / REDUCTION, 0.7)
        reach = 2.2 * long + 4 * thick
        low = np.maximum(np.floor(middle - reach), 0).astype(int)
        high = np.minimum(np.ceil(middle + reach), (width, height)).astype(int)
        if (low >= high).any():
            continue
        x = np.arange(low[0], high[0], dtype=np.float32)[None] - middle[0]
        y = np.arange(low[1], high[1], dtype=np.float32)[:, None] - middle[1]
        along = (x * fold.way[0] + y * fold.way[1]) / long
        up = np.array([fold.way[1], -fold.way[0]], np.float32)
        up = up if up[1] < 0 else -up
        # Folds sag a little and are widest in their middle.
        aside = (x * up[0] + y * up[1]) / thick + np.float32(0.9) * along * along
        aside = np.where(aside < 0, np.float32(sharper_below) * aside, aside)
        valley = np.exp(-(aside * aside)) - LIT_SHARE * np.exp(-((aside - 1.9) ** 2) / 1.6)
        envelope = np.exp(-(along * along) * 1.4)
        change[low[1] : high[1], low[0] : high[0]] -= fold.depth * valley * envelope
    drawn = cv2.resize(change, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(1.0 + np.float32(strength) * drawn, dtype=np.float32)


def deeper_on_dark(folds: NDArray[np.float32], piece: Piece) -> NDArray[np.float32]:
    """``(h, w)`` folds as deep as they have to be to be seen in dark cloth, whose weave hides soft ones."""
    sure = piece.alpha > 0.9
    lightness = float(piece.colour[sure].mean()) if sure.any() else PALE
    return 1 + (folds - 1) * np.float32(1 + DEEPER_ON_DARK * max(PALE - lightness, 0.0) / PALE)
