"""Ground seen through a garment: between two straps, and through the keyhole under a bow."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.ground import Ground
from engines.garment.regions import BoolMask, dilated

DARKER, HUED = 3.0, 12.0
"""By how much a place may be darker than the ground, and differ in a and b, CIE Lab: cloth on both sides of a narrow
opening lends it some of its hue."""

SMALLEST, LARGEST = 40, 0.012
"""Area of an opening: at least so many canvas pixels, at most this share of the garment."""

SOFT_RIM = 1
"""By how much an opening is larger than what has the ground's colour, canvas pixels."""

MOST_PLACES = 8
"""Where more places within the garment have the ground's colour, it is that of the print."""

STRAP = 24
"""Width in canvas pixels of the straps on both sides of an opening."""

BRIDGE = 20
"""Height in canvas pixels of what closes a keyhole at the top."""

KEYHOLE_WITHIN = 0.06
"""Farthest from the garment's middle that a keyhole lies, in garment widths."""

HIGHEST_PART = 0.40
"""Both are found within this share of the garment's height, from its top."""


def seen_through(lab: NDArray[np.float32], ground: Ground, mask: BoolMask) -> BoolMask:
    """Places within a garment where the ground is seen.

    A white button on white ground has the ground's colour too, but lies amid cloth; a strap or a bow is narrow.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of the canvas.
        ground: The surface fitted to its border.
        mask: ``(h, w)``, the garment with its openings filled.
    """
    openings = np.zeros_like(mask)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return openings
    lowest = rows[0] + HIGHEST_PART * (rows[-1] - rows[0])
    middle, reach = (columns[0] + columns[-1]) / 2, KEYHOLE_WITHIN * (columns[-1] - columns[0])
    # Retouched photos are whiter there than around the garment.
    like_ground = mask & (lab[..., 0] > ground.colour[..., 0] - DARKER)
    for channel in (1, 2):
        like_ground &= np.abs(lab[..., channel] - ground.colour[..., channel]) < HUED
    count, labels, stats, centres = cv2.connectedComponentsWithStats(like_ground.astype(np.uint8), connectivity=4)
    areas = stats[:, cv2.CC_STAT_AREA]
    places = [number for number in range(1, count) if areas[number] >= SMALLEST]
    if len(places) > MOST_PLACES:
        return openings
    for number in places:
        x, y = centres[number]
        if areas[number] > LARGEST * mask.sum() or y > lowest:
            continue
        place = labels == number
        keyhole = abs(x - middle) < reach and bool((_above(place, BRIDGE) & ~mask).any())
        if keyhole or _between_straps(place[int(y)], mask[int(y)]):
            openings |= dilated(place, SOFT_RIM)
    return openings


def _between_straps(place: BoolMask, mask: BoolMask) -> bool:
    """Whether ground lies close to a place on both sides, in one row of the canvas."""
    columns = np.flatnonzero(place)
    if not len(columns):
        return False
    left, right = mask[max(columns[0] - STRAP, 0) : columns[0]], mask[columns[-1] + 1 : columns[-1] + 1 + STRAP]
    return bool((~left).any() and (~right).any())


def _above(place: BoolMask, height: int) -> BoolMask:
    """The pixels up to so many rows above a place."""
    upwards = np.ones((height + 1, 1), np.uint8)
    return np.asarray(cv2.dilate(place.astype(np.uint8), upwards, anchor=(0, 0)), dtype=bool) & ~place
