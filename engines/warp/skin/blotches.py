"""Skin is not of one colour: patches of it are redder or paler, as much as those of the skin that is seen."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness
from engines.garment.regions import BoolMask, window_of
from engines.warp.body.bare_parts import BarePart

REDUCED = 2
"""Factor by which blotches are measured and drawn smaller."""

SIZES = (0.009, 0.018, 0.036, 0.075)
"""Sigma of each kind of blotch, in shoulder widths."""

CARRIED, MOST = (0.55, 0.45, 0.35, 0.25), (0.010, 0.010, 0.010, 0.010)
"""Share of what is measured of each that is carried on, as the largest are those of the light, and the largest standard
deviations of red over brightness."""

USUAL = (0.004, 0.004, 0.004, 0.004)
"""The same where too little skin is seen."""

LEAST_SEEN = 600
"""Pixels of the reduced picture from which blotches are measured."""

DARKER = 0.7
"""How much darker a patch is than others, over how much redder."""

KNEE, FLUSH = (0.995, 0.085, 0.62), 0.016
"""Place of the knee along the leg, 1 at the joint, and the reach along and across over which its skin is redder; and by
how much it is."""


def skin_blotches(
    photo: NDArray[np.float32], skin: BoolMask, legs: list[BarePart], window: tuple[slice, slice], unit: float
) -> NDArray[np.float32]:
    """Factors of about 1 for each channel of a window, ``(h, w, 3)``.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        skin: ``(height, width)``, seen skin without its rim.
        legs: The bared legs, whose knees are redder.
        window: Rows and columns of the picture that are wanted.
        unit: Shoulder width in pixels.
    """
    height, width = skin[window].shape
    size = (max(4, width // REDUCED), max(4, height // REDUCED))
    random = np.random.default_rng(3)
    small = np.zeros(size[::-1], np.float32)
    for sigma, deviation in zip(SIZES, blotches_of(photo, skin, unit), strict=True):
        small += np.float32(deviation) * _patches(random, size, sigma * unit / REDUCED)
    red = np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)
    for leg in legs:
        on = leg.on[window]
        along, across = leg.share[window][on] / max(leg.bend, 0.1), leg.across[window][on]
        place = ((along - KNEE[0]) / KNEE[1]) ** 2 + (across / KNEE[2]) ** 2
        red[on] += FLUSH * np.exp(-place)
    level = 1.0 - DARKER * red
    others = level * (1.0 - 0.5 * red)
    return np.asarray(cv2.merge([level * (1.0 + red), others, others]), np.float32)


def blotches_of(photo: NDArray[np.float32], skin: BoolMask, unit: float) -> tuple[float, ...]:
    """Standard deviations of red over the brightness of seen skin, in patches of each size."""
    if not skin.any():
        return USUAL
    window = window_of(skin)
    height, width = skin[window].shape
    size = (max(4, width // REDUCED), max(4, height // REDUCED))
    small = np.asarray(cv2.resize(photo[window], size, interpolation=cv2.INTER_AREA), np.float32)
    inside = np.asarray(cv2.resize(skin[window].astype(np.float32), size, interpolation=cv2.INTER_AREA)) > 0.99
    if inside.sum() < LEAST_SEEN:
        return USUAL
    level = np.maximum(brightness(small), 0.05)
    weight, found = inside.astype(np.float32), []
    finer = np.asarray(small[..., 0] / level, np.float32)
    for number, sigma in enumerate(SIZES):
        scale = sigma * unit / REDUCED
        share = np.maximum(cv2.GaussianBlur(weight, (0, 0), scale), 1e-3)
        broader = np.asarray(cv2.GaussianBlur(finer * weight, (0, 0), scale)) / share
        # The median absolute deviation does not see edges; 1.48 makes it a standard deviation.
        deviation = 1.48 * float(np.median(np.abs((finer - broader)[inside])))
        found.append(min(CARRIED[number] * deviation, MOST[number]))
        finer = broader.astype(np.float32)
    return tuple(found)


def _patches(random: np.random.Generator, size: tuple[int, int], sigma: float) -> NDArray[np.float32]:
    """``(height, width)`` of standard deviation 1, of patches of one size in pixels; ``size`` is width and height."""
    coarse = max(1.0, sigma)
    cells = (max(3, round(size[0] / coarse)), max(3, round(size[1] / coarse)))
    noise = cv2.GaussianBlur(random.standard_normal((cells[1], cells[0]), np.float32), (0, 0), 1.0)
    noise = noise / np.float32(max(float(noise.std()), 1e-6))
    return np.asarray(cv2.resize(noise, size, interpolation=cv2.INTER_CUBIC), np.float32)
