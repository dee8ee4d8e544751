"""The upper edge of a shoe that a trouser leg hid: continued around the bare ankle that goes into it.

Where trousers fall on a shoe the photo shows it without its opening, cut off along their hem. A bare ankle set on that
cut looks like a post: the instep rises to the opening, which lies around the ankle and before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import BoolMask, eroded
from engines.warp.body.bare_parts import BarePart
from engines.warp.body.into_shoe import shoe_opening
from engines.warp.body.limbs import Limb
from engines.warp.plate.shoe_leather import (
    LEARNT,
    colours_going_on,
    like_skin,
    line_of_hem,
    strip_below_hem,
)
from engines.warp.plate.shoe_rim import CUT, HIGH, MOST_HIDDEN, heel_of_shoe, rim_of_shoe, turn_of_shoe

CAST, CAST_REACH = 0.34, 0.020
"""Depth of the shadow of its opening on the ankle, and the reach of that in shoulder widths."""

JUMP = 0.05
"""Step in the cut edge beyond which it is that of another shoe, in shoulder widths."""

STAND_OFF = 0.006
"""How far the opening stands off the ankle, in shoulder widths."""

HIDDEN_BY, MOSTLY = 5, 0.6
"""Pixels above a shoe's edge that are old cloth where its opening is hidden, and share of the edge for which that has
to be so."""

CUT_WITHIN = 0.16
"""How far beside and above the opening its cut edge is followed, in shoulder widths."""

BESIDE_ANKLE, MORE_AT_TIP = 0.075, 0.030
"""How far beside the ankle a shoe comes up to the hem at most, and by what that is more on the side of its tip where it
is seen from the side, in shoulder widths."""

LOWEST_CUT = 0.06
"""How far below the opening the cut edge of a shoe lies at most, in shoulder widths."""

ROUND, ROUND_WIDTH = 0.16, 0.018
"""How much darker the shoe is at both ends of what is continued, where it turns away, and over which width, in shoulder
widths."""

LINING, LINING_WIDTH, INSIDE = 0.22, 0.006, 0.74
"""How much darker it is along its opening, the width of that line in shoulder widths, and the light inside."""

BINDING, BOUND = 0.022, 0.06
"""How far below its opening the seam of its binding runs, in shoulder widths, and how much darker that is."""

HEEL = 0.05
"""How much lower than the rest of its cut edge a shoe may come up behind, in shoulder widths."""

LEAST_UPRIGHT = 0.94
"""Least cosine of the angle between a shin and the upright under which shoes stand on the ground."""

LEAST_ANKLE = 0.002
"""Area of a seen ankle, in squared shoulder widths."""

LEAST_STRIP = 40
"""Pixels of shoe from which its colour is known."""


@dataclass(frozen=True)
class ShoeCollar:
    """What is continued of one shoe.

    Attributes:
        window: Rows and columns of the picture that it lies in.
        colour: ``(h, w, 3)`` of the window, float32 sRGB, 0 to 1.
        over: ``(h, w)``, how far it lies over the ankle, 0 to 1.
        lining: ``(h, w)``, how far its inside is seen where no ankle is, 0 to 1.
        cover: ``(h, w)``, where it is drawn, 0 to 1.
        beside: ``(h, w)``, where beside the shoe no ankle stands out any more.
        shade: ``(h, w)`` factor of the shadow in which the ankle goes into it.
    """

    window: tuple[slice, slice]
    colour: NDArray[np.float32]
    over: NDArray[np.float32]
    lining: NDArray[np.float32]
    cover: NDArray[np.float32]
    beside: BoolMask
    shade: NDArray[np.float32]


def shoe_collar(
    photo: NDArray[np.float32],
    labels: NDArray[np.uint8],
    leg: Limb,
    *,
    cloth: BoolMask,
    seen: BoolMask,
    bare: BarePart,
    skin: NDArray[np.float32],
    unit: float,
) -> ShoeCollar | None:
    """Continue a shoe up to its opening; None where that is seen, or where there is no shoe.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        leg: The leg in the photo.
        cloth: ``(height, width)``, the old garment that hid the opening.
        seen: ``(height, width)``, skin of legs that the photo shows.
        bare: The same leg, as it is drawn.
        skin: ``(height, width, 3)``, its skin.
        unit: Shoulder width in pixels.
    """
    opening = shoe_opening(labels, leg, unit)
    if opening is None or _slants(leg) or _is_seen(opening, seen, unit):
        return None
    row, high, below = round(opening[2]), max(3, round(HIGH * unit)), max(4, round(LEARNT * unit))
    cut = _cut_edge(labels, cloth, opening, unit)
    top = row - high
    if cut is None or top < high or row + 3 * below >= len(labels):
        return None
    left, right, edge = cut
    ankle = np.flatnonzero(bare.on[top, max(0, left - high) : right + high]) + max(0, left - high)
    if not len(ankle):
        return None
    stand_off = max(1, round(STAND_OFF * unit))
    first, last = int(ankle[0]) - stand_off, int(ankle[-1]) + stand_off
    turn = turn_of_shoe(labels, (first + last) / 2.0, max((last - first) / 2.0, 1.0), row, unit)
    left, right = own_cut((left, right, edge), (first, last), turn, row, unit)
    ground, (left, right) = heel_of_shoe(photo, labels, (left, right), turn, row=row, unit=unit)
    begin, end = max(0, min(left, first) - high), min(labels.shape[1], max(right, last) + high)
    window = (slice(max(0, row - round((MOST_HIDDEN + CUT_WITHIN) * unit)), row + 3 * below), slice(begin, end))
    edge = edge[begin:end] - window[0].start
    strip = strip_below_hem(photo[window], labels[window], edge, below, unit)
    if strip.sum() < LEAST_STRIP or like_skin(photo[window][strip], skin[window][bare.on[window]]):
        return None
    at = (first - begin, last - begin, top - window[0].start)
    between = left - begin, right - begin
    line, level, far = rim_of_shoe(edge, between, at, turn, ground=ground - window[0].start, unit=unit)
    columns = np.arange(end - begin)
    outside = (columns < left - begin) | (columns > right - begin)
    shoe = np.argmax(labels[window] == Label.FEET, axis=0) + CUT
    # Behind the cut a heel may come up less high than its middle.
    heel = HEEL * unit
    level = np.where(outside | (shoe > level + heel), level, np.maximum(level, shoe)).astype(np.float32)
    lines = line, level, far
    beside = outside & (np.arange(window[0].stop - window[0].start)[:, None] > level)
    colour, over, lining, cover = _drawn(photo[window], strip, lines, at, turn=turn, unit=unit)
    # What is seen of the shoe stays, but for the rim that is mixed with the hem.
    cover[eroded(labels[window] == Label.FEET, CUT + 1)] = 0.0
    cover = np.maximum(cover, line_of_hem(photo[window], labels[window] == Label.FEET, colour, edge, unit) * ~outside)
    above = np.maximum(line - np.arange(len(colour), dtype=np.float32)[:, None], 0.0)
    shade = 1.0 - CAST * np.exp(-above / max(CAST_REACH * unit, 1.0))
    return ShoeCollar(window, colour, over, lining, cover, beside, np.where(above > 0.0, shade, 1.0).astype(np.float32))


def _slants(leg: Limb) -> bool:
    """Whether a shin is held aside: its shoe stands on its heel or its edge, and is cut off aslant."""
    knee, ankle = leg.points(np.array([leg.bend, 1.0], np.float32))
    return bool(ankle[1] - knee[1] < LEAST_UPRIGHT * np.linalg.norm(ankle - knee))


def _is_seen(opening: tuple[float, float, float], seen: BoolMask, unit: float) -> bool:
    """Whether the photo shows an ankle going into a shoe."""
    left, right, row = (round(value) for value in opening)
    reach = round(CUT_WITHIN * unit)
    near = seen[max(0, row - reach) : row + reach, max(0, left - reach // 2) : right + reach // 2]
    return bool(near.sum() > LEAST_ANKLE * unit * unit)


def _cut_edge(
    labels: NDArray[np.uint8], cloth: BoolMask, opening: tuple[float, float, float], unit: float
) -> tuple[int, int, NDArray[np.float32]] | None:
    """Along which columns a hem cut a shoe off, first and last, and the row of that cut in every column of the picture.

    None where no hem lies on the shoe.

    Args:
        labels: ``(height, width)`` of `Label`.
        cloth: ``(height, width)``, the old garment.
        opening: Left and right end and row of the shoe's upper edge.
        unit: Shoulder width in pixels.
    """
    reach, row = round(CUT_WITHIN * unit), round(opening[2])
    begin, end = max(0, round(opening[0]) - reach), min(labels.shape[1], round(opening[1]) + reach)
    rows = slice(max(0, row - reach), row + reach)
    shoe = labels[rows, begin:end] == Label.FEET
    tops = np.argmax(shoe, axis=0) + rows.start
    above = np.maximum(tops - np.arange(1, HIDDEN_BY + 1)[:, None], 0)
    met = shoe.any(axis=0) & cloth[above, np.arange(begin, end)].any(axis=0)
    # Laces and eyelets leave gaps.
    numbered, _ = ndimage.label(ndimage.binary_closing(np.pad(met, reach), iterations=max(1, reach // 4))[reach:-reach])
    within = slice(round(opening[0]) - begin, max(round(opening[1]) - begin, round(opening[0]) - begin + 1))
    most = int(np.bincount(numbered[within], minlength=1)[1:].argmax()) + 1 if numbered[within].any() else 0
    if not most or met[within].mean() < MOSTLY:
        return None
    columns = _without_steps(np.flatnonzero(numbered == most), tops, within, max(2.0, JUMP * unit))
    known = columns[met[columns]]
    level = ndimage.median_filter(tops[known].astype(np.float64), 5, mode="nearest")
    edge = np.interp(np.arange(labels.shape[1]), known + begin, level).astype(np.float32)
    return int(columns[0]) + begin, int(columns[-1]) + begin, edge


def own_cut(
    cut: tuple[int, int, NDArray[np.float32]], ankle: tuple[int, int], turn: float, row: int, unit: float
) -> tuple[int, int]:
    """First and last column of what of a cut edge is this shoe's: beyond lies another one, or a shadow.

    Args:
        cut: First and last column, and the row in every column of the picture.
        ankle: First and last column of the ankle.
        turn: How far the shoe is seen from the side; its tip lies to the left where it is negative.
        row: Of the opening.
        unit: Shoulder width in pixels.
    """
    left, right, edge = cut
    left = max(left, ankle[0] - round((BESIDE_ANKLE - MORE_AT_TIP * turn) * unit))
    right = min(right, ankle[1] + round((BESIDE_ANKLE + MORE_AT_TIP * turn) * unit))
    middle = round(sum(ankle) / 2)
    # A hem does not hang down to the ground beside the ankle.
    low = np.flatnonzero(edge > row + LOWEST_CUT * unit)
    left = max(left, int(low[low < middle].max(initial=-1)) + 1)
    right = min(right, int(low[low > middle].min(initial=len(edge))) - 1)
    return left, right


def _without_steps(
    columns: NDArray[np.int64], tops: NDArray[np.int64], within: slice, step: float
) -> NDArray[np.int64]:
    """The columns around the opening up to the first step of the edge: beyond it lies another shoe."""
    breaks = np.abs(np.diff(ndimage.median_filter(tops[columns], 5, mode="nearest"))) > step
    part = np.concatenate([[0], np.cumsum(breaks)])
    inside = part[(columns >= within.start) & (columns < within.stop)]
    return columns[part == np.bincount(inside).argmax()] if len(inside) else columns


def _drawn(
    photo: NDArray[np.float32],
    strip: BoolMask,
    lines: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]],
    ankle: tuple[int, int, int],
    *,
    turn: float,
    unit: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Colour of the continued shoe in its window, what of it lies over the ankle, its inside, and its cover."""
    (first, last, _), (line, level, far) = ankle, lines
    drawn = np.flatnonzero(line < level)
    outer = (drawn[0], drawn[-1]) if len(drawn) else (first, last)
    rows, columns = np.arange(len(photo), dtype=np.float32)[:, None], np.arange(len(line), dtype=np.float32)
    depth, within = rows - line, (columns >= outer[0]) & (columns <= outer[1])
    over, lining = (
        np.clip((rows - rim) / np.hypot(1.0, np.gradient(rim)) + 0.5, 0.0, 1.0) * within for rim in (line, far)
    )
    width = max(ROUND_WIDTH * unit, 1.0)
    ends = (np.exp(-np.maximum(from_end, 0.0) / width) for from_end in (columns - outer[0], outer[1] - columns))
    # The instep of a shoe seen from the side does not turn away.
    shade = 1.0 - ROUND * sum(end * min(1.0, 1.0 + tip * turn) for end, tip in zip(ends, (1.0, -1.0), strict=True))
    shade = shade * (1.0 - LINING * np.exp(-np.maximum(depth, 0.0) / max(LINING_WIDTH * unit, 0.8)))
    bound = (depth - BINDING * unit) / max(LINING_WIDTH * unit, 0.8)
    shade = shade * (1.0 - BOUND * np.exp(-(bound**2))) * np.where((depth < -0.5) & (rows > far), INSIDE, 1.0)
    colour = colours_going_on(photo, strip, unit) * shade[..., None]
    over, lining, inside = (
        np.asarray(cv2.GaussianBlur(part.astype(np.float32), (0, 0), 0.7), np.float32)
        for part in (over, lining, rows < level)
    )
    return np.clip(colour, 0.0, 1.0).astype(np.float32), over, lining, np.maximum(over, lining) * inside
