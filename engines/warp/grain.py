"""The grain of a photo, for what is painted into it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness

GRAIN_LIMIT = 0.010
"""Largest standard deviation of the grain that is added, in units of full white."""


def grain_of(photo: NDArray[np.float32], area: NDArray[np.bool_]) -> float:
    """Standard deviation of the finest detail in an area of a photo, bounded by `GRAIN_LIMIT`."""
    if area.sum() < 100:
        return 0.0
    grey = brightness(photo)
    fine = grey - cv2.GaussianBlur(grey, (0, 0), 1.5)
    # The median absolute deviation does not see edges; 1.48 makes it a standard deviation.
    return float(min(1.48 * np.median(np.abs(fine[area])), GRAIN_LIMIT))


def grain(shape: tuple[int, int], strength: float, size: float = 0.0) -> NDArray[np.float32]:
    """``(height, width, 1)`` of reproducible noise with the given standard deviation, blurred to a size in pixels."""
    noise = np.random.default_rng(0).standard_normal((*shape, 1), np.float32) * np.float32(max(strength, 0.0))
    if size <= 0.0:
        return noise
    soft = np.asarray(cv2.GaussianBlur(noise, (0, 0), size), np.float32)[..., None]
    return np.asarray(soft * np.float32(max(strength, 0.0) / max(float(soft.std()), 1e-9)), np.float32)
