"""Painting into a photo: one picture laid over another, and the grain of what is painted."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness, on_channels
from engines.regions import window_of

GRAIN_LIMIT = 0.010
"""Largest standard deviation of the grain that is added, in units of full white."""

PATCH, STRIDE, QUIETEST = 9, 3, 10
"""Size of a patch in which grain is told from weave and how far apart patches lie, pixels, and the percentage of them
that is quiet."""


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


def grain_where_smooth(picture: NDArray[np.float32], area: NDArray[np.bool_]) -> float:
    """Standard deviation of the finest detail in the smooth parts of an area, bounded by `GRAIN_LIMIT`.

    Weave, lace, print and hair are finer and stronger than any camera's grain: only the quietest patches show that.

    Args:
        picture: ``(h, w, 3)`` float32, 0 to 1.
        area: ``(h, w)`` bool.
    """
    if area.sum() < 100:
        return 0.0
    window = window_of(area)
    inner = cv2.erode(area[window].astype(np.uint8), np.ones((PATCH, PATCH), np.uint8))[::STRIDE, ::STRIDE] > 0
    if inner.sum() < 100 / STRIDE**2:
        return 0.0
    grey = brightness(np.ascontiguousarray(picture[window]))
    fine = grey - cv2.GaussianBlur(grey, (0, 0), 1.5)
    variance = cv2.boxFilter(fine * fine, -1, (PATCH, PATCH))[::STRIDE, ::STRIDE][inner]
    return float(min(np.sqrt(max(float(np.percentile(variance, QUIETEST)), 0.0)), GRAIN_LIMIT))


@lru_cache(maxsize=1)
def white_noise(shape: tuple[int, int], seed: int) -> NDArray[np.float32]:
    """``(height, width)`` of normally distributed numbers, not to be written to.

    The last are kept: drawing them takes longer than all else that is done with them, and grain is laid on the fill
    and on the cloth of every picture.
    """
    noise = np.random.default_rng(seed).standard_normal(shape, np.float32)
    noise.flags.writeable = False
    return noise
