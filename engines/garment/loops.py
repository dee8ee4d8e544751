"""Ground seen through a garment: between two straps, through the keyhole under a bow, and beside a hanging sleeve."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import distance
from engines.garment.ground import Ground
from engines.garment.regions import BoolMask, dilated, window_of

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
"""All are found within this share of the garment's height, from its top."""

EXACTLY, UNLIKE, LEAST_UNLIKE = 4.0, 8.0, 0.8
"""Beside a sleeve, where any print may be: how near a place is to the ground's colour, and how far the cloth around it
is, CIE Lab, in at least such a share of its surroundings."""

MIRRORED = 0.05
"""How far two such places may be from mirroring one another, in garment widths; sleeves come in pairs."""

RIM_BESIDE_SLEEVE = 3
"""By how much they are larger than what is exactly of the ground's colour, canvas pixels."""


def seen_through(lab: NDArray[np.float32], ground: Ground, mask: BoolMask) -> BoolMask:
    """Places within a garment where the ground is seen.

    A white button on white ground has the ground's colour too, but lies amid cloth; a strap or a bow is narrow.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of the canvas.
        ground: The surface fitted to its border.
        mask: ``(h, w)``, the garment with its openings filled.
    """
    openings = np.zeros_like(mask)
    window = window_of(mask, STRAP)
    if mask[window].size:
        openings[window] = _openings(lab[window], ground.colour[window], mask[window])
    return openings


def _openings(lab: NDArray[np.float32], ground: NDArray[np.float32], mask: BoolMask) -> BoolMask:
    """The same of a window that holds the garment and what is close to it."""
    rows, columns = window_of(mask)
    lowest = rows.start + HIGHEST_PART * (rows.stop - 1 - rows.start)
    middle, reach = (columns.start + columns.stop - 1) / 2, KEYHOLE_WITHIN * (columns.stop - 1 - columns.start)
    openings, upper = np.zeros_like(mask), (slice(rows.start, int(lowest) + 1), columns)
    openings[upper] = _beside_sleeves(lab[upper], ground[upper], mask[upper], LARGEST * mask.sum())
    # Retouched photos are whiter there than around the garment.
    like_ground = mask & (lab[..., 0] > ground[..., 0] - DARKER)
    for channel in (1, 2):
        like_ground &= np.abs(lab[..., channel] - ground[..., channel]) < HUED
    count, labels = cv2.connectedComponents(like_ground.astype(np.uint8), connectivity=4)
    areas = np.bincount(np.asarray(labels).ravel())
    places = [number for number in range(1, count) if areas[number] >= SMALLEST]
    if len(places) > MOST_PLACES:
        return openings
    for number in places:
        if areas[number] > LARGEST * mask.sum():
            continue
        place = np.asarray(labels == number)
        y, x = (float(where.mean()) for where in np.nonzero(place))
        if y > lowest:
            continue
        keyhole = abs(x - middle) < reach and bool((_above(place, BRIDGE) & ~mask).any())
        if keyhole or _between_straps(place[int(y)], mask[int(y)]):
            openings |= dilated(place, SOFT_RIM)
    return openings


def _beside_sleeves(lab: NDArray[np.float32], ground: NDArray[np.float32], mask: BoolMask, largest: float) -> BoolMask:
    """The two places between body and sleeves whose cuffs touch the body below.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of the upper part of a garment, from its first column to its last.
        ground: The ground's colour there.
        mask: ``(h, w)``, the garment.
        largest: Area of a place at most, pixels.
    """
    away = distance(lab, ground)
    exactly = (mask & (away < EXACTLY)).astype(np.uint8)
    _, labels, stats, centres = cv2.connectedComponentsWithStats(exactly, connectivity=4)
    areas, widths, heights = (stats[:, key] for key in (cv2.CC_STAT_AREA, cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT))
    fitting = (heights > widths) & (areas >= SMALLEST) & (areas <= largest)
    # The first one is everything else.
    places = np.flatnonzero(fitting & (np.arange(len(stats)) > 0)).tolist()
    openings = np.zeros_like(mask)
    if len(places) > MOST_PLACES:
        return openings
    found = {number: labels == number for number in places if _amid_cloth(labels == number, mask, away)}
    width = mask.shape[1]
    for number, place in found.items():
        mirrored = np.array([width - 1 - centres[number][0], centres[number][1]])
        if any(float(np.abs(centres[other] - mirrored).max()) < MIRRORED * width for other in found if other != number):
            openings |= dilated(place, RIM_BESIDE_SLEEVE)
    return openings


def _amid_cloth(place: BoolMask, mask: BoolMask, away: NDArray[np.float32]) -> bool:
    """Whether cloth unlike the ground lies all around a place."""
    window = window_of(place, 4 * RIM_BESIDE_SLEEVE)
    within = place[window]
    around = dilated(within, 3 * RIM_BESIDE_SLEEVE) & ~dilated(within, RIM_BESIDE_SLEEVE)
    unlike = mask[window] & (away[window] > UNLIKE)
    return bool(mask[window][around].all() and unlike[around].mean() > LEAST_UNLIKE)


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
