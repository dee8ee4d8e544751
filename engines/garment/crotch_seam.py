"""Where the two legs of a garment are joined: inner edges that run on clean cloth at the crotch and just above it.

In a picture the gap between two legs ends in a tip of ground, shadow or lining, narrower than any rule for ground is
sure of. On a body the legs meet there, so nothing of it may show: both inner edges pass it on either side and come
together above it, like the two sides of a dart.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from engines.channels import distance
from engines.garment.cloth import Cloth
from engines.garment.lower_landmarks import LEFT, RIGHT, LowerLandmarks
from engines.garment.regions import BoolMask, reaching

TIP_ABOVE, TIP_BESIDE = 0.09, 0.045
"""The tip lies within this share of the garment's height above the crotch, and, where it is widest, of the waistband's
width beside it."""

COMPARED_FROM, COMPARED_TO, COMPARED_STEP = 0.055, 0.14, 0.012
"""Beside it, in waistband widths, lies the cloth that it is compared with."""

COMPARED_ROWS = (-3, 0, 3)
"""Rows of that cloth around each row of the tip: stripes are unlike the row above them."""

UNLIKE = 0.12
"""Smallest difference from all of that cloth, sRGB."""

TIP_STARTS = 4
"""Canvas pixels above the crotch in which the tip starts."""

MARGIN = 2.0
"""Canvas pixels by which an edge keeps away from the tip, whose border is mixed with it."""

ROUNDED = 8
"""Canvas pixels around the crotch where the gap's end is round and soft."""


def sewn_at_crotch(cloth: Cloth, marks: LowerLandmarks) -> LowerLandmarks:
    """The landmarks with inner edges that pass the tip of the gap between the legs.

    Args:
        cloth: A garment with legs, cut out.
        marks: Its landmarks.
    """
    rows, (x, y) = np.arange(len(marks.divider)), marks.crotch
    centre = np.where(rows <= y, marks.inseams[LEFT], x)
    first, tip = _tip(cloth, marks)
    within = slice(first, first + len(tip))
    inseams = {}
    for side in (LEFT, RIGHT):
        aside = np.where(rows <= y, 0.0, np.maximum((marks.inseams[side] - centre) * side, 0.0))
        columns = (np.arange(tip.shape[1]) - tip.shape[1] // 2) * side
        aside[within] = np.maximum(aside[within], (tip * (columns + MARGIN)).max(axis=1, initial=0.0))
        passed = ndimage.gaussian_filter1d(ndimage.maximum_filter1d(aside, ROUNDED), ROUNDED / 4.0)
        # Further down the gap's own edge ends the cloth.
        inseams[side] = np.where(rows < y + ROUNDED, centre + side * np.maximum(passed, aside), marks.inseams[side])
    return replace(marks, inseams=inseams)


def _tip(cloth: Cloth, marks: LowerLandmarks) -> tuple[int, BoolMask]:
    """First row of the place above the crotch, and where in it the tip is; the middle column is the crotch's."""
    (x, y), width = (round(value) for value in marks.crotch), marks.waist_width
    reach = max(3, round(TIP_BESIDE * width))
    first = max(marks.top, y - max(TIP_STARTS, round(TIP_ABOVE * marks.height)))
    columns = np.arange(-reach, reach + 1)
    seen = cloth.colour[first : y + 1, x + columns]
    beside = np.arange(COMPARED_FROM, COMPARED_TO, COMPARED_STEP) * width
    nearest = np.full(seen.shape[:2], np.inf, np.float32)
    for away in np.rint(np.concatenate([-beside, beside])).astype(int):
        for row in COMPARED_ROWS:
            other = cloth.colour[first + row : y + 1 + row, x + away]
            np.minimum(nearest, distance(seen, other[:, None]), out=nearest)
    narrowing = np.linspace(0.0, 1.0, len(seen))[:, None]
    unlike = np.asarray((nearest > UNLIKE) & (np.abs(columns) <= reach * narrowing))
    start = np.zeros_like(unlike)
    start[-TIP_STARTS:] = True
    return first, reaching(unlike, start, connectivity=8)
