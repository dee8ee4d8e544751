"""The rim of a top that stays, freed of the colour of the trousers that it hung over."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, dilated, eroded

DEPTH = 3
"""Pixels of the rim that are mixed with what was below, or lie on the wrong side of a hem that the labels follow badly.
"""

GAP = 4
"""Widest gap between the hem and the new garment that is closed, pixels."""

REACH = 4.0
"""Over how far around a pixel of the rim is drawn from, pixels."""


def own_rim(
    photo: NDArray[np.float32], cloth: BoolMask, from_old: NDArray[np.float32], below: BoolMask, reach: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The rim of a garment in the colours that it has further in.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        cloth: ``(height, width)``, the garment that stays.
        from_old: ``(height, width)`` distance from the garment that goes, pixels.
        below: ``(height, width)``, where the new garment begins below it and what is gone leaves a gap between both.
        reach: Distance from it within which a rim is mixed with it, pixels.

    Returns:
        ``(height, width, 3)`` colour, and ``(height, width)`` float32, 0 to 1, where it is wanted.
    """
    inner = eroded(cloth, DEPTH)
    rim = cloth & ~inner & (from_old <= reach)
    rim |= dilated(rim, GAP) & below
    wanted = np.zeros(cloth.shape, np.float32)
    rows, columns = np.flatnonzero(rim.any(axis=1)), np.flatnonzero(rim.any(axis=0))
    if not len(rows):
        return photo, wanted
    margin = round(3 * REACH)
    window = np.s_[
        max(0, int(rows[0]) - margin) : int(rows[-1]) + margin + 1,
        max(0, int(columns[0]) - margin) : int(columns[-1]) + margin + 1,
    ]
    known = inner[window].astype(np.float32)
    weight = np.asarray(cv2.GaussianBlur(known, (0, 0), REACH), np.float32)
    sums = np.asarray(cv2.GaussianBlur(photo[window] * known[..., None], (0, 0), REACH), np.float32)
    colour = photo.copy()
    colour[window] = sums / np.maximum(weight, 1e-3)[..., None]
    wanted[window] = rim[window] & (weight > 0.02)
    return colour, wanted
