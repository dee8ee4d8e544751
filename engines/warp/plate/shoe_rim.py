"""Where the opening of a shoe lies that a hem hid: before its ankle, or to both sides of it on one seen from aside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate, ndimage

from engines.base import Label
from engines.channels import brightness
from engines.garment.regions import longest_run, opened

HIGH = 0.045
"""How far above its seen upper edge a shoe opens around the ankle, in shoulder widths."""

TONGUE = 0.40
"""How much higher the tongue before the ankle is than the sides, over half the ankle's width."""

TURNED, TOE_REACH = (0.30, 0.85), (0.35, 0.45)
"""How far the middle of a shoe lies beside that of its ankle, over half the ankle's width, from which it is seen from
the side, and from which wholly; and the height and the reach to both sides of what of it is looked at, in shoulder
widths."""

LIFT, HEEL_TAB, DIP = 0.40, 0.30, 0.75
"""How far above the cut edge the opening of a shoe seen from the side runs below the ankle bone, how far its heel
stands up above that, and how far it dips below its heel at most, as shares of `HIGH`."""

INSTEP, MOST_INSTEP, OVER_LOW = 0.72, 0.10, 0.03
"""Rise of the instep from the cut edge to the tongue over the way there, the most of it, and how much higher than the
lowest part of the opening the tongue stands, in shoulder widths: a tongue no higher than the cut edge is that of a
slipper."""

HEEL_HEIGHT, MOST_HIDDEN = 0.185, 0.095
"""Height of a heel over the ground, and how much of it a hem hides at most, in shoulder widths: without its heel a
shoe is a slipper."""

AT_HEEL = 0.03
"""Length of the sole in which the ground below a heel is looked for, in shoulder widths."""

BESIDE_COUNTER, OF_COUNTER = 0.65, 0.30
"""Where beside the ankle a heel has gone down, so far from its middle over half its width, and to which share of its
height over the lowest part of the opening."""

IN_SHADOW = 0.35
"""How much less than the shoe its shadow differs from the floor, as a share."""

BEHIND_SOLE = 0.025
"""How far labels stand out behind a sole at most, in shoulder widths."""

JOINED = 0.035
"""Radius of what joins the labels of two shoes, in shoulder widths."""

STRAIGHT = 0.6
"""Share of the way up to its tongue over which the instep is straight."""

TONGUE_AT = 0.70
"""Where the tongue of such a shoe is highest: so far from the middle of the ankle towards the tip, over half its
width."""

ROUNDED, HEEL_LEANS = 0.017, 0.024
"""Standard deviation over which the opening is rounded, and how far before its end a heel is highest, in shoulder
widths."""

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
    feet = np.asarray(labels[rows, begin : round(middle) + reach] == Label.FEET)
    shoes, _ = ndimage.label(opened(feet, max(1, round(JOINED * unit))))
    below = shoes[:, max(0, round(middle - half) - begin) : round(middle + half) - begin]
    own = np.bincount(below[below > 0], minlength=1)
    if own.sum() == 0:
        return 0.0
    aside = float(np.nonzero(shoes == own.argmax())[1].mean()) + begin - middle
    turned = float(np.clip((abs(aside) / half - TURNED[0]) / (TURNED[1] - TURNED[0]), 0.0, 1.0))
    return float(np.copysign(turned, aside))


def heel_of_shoe(
    photo: NDArray[np.float32],
    labels: NDArray[np.uint8],
    between: tuple[int, int],
    turn: float,
    *,
    row: int,
    unit: float,
) -> tuple[float, tuple[int, int]]:
    """Row on which the heel of a shoe stands, and the columns of its cut edge without what stands out behind its sole.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        between: First and last column of its cut edge.
        turn: How far it is seen from the side; its tip lies to the left where it is negative.
        row: Of its opening.
        unit: Shoulder width in pixels.
    """
    length = max(2, round(AT_HEEL * unit))
    left = max(0, between[1] + 1 - length if turn < 0.0 else between[0])
    margin, depth = round(JOINED * unit), round(TOE_REACH[0] * unit)
    begin = max(0, left - 2 * margin)
    window = slice(row, row + depth), slice(begin, left + length + 2 * margin)
    heel = slice(left - begin, left - begin + length)
    feet, floor = labels[window] == Label.FEET, labels[window] == Label.BACKGROUND
    if floor.any() and feet[:, heel].any():
        # The labels often give the shadow on the floor to the shoe, which stands out of it more than that.
        light = brightness(photo[window])
        beyond = np.abs(light - np.median(light[floor])) * feet
        feet &= beyond > IN_SHADOW * beyond[:, heel].mean(axis=1).max()
    ground = float(row + longest_run(feet[:, heel].mean(axis=1) > 0.5)[1])
    first, end = longest_run(feet.any(axis=0))
    most = round(BEHIND_SOLE * abs(turn) * unit)
    if end == first:
        return ground, between
    if turn < 0.0:
        return ground, (between[0], max(between[1] - most, min(between[1], begin + end - 1)))
    return ground, (min(between[0] + most, max(between[0], begin + first)), between[1])


def rim_of_shoe(
    edge: NDArray[np.float32],
    between: tuple[int, int],
    ankle: tuple[int, int, int],
    turn: float,
    *,
    ground: float,
    unit: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Rows between which the shoe is continued in each column: its opening, the cut edge of what is seen, the far rim.

    From the ends of the cut the shoe leads up to both sides of the ankle. Seen from the front its tongue stands before
    the ankle; from the side the opening follows the cut from the tongue to the heel, and beside the ankle the inside
    of the shoe is seen between both rims.

    Args:
        edge: ``(w,)`` rows of the cut edge.
        between: First and last column of the cut.
        ankle: First and last column of the ankle, and the row of the opening.
        turn: How far the shoe is seen from the side, -1 to 1.
        ground: Row on which its heel stands.
        unit: Shoulder width in pixels.
    """
    first, last, top = ankle
    columns = np.arange(len(edge), dtype=np.float32)
    middle, half = (first + last) / 2.0, max((last - first) / 2.0, 1.0)
    dome = top + TONGUE * half * np.clip((columns - middle) / half, -1.0, 1.0) ** 2
    level = ndimage.gaussian_filter1d(edge, max(LEVELLED * unit, 1.0), mode="nearest") + CUT
    feet = [float(edge[int(np.clip(end, 0, len(edge) - 1))]) for end in between]
    aside, far = _from_aside(level - CUT, (between, feet), ankle, turn, ground=ground, unit=unit)
    before = np.where(columns < middle, *(np.minimum(dome, max(foot, top)) for foot in feet))
    line = before + (aside - before) * abs(turn)
    for end, side, way, foot in zip(between, (first, last), (1.0, -1.0), feet, strict=True):
        own, sides = (middle - columns) * way >= 0.0, float(line[int(np.clip(side, 0, len(line) - 1))])
        # How far each column lies from the end of the cut towards the ankle, as a share.
        share = np.clip((columns - end) / (side - end if side != end else way), 0.0, 1.0)
        if (side - end) * way > 0.0:
            # The instep is hollow where it comes up to the ankle.
            front = foot + (sides - foot) * share**1.25
            line = np.where((side - columns) * way > 0.0, front + (aside - front) * abs(turn), line)
            level = np.where(own, level + CUT * (np.minimum(2.0 * share, 1.0) - 1.0), level)
        else:
            level = np.where((end - columns) * way > 0.0, foot + (sides - foot) * share, level)
        level = np.where(min(side * way, end * way) - columns * way > 0.0, line - 2.0, level)
    far = np.minimum(line, line + (far - line) * abs(turn))
    return line.astype(np.float32), np.asarray(level, np.float32), np.asarray(far, np.float32)


def _from_aside(
    edge: NDArray[np.float32],
    cut: tuple[tuple[int, int], list[float]],
    ankle: tuple[int, int, int],
    turn: float,
    *,
    ground: float,
    unit: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows of the near and of the far rim of a shoe seen from the side, ``(w,)`` each.

    Args:
        edge: ``(w,)`` rows of the cut edge, levelled.
        cut: First and last column of the cut, and its rows there.
        ankle: First and last column of the ankle, and the row of the opening.
        turn: How far the shoe is seen from the side; its tip lies to the left where it is negative.
        ground: Row on which its heel stands.
        unit: Shoulder width in pixels.
    """
    (ends, feet), (first, last, top) = cut, ankle
    middle, half = (first + last) / 2.0, max((last - first) / 2.0, 1.0)
    way = 1.0 if turn >= 0.0 else -1.0
    tip, heel = (1, 0) if way > 0.0 else (0, 1)
    tab, dip = HEEL_TAB * HIGH * unit, DIP * HIGH * unit
    low = float(edge[int(np.clip(middle, 0, len(edge) - 1))]) - LIFT * HIGH * unit
    before = middle + way * TONGUE_AT * half
    rise = min(INSTEP * max(way * (ends[tip] - before), 0.0), MOST_INSTEP * unit)
    tongue = before, min(float(top), feet[tip] - max(tab, rise))
    tall = max(ground - HEEL_HEIGHT * unit, feet[heel] - MOST_HIDDEN * unit)
    counter = min(feet[heel] - tab, low - tab, tall)
    low = min(low, counter + dip)
    tongue = before, max(min(tongue[1], low - OVER_LOW * unit), feet[tip] - MOST_INSTEP * unit)
    # Measured from the tip on: its end of the cut, the tongue, below the ankle bone, the heel's top and its outline.
    toe = max(way * ends[tip], way * tongue[0] + 1.0)
    back = min(way * ends[heel], way * (first, last)[heel], way * middle - 2.0)
    in_heel = max(-back - HEEL_LEANS * unit, -way * middle + 1.0)
    # The counter stands up right behind the ankle and goes down beside it.
    behind = min(max(-way * (middle - way * BESIDE_COUNTER * half), -way * middle + 1.0), in_heel - 0.5)
    halfway = toe + STRAIGHT * (way * tongue[0] - toe), feet[tip] + CUT + STRAIGHT * (tongue[1] - feet[tip] - CUT)
    at = np.array([-toe, -halfway[0], -way * tongue[0], -way * middle, behind, in_heel, -back])
    beside = low + OF_COUNTER * (counter - low)
    rows = [feet[tip] + CUT, halfway[1], tongue[1], low, beside, counter, max(feet[heel], counter) + CUT]
    rim = interpolate.PchipInterpolator(at, rows)
    columns = np.clip(-way * np.arange(len(edge)), at[0], at[-1])
    near = ndimage.gaussian_filter1d(rim(columns), max(ROUNDED * unit, 1.0), mode="nearest")
    # The far rim runs straight from the tongue to the heel.
    chord = np.interp(columns, at[[2, 5]], rim(at[[2, 5]]))
    # Right at its ends the inside is no more than the near rim lost in being rounded.
    inside = np.maximum(near - chord - max(0.5 * ROUNDED * unit, 1.0), 0.0)
    return near, np.where((columns > at[2]) & (columns < at[5]), near - inside, near)
