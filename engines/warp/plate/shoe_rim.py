"""Where the opening of a shoe lies that a hem hid: before its ankle, or to both sides of it on one seen from aside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label

HIGH = 0.045
"""How far above its seen upper edge a shoe opens around the ankle, in shoulder widths."""

TONGUE = 0.40
"""How much higher the tongue before the ankle is than the sides, over half the ankle's width."""

TURNED, TOE_REACH = (0.30, 0.85), (0.35, 0.45)
"""How far the middle of a shoe lies beside that of its ankle, over half the ankle's width, from which it is seen from
the side, and from which wholly; and the height and the reach to both sides of what of it is looked at, in shoulder
widths."""

HEEL_TAB, DIP = 0.15, 0.60
"""How much lower than the tongue the heel of a shoe seen from the side ends, and how far its opening dips below the
ankle bone between them, as shares of `HIGH`."""

LEVELLED = 0.010
"""Standard deviation over which the cut edge is levelled, in shoulder widths."""

CUT = 2
"""Pixels below the cut edge that carry the hem's colour."""


def turn_of_shoe(labels: NDArray[np.uint8], middle: float, half: float, row: int, unit: float) -> float:
    """How far a shoe is seen from the side, -1 to 1, by the side of the picture that its tip points to.

    Args:
        labels: ``(height, width)`` of `Label`.
        middle: Column of the middle of its ankle.
        half: Half the width of that in pixels.
        row: Of its opening.
        unit: Shoulder width in pixels.
    """
    reach = round(TOE_REACH[1] * unit)
    begin = max(0, round(middle) - reach)
    rows = slice(row, row + round(TOE_REACH[0] * unit))
    shoes, _ = ndimage.label(labels[rows, begin : round(middle) + reach] == Label.FEET)
    below = shoes[:, max(0, round(middle - half) - begin) : round(middle + half) - begin]
    own = np.bincount(below[below > 0], minlength=1)
    if own.sum() == 0:
        return 0.0
    aside = float(np.nonzero(shoes == own.argmax())[1].mean()) + begin - middle
    turned = float(np.clip((abs(aside) / half - TURNED[0]) / (TURNED[1] - TURNED[0]), 0.0, 1.0))
    return float(np.copysign(turned, aside))


def rim_of_shoe(
    edge: NDArray[np.float32], between: tuple[int, int], ankle: tuple[int, int, int], turn: float, unit: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Rows between which the shoe is continued in each column: its opening, and the cut edge of what is seen.

    From the ends of the cut the shoe leads up to both sides of the ankle. Seen from the front its tongue stands before
    the ankle; from the side the opening dips between tongue and heel.

    Args:
        edge: ``(w,)`` rows of the cut edge.
        between: First and last column of the cut.
        ankle: First and last column of the ankle, and the row of the opening.
        turn: How far the shoe is seen from the side, -1 to 1.
        unit: Shoulder width in pixels.
    """
    first, last, top = ankle
    columns = np.arange(len(edge), dtype=np.float32)
    middle, half = (first + last) / 2.0, max((last - first) / 2.0, 1.0)
    aside = np.clip((columns - middle) / half, -1.0, 1.0)
    line = np.full(len(edge), float(top))
    level = ndimage.gaussian_filter1d(edge, max(LEVELLED * unit, 1.0), mode="nearest") + CUT
    feet = [float(edge[int(np.clip(end, 0, len(edge) - 1))]) for end in between]
    # The tip of the shoe lies to the left where the turn is negative, and its heel on the other side.
    highs = [
        min(top + HEEL_TAB * HIGH * unit * (turn * way > 0.0), foot) for way, foot in zip((1, -1), feet, strict=True)
    ]
    dip = highs[0] + (highs[1] - highs[0]) * (aside + 1.0) / 2.0 + DIP * HIGH * unit * (1.0 - aside**2)
    for end, side, way, foot, high in zip(between, (first, last), (1.0, -1.0), feet, highs, strict=True):
        own = (middle - columns) * way >= 0.0
        # Where the instep is seen higher up than that, the tongue goes over into it.
        before = top + min(TONGUE * half, foot - top)
        sides = before + (high - before) * abs(turn)
        dome = top + (before - top) * aside**2
        line[own] = (dome + (dip - dome) * abs(turn))[own]
        # How far each column lies from the end of the cut towards the ankle, as a share.
        share = np.clip((columns - end) / (side - end if side != end else way), 0.0, 1.0)
        if (side - end) * way > 0.0:
            # The instep is hollow where it comes up to the ankle.
            line = np.where((side - columns) * way > 0.0, foot + (sides - foot) * share**1.25, line)
            level = np.where(own, level + CUT * (np.minimum(2.0 * share, 1.0) - 1.0), level)
        else:
            level = np.where((end - columns) * way > 0.0, foot + (sides - foot) * share, level)
        level = np.where(min(side * way, end * way) - columns * way > 0.0, line - 2.0, level)
    return line.astype(np.float32), np.asarray(level, np.float32)
