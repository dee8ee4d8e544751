"""The rim of a top that stays, freed of the colour of the trousers that it hung over."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.filling import carried_out
from engines.garment.regions import BoolMask, dilated, eroded, window_of

DEPTH = 3
"""Pixels of the rim that are mixed with what was below, or lie on the wrong side of a hem that the labels follow badly.
"""

GAP = 4
"""Widest gap between the hem and the new garment that is closed, pixels."""

ABOVE, SOFT_SIDE = 2, 4
"""Rows above the soft edge of a garment that count as its beginning, and width of that edge at its sides, which lets
through what lies behind it."""

REACH = 4.0
"""Over how far around a pixel of the rim is drawn from, pixels."""


def above_cloth(cloth: BoolMask) -> BoolMask:
    """Where a garment lies or begins just below; beside it a hem hangs free, and no gap has to be closed."""
    row, column = np.ones((1, 2 * SOFT_SIDE + 1), np.uint8), np.ones((ABOVE + 1, 1), np.uint8)
    within = cv2.erode(cloth.astype(np.uint8), row)
    return np.asarray(cv2.dilate(within, column, anchor=(0, 0)), bool)


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
    if not rim.any():
        return photo, wanted
    window = window_of(rim, round(3 * REACH))
    colour = photo.copy()
    colour[window], weight = carried_out(photo[window], inner[window].astype(np.float32), REACH)
    wanted[window] = rim[window] & (weight > 0.02)
    return colour, wanted
