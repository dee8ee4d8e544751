"""The unevenness of skin, from pores to blotches, as strong as that of the skin that is seen."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness
from engines.garment.regions import BoolMask, window_of

BANDS = 4
"""Octaves of detail that are looked at: of 1, 2, 4 and 8 pixels."""

MOST = (0.015, 0.010, 0.005, 0.003)
"""Largest standard deviation in each, over the brightness of the skin: hairs, jewellery and folds are no texture."""

LEAST_SEEN = 400
"""Pixels of seen skin from which its texture is known."""

USUAL = (0.004, 0.004, 0.002, 0.001)
"""Deviations where too little is seen."""

BLOTCHES = (0.001, 0.001)
"""Deviations in the two octaves after these, which differ little between people."""

CARRIED = (0.8, 0.6, 0.25, 0.10)
"""Share of what is measured that is texture; the larger it is, the more of it is the form of the body."""


ON_CHANNELS = (0.75, 1.0, 1.3)
"""Share of the unevenness in red, green and blue, as measured on bare arms."""


def skin_texture(photo: NDArray[np.float32], skin: BoolMask, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Factors of about 1, ``shape``, of the same kind every time.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        skin: ``(height, width)``, seen skin without its rim.
        shape: Rows and columns wanted.
    """
    random = np.random.default_rng(0)
    factors = np.ones(shape, np.float32)
    for band, strength in enumerate((*texture_of(photo, skin), *BLOTCHES)):
        reduce = 2**band
        size = (max(2, shape[0] // reduce), max(2, shape[1] // reduce))
        noise = cv2.GaussianBlur(random.standard_normal(size, np.float32), (0, 0), 0.7)
        noise = noise * np.float32(strength / max(float(noise.std()), 1e-6))
        factors += noise if band == 0 else cv2.resize(noise, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    return factors


def coloured_texture(texture: NDArray[np.float32]) -> NDArray[np.float32]:
    """Factors of about 1 for each channel, ``(height, width, 3)``: what is darker is redder, and has less blue.

    Args:
        texture: ``(height, width)`` factors of brightness.
    """
    beyond = texture - np.float32(1.0)
    return np.asarray(cv2.merge([1.0 + share * beyond for share in ON_CHANNELS]), np.float32)


def texture_of(photo: NDArray[np.float32], skin: BoolMask) -> tuple[float, ...]:
    """Standard deviation of seen skin in each octave, over its brightness."""
    if skin.sum() < LEAST_SEEN:
        return USUAL
    window = window_of(skin)
    level, inside = brightness(np.ascontiguousarray(photo[window])), skin[window].astype(np.uint8)
    mean = max(float(np.median(level[inside > 0])), 0.05)
    measured = []
    for band in range(BANDS):
        fine = level - cv2.GaussianBlur(level, (0, 0), 1.4)
        # The median absolute deviation does not see edges; 1.48 makes it a standard deviation.
        known = fine[inside > 0]
        deviation = 1.48 * float(np.median(np.abs(known))) / mean if len(known) else 0.0
        measured.append(min(CARRIED[band] * deviation, MOST[band]))
        if min(level.shape) < 4:
            return (*measured, *USUAL[band + 1 :])
        half = (level.shape[1] // 2, level.shape[0] // 2)
        level = np.asarray(cv2.resize(level, half, interpolation=cv2.INTER_AREA), np.float32)
        shrunk = cv2.resize(inside.astype(np.float32), half, interpolation=cv2.INTER_AREA)
        inside = (np.asarray(shrunk) > 0.99).astype(np.uint8)
    return tuple(measured)
