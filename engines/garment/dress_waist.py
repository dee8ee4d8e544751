"""Where a dress or a jumpsuit lying flat has its waist."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from engines.garment.edges import Edge

SOUGHT = 0.45
"""The waist lies within this share of armpit to hem."""

BELOW_ARMPIT, WELL_BELOW = 0.03, 0.06
"""Shares of armpit to hem: where its widths begin, and from where a narrowest row is a waist."""

DRAWN_IN = 0.95
"""Width of a waist over that of the chest at most, where the garment is drawn in."""

CLEAR_KINK = 0.09
"""How far the sides keep inside a straight line, over the width of the chest, for a skirt to begin at the kink. A
straight bodice with a gathered skirt has 0.13, a dress that widens evenly from the bust 0.06."""

TALLEST_BITE = 0.09
"""Share of armpit to hem below which a dent in the sides is no kink of theirs: a sleeve lay there, or a pale print."""

SMOOTHED = 5.0
"""Blur of the widths, canvas pixels."""


def find_waist(widths: Edge, armpit: int, bottom: int) -> int | None:
    """Row of the waist: where the garment is drawn in below the chest, or where its sides bend outwards to a skirt.

    Args:
        widths: ``(n,)`` per canvas row, without gaps.
        armpit: Row of the armpits.
        bottom: Row of the hem.

    Returns:
        The row, or None for a garment that widens evenly or not at all.
    """
    begin = armpit + int(BELOW_ARMPIT * (bottom - armpit))
    rows = slice(begin, armpit + int(SOUGHT * (bottom - armpit)))
    sought = ndimage.gaussian_filter1d(widths[rows], SMOOTHED)
    narrowest = int(np.argmin(sought))
    if sought[narrowest] < DRAWN_IN * widths[begin] and WELL_BELOW * (bottom - armpit) < narrowest < len(sought) - 8:
        return begin + narrowest
    # A straight bodice is nowhere narrower than elsewhere. Bites would be kinks.
    bites = max(int(TALLEST_BITE * (bottom - armpit)), 1)
    whole = ndimage.gaussian_filter1d(ndimage.grey_closing(widths, bites)[rows], SMOOTHED)
    inside = np.linspace(whole[0], whole[-1], len(whole)) - whole
    kink = int(np.argmax(inside))
    return begin + kink if inside[kink] > CLEAR_KINK * widths[begin] else None
