"""The hem of a worn garment as one even curve: a map of a wearer tears it where cloth below looks alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask, largest, longest_run

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

STEEPEST, BESIDE_HEM, ALIKE = 0.12, 6, 5.0
"""A top's hem that falls more than this from one side to the other, over its width, is believed where the colours so
many canvas pixels above and below it differ by more than the third, CIE Lab: black on black a map only guesses."""


def evened_hem(cloth: BoolMask) -> BoolMask:
    """The garment with what hangs below its hem cut off, and with bites into it filled.

    Args:
        cloth: ``(h, w)`` bool.

    Returns:
        ``(h, w)`` bool; as it was where its lower edge is no even curve.
    """
    hem = _hem_of(cloth)
    if hem is None:
        return cloth
    columns, width, bottom, curve = hem
    below = bottom - curve
    if (np.abs(below) < BITTEN * width).mean() < LEAST_EVEN:
        return cloth
    even = np.where((below > -BITTEN * width) & (below < HANGS * width), curve, bottom)
    y = np.arange(cloth.shape[0])[:, None]
    result = cloth.copy()
    result[:, columns] = (cloth[:, columns] | (y > bottom - BITTEN * width)) & (y <= even)
    return largest(result)


def with_believed_slant(canvas: Picture, cloth: BoolMask) -> BoolMask:
    """A worn top whose hem ends level where it seems to slant, but nothing shows an edge there.

    Args:
        canvas: ``(h, w, 3)`` uint8 sRGB.
        cloth: ``(h, w)`` bool, as it was labelled.

    Returns:
        ``(h, w)`` bool; cut off at the height of the hem's higher end, or as it was.
    """
    hem = _hem_of(cloth)
    if hem is None:
        return cloth
    columns, _, bottom, curve = hem
    if abs(curve[-1] - curve[0]) < STEEPEST * len(columns):
        return cloth
    lab = to_lab(canvas)
    inside, outside = (np.clip(bottom + away, 0, cloth.shape[0] - 1) for away in (-BESIDE_HEM, BESIDE_HEM))
    across = np.linalg.norm(lab[inside, columns] - lab[outside, columns], axis=1)
    if np.median(across) > ALIKE:
        return cloth
    level = cloth.copy()
    corner = round(CORNERS * len(columns)) + BESIDE_HEM
    below = slice(max(columns[0] - corner, 0), columns[-1] + corner + 1)
    level[round(min(curve[0], curve[-1])) + 1 :, below] = False
    return largest(level)


class _Hem(NamedTuple):
    """Columns of the hem without its rounded ends, its whole width, and per column its row and that of its curve."""

    columns: NDArray[np.int64]
    width: int
    bottom: NDArray[np.int64]
    curve: NDArray[np.float64]


def _hem_of(cloth: BoolMask) -> _Hem | None:
    """The hem between what hangs beside it; None where there is hardly any."""
    rows = np.flatnonzero(cloth.any(axis=1))
    if not len(rows):
        return None
    first, end = longest_run(cloth[int(rows[0] + ABOVE_HEM * (rows[-1] - rows[0]))])
    width = end - first
    if width < LEAST_WIDTH:
        return None
    columns = np.arange(first + int(CORNERS * width), end - int(CORNERS * width))
    bottom = np.asarray(cloth.shape[0] - 1 - cloth[::-1, columns].argmax(axis=0), np.int64)
    return _Hem(columns, width, bottom, _curve_through(columns, bottom.astype(np.float64)))


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
