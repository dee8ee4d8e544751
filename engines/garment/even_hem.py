"""The hem of a worn garment as one even curve: a map of a wearer tears it where cloth below looks alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, largest, runs_of

ABOVE_HEM = 0.85
"""Share of the garment's height in whose row the width of the hem is found: sleeves have ended, or hang apart."""

CORNERS = 0.04
"""Share of the hem's width at each end that is rounded, and left as it is."""

ROUNDS, OUTLYING = 6, 1.5
"""Rounds in which the curve is fitted, and how many usual distances from it a column counts no more."""

LEAST_DISTANCE = 2.0
"""A usual distance is at least so many canvas pixels."""

HANGS, BITTEN = 0.2, 0.05
"""How far below the curve something hangs that is cut off, and how far above it cloth ends that is carried on, in
widths of the hem: what is deeper is cut that way."""

LEAST_EVEN = 0.6
"""Share of the hem that lies within the latter on both sides of the curve; hems with points and slits do not."""

LEAST_WIDTH = 20
"""Columns of the narrowest hem that is looked at, canvas pixels."""


def evened_hem(cloth: BoolMask) -> BoolMask:
    """The garment with what hangs below its hem cut off, and with bites into it filled.

    Args:
        cloth: ``(h, w)`` bool.

    Returns:
        ``(h, w)`` bool; as it was where its lower edge is no even curve.
    """
    rows = np.flatnonzero(cloth.any(axis=1))
    if not len(rows):
        return cloth
    first, last = _hem_columns(cloth[int(rows[0] + ABOVE_HEM * (rows[-1] - rows[0]))])
    width = last - first
    if width < LEAST_WIDTH:
        return cloth
    columns = np.arange(first + int(CORNERS * width), last - int(CORNERS * width))
    bottom = cloth.shape[0] - 1.0 - cloth[::-1, columns].argmax(axis=0)
    curve = _curve_through(columns, bottom)
    below = bottom - curve
    if (np.abs(below) < BITTEN * width).mean() < LEAST_EVEN:
        return cloth
    even = np.where((below > -BITTEN * width) & (below < HANGS * width), curve, bottom)
    y = np.arange(cloth.shape[0])[:, None]
    result = cloth.copy()
    result[:, columns] = (cloth[:, columns] | (y > bottom - BITTEN * width)) & (y <= even)
    return largest(result)


def _hem_columns(row: NDArray[np.bool_]) -> tuple[int, int]:
    """First column and end of the longest run of cloth."""
    runs = runs_of(row)
    if not len(runs):
        return 0, 0
    first, end = runs[np.argmax(runs[:, 1] - runs[:, 0])]
    return int(first), int(end)


def _curve_through(columns: NDArray[np.int64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of the bow that most of the lower edge follows."""
    x = (columns - columns.mean()) / max(float(np.ptp(columns)), 1.0)
    kept = np.ones(len(x), dtype=bool)
    curve = bottom
    for _ in range(ROUNDS):
        curve = np.polyval(np.polyfit(x[kept], bottom[kept], 2), x)
        away = np.abs(bottom - curve)
        kept = away <= OUTLYING * max(float(np.median(away)), LEAST_DISTANCE)
    return curve
