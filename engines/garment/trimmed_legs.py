"""The legs of a garment cut along smooth lines just inside their edges.

Lint, wavy knit, stair-steps of the cut-out and rests of the ground lie in the outermost pixels of a leg; on a body they
are seen as crumbs along its outline and its hem.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.lower_landmarks import LEFT, RIGHT, LowerLandmarks

INSET = 2.0
"""So many canvas pixels inside its edges a leg is cut."""

STEADIED = 5.0
"""Rows over which an edge is smoothed."""

WAISTBAND, LOOP = 60, 0.06
"""Rows below the top in which the upper edge of the waistband is looked for, and the width up to which what stands up
from it is a loop, a button or lint, in waistband widths."""

BELOW_CROTCH = 10
"""Rows below the crotch from which the inner edges are cut; above they meet."""

Reals: TypeAlias = NDArray[np.float64]


def trimmed_legs(cloth: Cloth, marks: LowerLandmarks) -> tuple[Cloth, LowerLandmarks]:
    """The cloth cut, and its landmarks with the lines along which that was done.

    Args:
        cloth: A garment with legs, cut out.
        marks: Its landmarks.
    """
    rows = np.arange(len(marks.left))
    # Ends of the waistband stick out or are rounded; a top or a matte hides them.
    begun = np.clip((rows - marks.top) / BELOW_CROTCH, 0.0, 1.0)
    left, right = (
        edge * (1.0 - begun) + (ndimage.gaussian_filter1d(edge, STEADIED) - side * INSET) * begun
        for side, edge in ((LEFT, marks.left), (RIGHT, marks.right))
    )
    apart = np.clip((rows - marks.crotch[1]) / BELOW_CROTCH - 1.0, 0.0, 1.0)
    inseams = {
        side: edge * (1.0 - apart) + (ndimage.gaussian_filter1d(edge, STEADIED) + side * INSET) * apart
        for side, edge in marks.inseams.items()
    }
    cut = replace(marks, left=left, right=right, inseams=inseams)
    within = _within(cut, _first(begun), _first(apart), cloth.alpha.shape[1])
    band = slice(0, marks.top + WAISTBAND)
    within[band] *= _below_waistband(cloth.alpha[band], marks)
    return replace(cloth, alpha=np.asarray(cloth.alpha * within, np.float32)), cut


def _below_waistband(alpha: NDArray[np.float32], marks: LowerLandmarks) -> NDArray[np.float32]:
    """``(n, w)`` 1 below a smooth line just inside the upper edge of the waistband, for the first rows of a canvas."""
    first, last = (round(float(edge[marks.top])) for edge in (marks.left, marks.right))
    columns = np.arange(max(first, 0), min(last, alpha.shape[1] - 1) + 1)
    cloth = alpha[:, columns] > 0.5
    if not len(columns) or not cloth.any(axis=0).all():
        return np.ones_like(alpha)
    line = ndimage.median_filter(
        cloth.argmax(axis=0).astype(np.float64), max(3, round(LOOP * len(columns))), mode="nearest"
    )
    line = ndimage.gaussian_filter1d(line, STEADIED, mode="nearest") + INSET / 2.0
    below = np.arange(len(alpha))[:, None] - np.interp(np.arange(alpha.shape[1]), columns, line)
    return np.asarray(np.clip(below + 0.5, 0.0, 1.0), np.float32)


def _within(marks: LowerLandmarks, sides: int, gap: int, width: int) -> NDArray[np.float32]:
    """``(h, w)`` 1 within the lines, 0 outside, soft over one pixel.

    Args:
        marks: With the lines.
        sides: First row that is cut at its outer edges.
        gap: First row that is cut between the legs.
        width: Of the canvas.
    """
    columns = np.arange(width, dtype=np.float32)
    left, right, gap_from, gap_to = (
        edge.astype(np.float32)[:, None]
        for edge in (marks.left, marks.right, marks.inseams[LEFT], marks.inseams[RIGHT])
    )
    inside = np.minimum(columns - left, right - columns)
    inside[:sides] = 1.0
    beside = np.maximum(gap_from[gap:] - columns, columns - gap_to[gap:])
    np.minimum(inside[gap:], beside, out=inside[gap:])
    above = np.arange(len(left), dtype=np.float32)[:, None]
    middle = columns > float(marks.divider[marks.bottom])
    hem = np.where(middle, _hem_line(marks, RIGHT, columns), _hem_line(marks, LEFT, columns)).astype(np.float32)
    first = max(0, int(hem.min()) - 1)
    np.minimum(inside[first:], hem - above[first:], out=inside[first:])
    inside += 0.5
    return np.asarray(np.clip(inside, 0.0, 1.0, out=inside), np.float32)


def _first(share: Reals) -> int:
    """First row in which a share is above 0; behind the last where there is none."""
    return int(np.argmax(share > 0.0)) if (share > 0.0).any() else len(share)


def _hem_line(marks: LowerLandmarks, side: int, columns: NDArray[np.float32]) -> Reals:
    """Row of a leg's hem in every column."""
    rows = np.arange(len(marks.left))
    at_outer, at_inner = marks.hems[side].ends
    outer = float(np.interp(at_outer, rows, marks.outer(side)))
    inner = float(np.interp(at_inner, rows, marks.inseams[side]))
    share = np.clip((columns - outer) / (inner - outer if abs(inner - outer) > 1.0 else 1.0), 0.0, 1.0)
    return np.asarray(at_outer + (at_inner - at_outer) * share + marks.hems[side].lower_at(share), np.float64)
