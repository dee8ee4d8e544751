"""The fixed-size sheet on which every garment photo is measured."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture

LONG_SIDE = 1024
"""Length of the photo's longer side on the canvas, pixels."""

MARGIN = 30
"""Blank frame around the photo, pixels, so that a cloth at the photo's edge still has an outside."""


def lay_on_canvas(picture: Picture) -> Picture:
    """Scale a garment photo to the canvas and continue its border outwards.

    Args:
        picture: ``(height, width, 3)`` uint8 sRGB.

    Returns:
        ``(h + 2 * MARGIN, w + 2 * MARGIN, 3)`` uint8, where ``max(h, w) == LONG_SIDE``.
    """
    height, width = picture.shape[:2]
    scale = LONG_SIDE / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    resized = cv2.resize(picture, size, interpolation=interpolation)
    bordered = cv2.copyMakeBorder(resized, MARGIN, MARGIN, MARGIN, MARGIN, cv2.BORDER_REPLICATE)
    return np.asarray(bordered, dtype=np.uint8)


def clear_margin(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A copy of the mask without anything outside the photo itself."""
    inside = np.zeros_like(mask)
    inside[MARGIN:-MARGIN, MARGIN:-MARGIN] = mask[MARGIN:-MARGIN, MARGIN:-MARGIN]
    return inside
