"""The inside of the back, seen through the neck opening, taken off the cloth or alone."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.cloth import Cloth
from engines.regions import BoolMask, window_of

ABOVE = 9
"""How far above the inside of the back the matte's ring is taken off, canvas pixels."""

EVEN, STEEPER = 2.5, 3.0
"""Blur that takes the stairs off the cut, canvas pixels, and by how much what it leaves is made steeper again."""


def without_inner_back(cloth: Cloth, back: BoolMask) -> Cloth:
    """The cloth with the inside of its back made transparent, and the matte's ring above it too."""
    if not back.any():
        return cloth
    return replace(cloth, alpha=(cloth.alpha * (1 - _cover_of(back))).astype(np.float32))


def inner_back_alone(cloth: Cloth, back: BoolMask) -> Cloth:
    """What `without_inner_back` takes off."""
    return replace(cloth, alpha=(cloth.alpha * _cover_of(back)).astype(np.float32))


def _cover_of(back: BoolMask) -> NDArray[np.float32]:
    """How much of each pixel is taken off with the inside of the back, along a line as even as a neckline."""
    upwards, cover = np.zeros_like(back), np.zeros(back.shape, np.float32)
    window = window_of(back, ABOVE + 1)
    if back[window].size:
        tall = cv2.dilate(back[window].astype(np.uint8), np.ones((3, 3), dtype=np.uint8))
        upwards[window] = cv2.dilate(tall, np.ones((ABOVE, 1), dtype=np.uint8), anchor=(0, 0)) > 0
        window = window_of(upwards, 4 * int(np.ceil(EVEN)))
        even = np.asarray(cv2.GaussianBlur(upwards[window].astype(np.float32), (0, 0), EVEN), np.float32)
        cover[window] = np.clip((even - 0.5) * np.float32(STEEPER) + 0.5, 0, 1)
    return cover
