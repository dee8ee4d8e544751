"""Long soft folds of cloth that hangs freely from the waist, where the garment's own picture shows none."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Piece

FROM, FULLY = 0.85, 1.5
"""Heights between which cloth begins to hang in folds, torso lengths."""

LEAST_HANGING = 0.35
"""How far below `FROM` a piece has to reach for them, torso lengths: a top is not long enough."""

VALLEYS = ((-0.78, 0.09, 0.055), (-0.45, 0.12, 0.045), (-0.12, 0.10, 0.055), (0.25, 0.13, 0.040), (0.62, 0.10, 0.060))
"""Places across the cloth, from edge (-1) to edge (1), half widths, and depths as shares of the light."""

LIT_SHARE = 0.6
"""Brightness of the flank beside a valley over its depth."""

OWN_FOLDS = 0.05
"""Relative contrast of the cloth itself from which its own folds or its print are enough."""

STRIDE = 4
"""The cloth's contrast is measured at every so many pixels."""


def hanging_folds(piece: Piece, body: BodyModel) -> NDArray[np.float32]:
    """``(h, w)`` factor around 1 of folds that run down a skirt or the lower part of a dress.

    They follow the cloth, which widens to its hem, and are deepest there.

    Args:
        piece: Skirt, or torso of any length.
        body: The body it hangs on.
    """
    flat = np.ones(body.shape, dtype=np.float32)
    sure = piece.alpha[::STRIDE, ::STRIDE] > 0.9
    below = body.heights[::STRIDE, ::STRIDE]
    hanging = sure & (below > FROM)
    if not hanging.any() or float(below[hanging].max()) < FROM + LEAST_HANGING:
        return flat
    strength = 1 - _contrast(piece, hanging, body.shoulder_width) / OWN_FOLDS
    if strength <= 0:
        return flat
    rows = np.flatnonzero((piece.alpha > 0).any(axis=1) & (body.heights.max(axis=1) > FROM))
    window = slice(int(rows[0]), int(rows[-1]) + 1)
    places = np.linspace(-1.0, 1.0, 401, dtype=np.float32)
    drawn = np.zeros(len(places), dtype=np.float32)
    for place, half, depth in VALLEYS:
        off = (places - place) / half
        drawn -= depth * (np.exp(-(off**2)) - LIT_SHARE * np.exp(-((off - 1.7) ** 2) / 1.2)).astype(np.float32)
    across = np.rint((np.clip(piece.across[window], -1, 1) + 1) * 200).astype(np.intp)
    depth_here = ease((body.heights[window] - FROM) / (FULLY - FROM)) * np.float32(strength)
    flat[window] += drawn.take(across) * depth_here
    return flat


def _contrast(piece: Piece, hanging: NDArray[np.bool_], unit: float) -> float:
    """Relative contrast of the hanging cloth at the size of folds."""
    bright = brightness(np.ascontiguousarray(piece.colour[::STRIDE, ::STRIDE]))
    weight = hanging.astype(np.float32)
    sigma = max(0.02 * unit / STRIDE, 0.5)
    smooth = cv2.GaussianBlur(bright * weight, (0, 0), sigma) / (cv2.GaussianBlur(weight, (0, 0), sigma) + 1e-3)
    usual = max(float(smooth[hanging].mean()), 0.02)
    return float(smooth[hanging].std()) / usual
