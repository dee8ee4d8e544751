"""Masks with one smooth line for an edge."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import window_of
from engines.warp.body.silhouette import ease

EDGE_SIGMA, EDGE_STEEPNESS = 2.0, 3.2
"""Pixels over which an edge of invented skin is straightened, and how much steeper than that it is."""


def antialiased(mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    """A mask's cover, ``(height, width)`` float32, with its staircase edge made one smooth line."""
    cover = np.zeros(mask.shape, np.float32)
    window = window_of(mask, round(4 * EDGE_SIGMA))
    if mask[window].size:
        blurred = cv2.GaussianBlur(mask[window].astype(np.float32), (0, 0), EDGE_SIGMA)
        cover[window] = ease((np.asarray(blurred) - 0.5) * np.float32(EDGE_STEEPNESS) + 0.5)
    return cover
