"""Covers, ``(height, width)`` float32 between 0 and 1, moved about in the picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray


def lowered_by(cover: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
    """A cover moved down in the picture; above it its first row goes on, and nothing comes round from below.

    Args:
        cover: ``(height, width)``.
        rows: How far, pixels, at least 1.
    """
    return np.asarray(cv2.copyMakeBorder(cover[:-rows], rows, 0, 0, 0, cv2.BORDER_REPLICATE), np.float32)
