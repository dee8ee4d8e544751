"""What of a bare limb comes out of a sleeve, a trouser leg or a skirt: its hem may slant, and may be wavy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.warp.body.bare_parts import CAP_SLEEVE, COVERED, BarePart

COLUMNS, UNTIL = 15, 0.85
"""Strips across a limb in which its hem is looked for, and how far out of the middle; at the edge it goes on level."""

MOST_SLANT = 0.22
"""How much higher a hem may be at one side of the limb than on its axis, as a share of the limb."""

LEAST_CLOTH = 0.06
"""Length of cloth above a hem that makes it one; where there is none the cloth is narrower than the limb."""

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
    on[limb.on] = share >= _hem(across, share, clothed[limb.on] > COVERED, begin)
    return replace(limb, on=on, begin=begin)


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
    ends = np.where(lowest - highest > LEAST_CLOTH, lowest, begin)
    # Between two strips the cloth is as high as in the higher one.
    ends = ndimage.gaussian_filter1d(ndimage.minimum_filter1d(ends, 3, mode="nearest"), ROUNDED, mode="nearest")
    centres = -UNTIL + step * (np.arange(COLUMNS) + 0.5)
    return np.interp(across, centres, ends).astype(np.float32)
