"""Where a leg of trousers or shorts ends: a straight line through its hem, and the hem's course about that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage

from engines.garment.edges import Edge
from engines.regions import BoolMask

HEM_MARGIN, LEAST_HEM = 0.12, 8
"""The straight line is laid without this share of the hem's width at either end, on at least so many columns."""

CLEAN_HEM, MOST_CUT = 0.6, 0.06
"""Share of a hem that must be whole cloth, so that frays are cut off, and the most that is cut off, in hem widths."""

COURSE, STEADIED = 33, 0.025
"""Places along a hem at which its course is kept, and length over which frays are smoothed, in hem widths."""

HIGHEST_END, LOWEST = 0.3, 0.25
"""How far above and below the straight line a hem may run, in hem widths; an end higher up belongs to the side."""


class LegHem(NamedTuple):
    """The hem of one leg, in pixels of the cloth's canvas.

    Attributes:
        ends: Row of the straight line at the outer edge of the leg and at the inseam.
        course: ``(COURSE,)`` how much lower than that line it is, from the outer edge to the inseam.
    """

    ends: tuple[float, float]
    course: Edge


def leg_hem(mask: BoolMask, outer: Edge, inner: Edge, rows: tuple[int, int]) -> LegHem:
    """Measure a hem.

    A straight line is laid through it, and its course about that is smoothed: it runs round the leg in a bow, or in
    waves, and up into rounded corners. All is moved up until most of the hem is whole cloth; its frays are left below.

    Args:
        mask: ``(h, w)`` bool.
        outer: x of the outer edge per row.
        inner: x of the inseam per row.
        rows: Row of the crotch, last row of the garment.
    """
    crotch, bottom = rows
    begin, end = sorted((float(outer[bottom]), float(inner[bottom])))
    width = end - begin
    columns = np.arange(max(0, int(begin)), min(mask.shape[1], int(end) + 1))
    leg = mask[crotch : bottom + 1, columns] if len(columns) else np.zeros((1, 0), bool)
    columns, leg = columns[leg.any(axis=0)], leg[:, leg.any(axis=0)]
    share = (columns - begin) / max(width, 1.0)
    inside = np.abs(share - 0.5) < 0.5 - HEM_MARGIN
    if inside.sum() < LEAST_HEM:
        return LegHem((float(bottom), float(bottom)), np.zeros(COURSE))
    seen = (bottom - leg[::-1].argmax(axis=0)).astype(np.float64)
    slope, at_begin = np.polyfit(share[inside], seen[inside], 1)
    lower = seen - (at_begin + slope * share)
    hem = (lower > -HIGHEST_END * width) & (lower < LOWEST * width)
    lower = ndimage.median_filter(np.interp(share, share[hem], lower[hem]), max(3, round(STEADIED * width)))
    course = ndimage.gaussian_filter1d(lower, STEADIED * width, mode="nearest")
    over = at_begin + slope * share + course - seen
    cut = float(np.clip(np.percentile(over[inside], 100.0 * CLEAN_HEM), 0.0, MOST_CUT * width)) + 1.0
    steepest = (bottom - crotch) / 2.0
    ends = [max(row, bottom - steepest) for row in (at_begin - cut, at_begin + slope - cut)]
    if outer[bottom] > inner[bottom]:
        ends, share, course = ends[::-1], 1.0 - share[::-1], course[::-1]
    return LegHem((ends[0], ends[1]), np.interp(np.linspace(0.0, 1.0, COURSE), share, course))
