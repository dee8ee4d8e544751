"""Bites in a garment's side edges: print that the cut-out took for ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.edges import Edge, hem_corner, row_edges
from engines.garment.regions import BoolMask, closed, largest

TALLEST_BITE = 0.09
"""Bites are shorter than this share of the edge's rows; longer ones are the garment's own shape."""

DEEPEST_BITE = 0.05
"""How far an edge is moved outwards at most, as a share of the same length."""

SURE_CLOTH = 6.0
"""Canvas pixels inside the outline from which a cut-out is sure of itself."""

WIDEST_SLEEVE_BITE = 0.03
"""Width of a bite in a sleeve's outline at most, as a share of the garment's height."""

LEAST_BITE, BITE_ENDS = 2.5, 3.0
"""Depth from which a dent is a bite and not the staircase of an outline, canvas pixels, and the blur with which filled
rows go over into those left alone."""

STEADIED = 0.005
"""Over this share of the rows the mended edge is smoothed."""


def without_bites(edge: Edge, outward: int, begin: int, end: int) -> Edge:
    """A side edge with its short dents filled.

    The edge's own slope and curve are taken off before it is closed, so that a slanted edge gets no steps.

    Args:
        edge: x per row; known from ``begin`` to ``end``.
        outward: -1 where the cloth lies right of the edge, 1 where it lies left of it.
        begin: First row.
        end: Last row.

    Returns:
        An edge nowhere inside the given one; unchanged outside those rows.
    """
    length = end - begin + 1
    tall = int(TALLEST_BITE * length)
    if tall < 3:
        return edge
    known = np.flatnonzero(np.isfinite(edge[begin : end + 1])) + begin
    if not len(known):
        return edge
    out = outward * np.interp(np.arange(begin, end + 1), known, edge[known])
    course = ndimage.gaussian_filter1d(out, tall, mode="nearest")
    # What falls in as far as the end is no bite but the rounded corner of a hem: beyond it nothing stands out again.
    beyond = np.pad(out - course, tall, mode="edge")
    filled = ndimage.grey_closing(beyond, (tall,), mode="nearest")[tall:-tall] + course
    filled = np.clip(filled, out, out + DEEPEST_BITE * length)
    smooth = ndimage.gaussian_filter1d(filled, max(1.0, STEADIED * length), mode="nearest")
    mended = edge.copy()
    mended[begin : end + 1] = outward * np.maximum(smooth, out)
    return mended


def filled_to(cloth: Cloth, seen: Edge, mended: Edge, outward: int, span: tuple[int, int]) -> Cloth:
    """The cloth made opaque from a little inside its edge as seen out to the mended one.

    Args:
        cloth: Its colours go on beyond its outline.
        seen: x per row of the cut-out's edge.
        mended: x per row of the edge without bites.
        outward: -1 where the cloth lies right of the edge, 1 where it lies left of it.
        span: First and last row.
    """
    rows = slice(span[0], span[1] + 1)
    columns = np.arange(cloth.alpha.shape[1], dtype=np.float64)[None]
    inside = np.clip((mended[rows, None] - columns) * outward + 0.5, 0.0, 1.0)
    beyond = (columns - seen[rows, None]) * outward > -SURE_CLOTH
    # Rows are filled by whole bites; taken one by one they would leave teeth along a slanted edge.
    deep = np.abs(mended[rows] - seen[rows]) > LEAST_BITE
    around = ndimage.maximum_filter1d(deep.astype(np.float64), 2 * round(BITE_ENDS) + 1)
    bitten = ndimage.gaussian_filter1d(around, BITE_ENDS)[:, None]
    alpha = cloth.alpha.copy()
    alpha[rows] = np.maximum(alpha[rows], np.where(beyond, inside * bitten, 0.0))
    return replace(cloth, alpha=alpha)


def with_whole_sides(cloth: Cloth) -> Cloth:
    """The cloth of a garment without sleeves, the bites in its two sides filled."""
    mask = largest(cloth.alpha > 0.5, 0.5)
    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return cloth
    top, bottom = int(rows[0]), int(rows[-1])
    for outward, edge in zip((-1, 1), row_edges(mask), strict=True):
        end = hem_corner(edge, outward, top, bottom)
        cloth = filled_to(cloth, edge, without_bites(edge, outward, top, end), outward, (top, end))
    return cloth


def whole_sleeve(part: BoolMask, height: float) -> BoolMask:
    """A sleeve's part of the cloth with the bites in its outline filled; ``height`` is the garment's."""
    return closed(part, max(1, int(WIDEST_SLEEVE_BITE * height / 2.0)))
