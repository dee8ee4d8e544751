"""What of a bare limb comes out of a sleeve, a trouser leg or a skirt: its hem may slant, and may be wavy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.warp.body.bare_parts import CAP_SLEEVE, COVERED, BarePart
from engines.warp.body.silhouette import ease

COLUMNS, UNTIL = 15, 0.85
"""Strips across a limb in which its hem is looked for, and how far out of the middle; at the edge it goes on level."""

MOST_SLANT = 0.22
"""How much higher a hem may be at one side of the limb than on its axis, as a share of the limb."""

LEAST_CLOTH = 0.06
"""Length of cloth above a hem that makes it one; where there is none the cloth is narrower than the limb."""

AT_HEM, LEAST_PIXELS, SLANTING = ((0.06, 0.04), (0.02, 0.0)), 10, 0.12
"""Two pieces of a sleeve above its hem that tell how wide it is, as shares of the limb, pixels that are enough, and the
difference between their edges from which the hem slants, in half widths of the limb."""

NARROWEST, WHOLE, EASED = 0.45, 0.94, 0.16
"""Edges of a sleeve, in half widths of the limb, between which the limb is held within it, and the share of the limb
over which it eases out to its own width; a narrower edge is that of cloth which lies across the limb."""

CORNER = 0.14
"""How much further down a limb comes out beside its sleeve, as a share of it for half its width."""

ROUNDED = 0.8
"""Standard deviation over which the hem's line is smoothed, in strips."""


def out_of_hem(limb: BarePart, clothed: NDArray[np.float32], begin: float) -> BarePart:
    """The part of a whole limb that is bare.

    A sleeve so short that the round of the shoulder is bare leaves the whole arm.

    Args:
        limb: From its root.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.
        begin: Share of the limb at which the garment ends on its axis.
    """
    if begin <= (0.0 if limb.bend > 0.0 else CAP_SLEEVE):
        return limb
    on = limb.on.copy()
    across, share = limb.across[limb.on], limb.share[limb.on]
    cloth = clothed[limb.on] > COVERED
    out = share >= _hem(across, share, cloth, begin)
    # Towards the body an arm may lie on the cloth of the torso, which hides the sleeve's edge.
    sides = (-1.0, 1.0) if limb.bend > 0.0 else (float(limb.side),)
    on[limb.on] = out & _within_sleeve(across, share, cloth, begin, sides)
    return replace(limb, on=on, begin=begin)


def _within_sleeve(
    across: NDArray[np.float32],
    share: NDArray[np.float32],
    cloth: NDArray[np.bool_],
    begin: float,
    sides: tuple[float, ...],
) -> NDArray[np.bool_]:
    """Which of ``(n,)`` pixels of a limb are no further out than the edge of the sleeve it comes out of.

    Further down, the limb eases out to its own width.
    """
    within = np.ones(len(share), np.bool_)
    eased = ease((share - begin) / EASED)
    for side in sides:
        edges = []
        for first, last in AT_HEM:
            own = cloth & (share > begin - first) & (share <= begin - last) & (side * across > 0.0)
            edges.append(float(np.percentile(side * across[own], 98.0)) if own.sum() >= LEAST_PIXELS else np.inf)
        # The edge of a slanting hem comes in from one to the next, that of a narrow sleeve hardly.
        if min(edges) > NARROWEST and max(edges) < WHOLE and abs(edges[0] - edges[1]) < SLANTING:
            within &= side * across <= edges[0] + (1.02 - edges[0]) * eased
    return within


def _hem(
    across: NDArray[np.float32], share: NDArray[np.float32], cloth: NDArray[np.bool_], begin: float
) -> NDArray[np.float32]:
    """Share at which the limb comes out of its clothes at each of ``(n,)`` pixels, nowhere below ``begin``."""
    step = 2.0 * UNTIL / COLUMNS
    strip = np.floor((across + UNTIL) / step).astype(np.int64)
    asked = cloth & (strip >= 0) & (strip < COLUMNS) & (share > begin - MOST_SLANT) & (share <= begin)
    lowest, highest = np.full(COLUMNS, -np.inf), np.full(COLUMNS, np.inf)
    np.maximum.at(lowest, strip[asked], share[asked])
    np.minimum.at(highest, strip[asked], share[asked])
    clothed = np.flatnonzero(lowest - highest > LEAST_CLOTH)
    ends = np.full(COLUMNS, begin)
    ends[clothed] = lowest[clothed]
    # Between two strips the cloth is as high as in the higher one.
    ends = ndimage.gaussian_filter1d(ndimage.minimum_filter1d(ends, 3, mode="nearest"), ROUNDED, mode="nearest")
    if len(clothed):
        # Beside a sleeve that is narrower than the limb no corner of it stands out.
        index = np.arange(COLUMNS)
        beyond = np.maximum(np.maximum(clothed[0] - index, index - clothed[-1]), 0)
        ends = ends + CORNER * step * beyond
    centres = -UNTIL + step * (np.arange(COLUMNS) + 0.5)
    return np.asarray(np.interp(across, centres, ends), np.float32)
