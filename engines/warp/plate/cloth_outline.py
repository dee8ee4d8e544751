"""The outline of old cloth that was overlooked: shaded cloth may look like the wall beside it, but for its edge."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import brightness
from engines.garment.regions import BoolMask, dilated, window_of

BAND = 0.09
"""How far from the old garment its outline may lie, in shoulder widths."""

THICK = 5
"""Lines are thinner than this, pixels."""

LEAST_DEPTH, OVER_WALL = 0.025, 1.5
"""How much darker than both sides a line is at least, and over the darkest lines of the wall farther away: a wall with
lines of its own is left alone."""

WALL_LINES = 99.5
"""Percentage of the wall whose lines are shallower than those."""

SEEDS = 0.5
"""Share of that depth with which a line goes on."""

LEAST_LENGTH = 0.07
"""Extent of a line at least, in shoulder widths."""

LEAST_WALL = 500
"""Pixels of wall from which it is known."""

APART = 2
"""Pixels around arms, hair and whatever else is no wall in which nothing is looked for: those have edges too."""


def outline_of_cloth(
    photo: NDArray[np.float32],
    labels: NDArray[np.uint8],
    old: BoolMask,
    from_old: NDArray[np.float32],
    unit: float,
) -> BoolMask:
    """``(height, width)``: thin dark lines on the wall beside the old garment that the wall elsewhere does not have.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        old: ``(height, width)``, the old garment as labelled.
        from_old: ``(height, width)`` distance from it, pixels.
        unit: Shoulder width in pixels.
    """
    found = np.zeros(old.shape, bool)
    window = window_of(from_old <= 3 * BAND * unit)
    away, wall = from_old[window], np.asarray(labels[window] == Label.BACKGROUND)
    clear = wall & ~dilated(~wall & ~old[window], APART)
    near, far = clear & (away <= BAND * unit), clear & (away > BAND * unit)
    if far.sum() < LEAST_WALL or not near.any():
        return found
    grey = brightness(np.ascontiguousarray(photo[window]))
    depth = np.asarray(cv2.morphologyEx(grey, cv2.MORPH_BLACKHAT, np.ones((THICK, THICK), np.uint8)))
    level = max(LEAST_DEPTH, OVER_WALL * float(np.percentile(depth[far], WALL_LINES)))
    lines = (near & (depth > SEEDS * level)).astype(np.uint8)
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(lines, connectivity=8)
    extent = stats[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]].max(axis=1)
    kept = (extent > LEAST_LENGTH * unit) & (stats[:, cv2.CC_STAT_AREA] < THICK * extent)
    kept &= np.bincount(numbered[depth > level], minlength=count) > 0
    kept[0] = False
    found[window] = dilated(kept[numbered], 1) & wall
    return found
