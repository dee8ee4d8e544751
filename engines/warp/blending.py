"""One picture laid over another."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import on_channels
from engines.regions import window_of


def blended(picture: NDArray[np.float32], over: NDArray[np.float32], cover: NDArray[np.float32]) -> NDArray[np.float32]:
    """A picture with another one over it.

    Args:
        picture: ``(height, width, 3)``.
        over: Of the same shape.
        cover: ``(height, width)`` how much of the second is seen, 0 to 1; only the window where any is takes time.

    Returns:
        A new picture.
    """
    window = window_of(cover > 0)
    laid = picture.copy()
    laid[window] += (over[window] - picture[window]) * on_channels(cover[window])
    return laid


def lowered_by(cover: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
    """A cover moved down in the picture; above it its first row goes on, and nothing comes round from below.

    Args:
        cover: ``(height, width)``.
        rows: How far, pixels, at least 1.
    """
    return np.asarray(cv2.copyMakeBorder(cover[:-rows], rows, 0, 0, 0, cv2.BORDER_REPLICATE), np.float32)
