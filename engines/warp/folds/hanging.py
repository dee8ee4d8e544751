"""Long folds of cloth that hangs freely from the waist, where the garment's own picture shows none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.folds.laid import skirt_folds
from engines.warp.pieces import Piece

FROM, FULLY = 0.85, 1.5
"""Heights between which cloth begins to hang in folds, torso lengths."""

LEAST_HANGING = 0.35
"""How far below `FROM` a piece has to reach for them, torso lengths: a top is not long enough."""

OWN_FOLDS = 0.05
"""Relative contrast of the cloth's own folds from which they are enough."""

BINS = 32
"""Strips across the cloth whose brightness is compared."""

LEAST_LOOSE, FULLY_LOOSE = 0.55, 0.4
"""Share of the folds that a straight skirt has, and by how much wider than its hips its hem is where it has all."""

STRIDE = 4
"""The cloth's contrast is measured at every so many pixels."""


def hanging_folds(piece: Piece, body: BodyModel, light: tuple[float, float]) -> NDArray[np.float32]:
    """``(h, w)`` change of light around 0 by folds that run down a skirt or the lower part of a dress.

    They follow the cloth, which widens to its hem.

    Args:
        piece: Skirt, or torso of any length.
        body: The body it hangs on.
        light: Where light comes from in the picture, a unit vector of x and y; y points down.
    """
    flat = np.zeros(body.shape, dtype=np.float32)
    sure = piece.alpha[::STRIDE, ::STRIDE] > 0.9
    below = body.heights[::STRIDE, ::STRIDE]
    hanging = sure & (below > FROM)
    if not hanging.any() or float(below[hanging].max()) < FROM + LEAST_HANGING:
        return flat
    strength = _looseness(piece, body) * (1 - _own_folds(piece, below, hanging) / OWN_FOLDS)
    if strength <= 0:
        return flat
    return skirt_folds(piece, body, light, FROM) * ease((body.heights - FROM) / (FULLY - FROM)) * np.float32(strength)


def _own_folds(piece: Piece, heights: NDArray[np.float32], hanging: NDArray[np.bool_]) -> float:
    """Relative contrast of the folds that hanging cloth has itself, whatever is printed on it.

    Folds run down the cloth, prints do not: folds are what its upper and its lower half show alike across it.
    """
    bright = brightness(np.ascontiguousarray(piece.colour[::STRIDE, ::STRIDE]))[hanging]
    place = np.clip((piece.across[::STRIDE, ::STRIDE][hanging] + 1) / 2 * BINS, 0, BINS - 1).astype(np.intp)
    lower = heights[hanging] > np.median(heights[hanging])
    halves = []
    for half in (lower, ~lower):
        count = np.bincount(place[half], minlength=BINS)
        means = np.bincount(place[half], bright[half], minlength=BINS) / np.maximum(count, 1)
        usual = max(float(bright[half].mean()) if half.any() else 0.0, 0.02)
        halves.append(np.where(count > 0, means / usual - 1, 0.0))
    return float(np.sqrt(max(float(np.mean(halves[0] * halves[1])), 0.0)))


def _looseness(piece: Piece, body: BodyModel) -> float:
    """How freely cloth hangs, up to 1: the more, the wider it is at its hem than where it begins to hang."""
    rows = np.flatnonzero((piece.alpha > 0.5).any(axis=1) & (body.heights.max(axis=1) > FROM))
    widths = (piece.alpha[rows] > 0.5).sum(axis=1)
    end = max(1, len(rows) // 10)
    wider = (
        float(np.median(widths[-2 * end : -end])) / max(float(np.median(widths[:end])), 1.0) if len(rows) > 20 else 1.0
    )
    return LEAST_LOOSE + (1 - LEAST_LOOSE) * float(np.clip((wider - 1) / FULLY_LOOSE, 0, 1))
