"""Where the two legs of a garment part, seen from its outline alone."""

from __future__ import annotations

import numpy as np

from engines.garment.edges import row_edges
from engines.garment.regions import BoolMask, reaching

CROTCH_SOUGHT = 0.16
"""The crotch lies within this share of the garment's width from its middle."""

OFF_CENTRE_PENALTY = 0.15
"""Rows by which a notch has to be deeper for each column that it lies off the middle."""

SHALLOWEST_NOTCH, HIGHEST_CROTCH = 0.08, 0.15
"""A notch from below starts at least this share of the height above the hem, and this share below the waistband."""

OPEN_UNTIL = 0.6
"""Share of the garment's height down to which the ground between two legs reaches at least: one may be hidden below."""

NARROWEST = 2
"""Least width of that ground, canvas pixels."""

Point = tuple[float, float]


def find_notch(mask: BoolMask, top: int, bottom: int, centre: float, width: float) -> Point | None:
    """The crotch: the highest point that ground reaches from straight below near the middle.

    Args:
        mask: ``(h, w)`` bool.
        top: First row of the garment.
        bottom: Last row.
        centre: x of the garment's middle.
        width: Its greatest width, pixels.

    Returns:
        (x, y), or None where no ground reaches up into the garment.
    """
    reach = int(CROTCH_SOUGHT * width)
    columns = np.arange(max(0, int(centre) - reach), min(mask.shape[1], int(centre) + reach + 1))
    seen = mask[: bottom + 1, columns]
    lowest = np.where(seen.any(axis=0), bottom - seen[::-1].argmax(axis=0), bottom).astype(float)
    judged = lowest + OFF_CENTRE_PENALTY * np.abs(columns - centre)
    best = int(np.argmin(judged))
    height = bottom - top
    if not top + HIGHEST_CROTCH * height < lowest[best] < bottom - SHALLOWEST_NOTCH * height:
        return None
    # A gap is some columns wide at its upper end; its middle is the crotch.
    level = np.flatnonzero(lowest <= lowest[best] + 0.01 * height)
    return float(np.median(columns[level[np.abs(level - best) < 0.03 * width]])), float(lowest[best])


def find_slanting_gap(mask: BoolMask, top: int, bottom: int, centre: float, width: float) -> Point | None:
    """The upper end of a gap between two legs that does not run straight down: on people who walk, and askew.

    Args:
        mask: ``(h, w)`` bool.
        top: First row of the garment.
        bottom: Last row.
        centre: x of the garment's middle.
        width: Its greatest width, pixels.

    Returns:
        (x, y), wherever in the garment it lies; None where no ground runs down between two legs.
    """
    rows = mask[top : bottom + 1]
    first, last = (edge[top : bottom + 1, None] for edge in row_edges(mask))
    columns = np.arange(mask.shape[1])
    between = ~rows & (columns > first) & (columns < last)
    seeds = np.zeros_like(between)
    seeds[round(OPEN_UNTIL * (len(rows) - 1))] = True
    gap = reaching(between, seeds)
    # Rows of the gap alone are left, above the first of which legs are one.
    begun = np.flatnonzero(gap.sum(axis=1) >= NARROWEST)
    if not len(begun):
        return None
    middle = float(np.flatnonzero(gap[begun[0]]).mean())
    if abs(middle - centre) > CROTCH_SOUGHT * width:
        return None
    return middle, float(top + begun[0])
