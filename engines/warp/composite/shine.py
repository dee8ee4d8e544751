"""Dark cloth shines: the light of a form on it differs more than on cloth that scatters what falls on it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.warp.composite.shading import SHINES_BELOW
from engines.warp.folds.shown import lightness_around
from engines.warp.pieces import Piece

SHINE = 1.8
"""By how much the logarithm of light is larger on black cloth than on cloth that does not shine: dark tops worn in
photos are two to five times as bright on one side as on the other, others at most twice."""

SHEEN, FROM, FULLY = 0.09, 0.92, 1.45
"""Most light that black cloth throws back as it came, whatever its colour, sRGB; and the factors of light between which
it grows to that."""

STRIDE = 4
"""The usual light on a piece is read at every so many pixels."""


def deepened(factor: NDArray[np.float32], piece: Piece, unit: float) -> NDArray[np.float32]:
    """Broad light as a cloth shows it, around its usual light on the piece.

    Args:
        factor: ``(h, w)`` of light on cloth that does not shine.
        piece: The cloth.
        unit: Shoulder width, pixels.
    """
    window = piece.window
    sure = piece.alpha[::STRIDE, ::STRIDE] > 0.9
    dark = _darkness(piece, unit) if sure.any() else None
    if dark is None:
        return factor
    usual = float(np.median(factor[::STRIDE, ::STRIDE][sure]))
    shown = factor.copy()
    shown[window] *= np.power(factor[window] / np.float32(usual), SHINE * dark)
    return shown


def sheen(factor: NDArray[np.float32], piece: Piece, unit: float) -> NDArray[np.float32] | None:
    """``(h, w)`` sRGB, 0 to 1, of light that dark cloth throws back as it came, where the piece is; None if it is none.

    Args:
        factor: ``(h, w)`` of all the light on the piece.
        piece: The cloth.
        unit: Shoulder width, pixels.
    """
    window = piece.window
    dark = _darkness(piece, unit)
    if dark is None:
        return None
    lit = np.clip((factor[window] - np.float32(FROM)) / np.float32(FULLY - FROM), 0, 1)
    return np.asarray(np.float32(SHEEN) * dark * lit * piece.alpha[window], np.float32)


def _darkness(piece: Piece, unit: float) -> NDArray[np.float32] | None:
    """How far the cloth shines in its window, 0 to 1; None where nowhere."""
    alpha = piece.alpha[piece.window]
    if not alpha.size:
        return None
    light = lightness_around(piece, unit)
    dark = np.clip(1 - light / np.float32(SHINES_BELOW), 0, 1).astype(np.float32)
    if not dark.any():
        return None
    return np.asarray(cv2.resize(dark, alpha.shape[::-1], interpolation=cv2.INTER_LINEAR), np.float32)
