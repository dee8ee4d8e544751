"""Light on the new cloth: it only ever multiplies, and never changes a hue."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, eroded
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Piece

DARKEST, BRIGHTEST = 0.80, 1.10
"""Bounds of the whole shading factor."""

FOLD_DARKEST, FOLD_BRIGHTEST = 0.84, 1.09
"""Bounds of what is taken over from the old cloth."""

PRINT_CONTRAST = 16.0
"""Difference from the old cloth's usual lightness from which it is a button or a print, not a fold, CIE L."""

REDUCTION = 2
"""Folds are wide: they are measured on a copy this many times smaller."""

EDGE_FALLOFF = 0.13
"""How much darker dark cloth is at the edge of a body part than on its axis; white cloth loses less."""

ARM_SHADOW = 0.14
"""How much a hanging arm darkens the torso beside it."""


def folds_of_old_cloth(photo: NDArray[np.float32], old: BoolMask, unit: float) -> NDArray[np.float32]:
    """Light and folds of the cloth worn in the photo, as a factor around 1.

    Lightness at the scale of folds over lightness at the scale of the torso. Printed cloth would leave its print
    behind, so the plainer the old cloth, the more is taken over.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment.
        unit: Shoulder width in pixels.
    """
    height, width = old.shape
    half = (max(1, width // REDUCTION), max(1, height // REDUCTION))
    unit = unit / REDUCTION
    core = cv2.resize(old.astype(np.uint8), half, interpolation=cv2.INTER_NEAREST) > 0
    core = eroded(core, max(2, round(0.04 * unit)))
    if core.sum() < 200:
        return np.ones(old.shape, dtype=np.float32)
    small = np.asarray(cv2.resize(photo, half, interpolation=cv2.INTER_AREA), dtype=np.float32)
    lab = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2LAB), dtype=np.float32)
    lightness = lab[..., 0] + 1.0
    usual = float(np.median(lightness[core]))
    weight = (core & (np.abs(lightness - usual) < PRINT_CONTRAST)).astype(np.float32)

    def averaged(sigma: float) -> NDArray[np.float32]:
        total = cv2.GaussianBlur(lightness * weight, (0, 0), sigma)
        return np.asarray(total / (cv2.GaussianBlur(weight, (0, 0), sigma) + 1e-3), dtype=np.float32)

    torso = averaged(0.20 * unit)
    folds = np.where(_share_measured(weight, 0.03 * unit) > 0.3, averaged(0.03 * unit), torso)
    fine_contrast = float(np.std((lightness / (folds + 1e-3))[core]))
    colours = float(np.std(lab[core][:, 1:], axis=0).sum())
    plainness = float(np.clip(1.6 - colours / 9, 0, 1) * np.clip(1.7 - fine_contrast / 0.08, 0, 1))
    depth = cv2.distanceTransform(core.astype(np.uint8), cv2.DIST_L2, 5)
    fading = ease(np.asarray(depth / (0.12 * unit), dtype=np.float32))
    change = np.clip(folds / (torso + 1e-3), FOLD_DARKEST, FOLD_BRIGHTEST) - 1.0
    factor = (1.0 + change * fading * plainness * 0.85).astype(np.float32)
    return np.asarray(cv2.resize(factor, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def _share_measured(weight: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    """Share of the surroundings that has been measured."""
    return np.asarray(cv2.GaussianBlur(weight, (0, 0), sigma), dtype=np.float32)


def roundness(piece: Piece, body: BodyModel, *, below_armpit: bool) -> NDArray[np.float32]:
    """Cloth turns away from the light towards the edges of a body part.

    Args:
        piece: A part of the garment.
        body: The body it lies on.
        below_armpit: Leave the shoulders alone, where torso and sleeve are one surface.
    """
    sure = piece.alpha > 0.9
    lightness = float(piece.colour[sure].mean()) if sure.any() else 0.5
    falloff = EDGE_FALLOFF - 0.05 * lightness
    power = 4 if piece.name == "torso" else 3
    bend = falloff * np.abs(np.clip(piece.across, -1, 1)) ** power
    if below_armpit:
        bend = bend * ease((body.heights - 0.16) / 0.3)
    return np.asarray(1.0 - bend, dtype=np.float32)


def shadow_of_arms(arms: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    """Soft darkening of the torso next to arms that hang in front of it or beside it.

    Args:
        arms: ``(h, w)`` float32 cover of sleeves and bare arms, 0 to 1.
        body: The body.
    """
    lower = arms * ease((body.heights - 0.2) / 0.2)
    soft = cv2.GaussianBlur(lower.astype(np.float32), (0, 0), 0.035 * body.shoulder_width)
    return np.asarray(1.0 - ARM_SHADOW * soft, dtype=np.float32)


def contact_shadow(cover: NDArray[np.float32], reach: float, strength: float) -> NDArray[np.float32]:
    """Darkening just outside and a little below a cover, as a factor; inside the cover it is 1.

    Args:
        cover: ``(h, w)`` float32, 0 to 1.
        reach: Standard deviation of the shadow in pixels.
        strength: Depth of the darkest part, 0 to 1.
    """
    lowered = np.roll(cover, max(1, round(0.5 * reach)), axis=0)
    spread = cv2.GaussianBlur(lowered, (0, 0), max(reach, 0.5))
    return np.asarray(1.0 - strength * np.clip(spread - cover, 0, 1), dtype=np.float32)


def bounded(factor: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    """A shading factor smoothed a little and held between `DARKEST` and `BRIGHTEST`."""
    smooth = cv2.GaussianBlur(factor, (0, 0), max(0.5, 0.006 * unit))
    return np.clip(smooth, DARKEST, BRIGHTEST).astype(np.float32)
