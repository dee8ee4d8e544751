"""Side edges of a hanging garment, row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.regions import BoolMask

Edge = NDArray[np.float64]
"""``(h,)`` x of an edge in each row of the canvas; nan where it is not known."""

STEEPEST = 0.6
"""Largest slope, in pixels across per pixel down, with which an edge is continued beyond what was seen."""

CORNER_TOLERANCE = 0.025
"""How far an edge may deviate from a straight line before the hem's corner begins, in garment heights."""


def row_edges(mask: BoolMask) -> tuple[Edge, Edge]:
    """First and last pixel of a mask in every row, nan in empty rows."""
    filled = mask.any(axis=1)
    first = np.where(filled, mask.argmax(axis=1), np.nan)
    last = np.where(filled, mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1), np.nan)
    return first.astype(np.float64), last.astype(np.float64)


def hem_corner(edge: Edge, outward: int, top: int, bottom: int) -> int:
    """Last row in which a side edge is still a side edge and not the rounded or slanted end of the hem.

    Args:
        edge: x per row.
        outward: -1 where the cloth lies right of the edge, 1 where it lies left of it.
        top: First row of the garment.
        bottom: Last row.
    """
    height = bottom - top
    rows = np.arange(max(top, bottom - int(0.35 * height)), bottom + 1)
    trusted = rows[: max(5, int(0.15 * height))]
    trusted = trusted[np.isfinite(edge[trusted])]
    if len(trusted) < 5:
        return bottom
    line = np.polyfit(trusted, edge[trusted], 1)
    fallen_in = (np.polyval(line, rows) - edge[rows]) * outward > CORNER_TOLERANCE * height
    return int(rows[fallen_in.argmax()]) - 2 if fallen_in.any() else bottom


def continued(edge: Edge, begin: int, end: int) -> Edge:
    """An edge over all rows: as seen from ``begin`` to ``end``, straight on beyond both.

    Lone outliers within are removed by a median; the slope beyond is that of the nearest 15 %.
    """
    rows = np.arange(len(edge))
    known = np.isfinite(edge) & (rows >= begin) & (rows <= end)
    if known.sum() < 3:
        known = np.isfinite(edge)
    smooth = np.interp(rows, rows[known], ndimage.median_filter(edge[known], 9, mode="nearest"))
    begin, end = int(rows[known][0]), int(rows[known][-1])
    stretch = max(8, int(0.15 * (end - begin)))
    for at, near, beyond in (
        (begin, slice(begin, min(begin + stretch, end) + 1), rows < begin),
        (end, slice(max(end - stretch, begin), end + 1), rows > end),
    ):
        slope = np.polyfit(rows[near], smooth[near], 1)[0] if len(rows[near]) > 2 else 0.0
        smooth[beyond] = smooth[at] + float(np.clip(slope, -STEEPEST, STEEPEST)) * (rows[beyond] - at)
    return np.asarray(smooth, dtype=np.float64)
