"""Straps of a garment on its picture are loops; of these a person shows the strand that runs down the front."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.cloth import Cloth
from engines.garment.regions import BoolMask, dilated

WIDEST, LEAST_LENGTH = 0.19, 1.0
"""Widest that the two strands of a strap lie apart, outer edges measured, over the width of the garment; and how much
longer than that a strap is at least."""

LIKE_GROUND, UNLIKE_GROUND = 0.4, 0.12
"""Distance of a colour from the ground's, over the cloth's own, below which ground shows through a strap; and the least
distance of the cloth's, of 1, for this to be told."""

PARTED = 0.25
"""Share of a strap's rows in which its strands lie apart, from which it has two."""

LEAST_GAP = 0.15
"""Gap between two strands over their outer width; a narrower one is a sliver that is filled."""

NARROW = 0.07
"""Width over that of the garment up to which light specks in a strap are ground between two strands; in what is wider
they may be its print."""

GAP_END, LEVEL = 0.2, 0.1
"""Share of the height of a gap that counts as its lower end, and the slope up to which that is level."""

FOOT, LEAST_HOLLOW = 2.0, 1.0
"""Rows below a gap within which its back strand joins the garment's edge, over the width of both strands; and how far,
in canvas pixels, that corner lies inside a straight edge at least."""

FRONT_INSIDE = 2
"""How far inside the front strand's edge it is surely cloth, canvas pixels."""

LEFT, RIGHT = -1, 1


@dataclass(frozen=True)
class _Strap:
    """The rows of one strap, and the first and last column of cloth in each."""

    rows: NDArray[np.intp]
    first: NDArray[np.intp]
    last: NDArray[np.intp]


def without_back_strands(cloth: Cloth) -> Cloth:
    """The cloth with one strand per strap, the one in front, and without the ground that shows between two.

    Args:
        cloth: Cut out of a picture of the garment alone; its colours go on over the ground.
    """
    mask = cloth.alpha > 0.5
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return cloth
    middle, width = int(columns[0] + columns[-1]) // 2, float(np.median(mask[rows].sum(axis=1)))
    straps = {side: _strap(mask, middle, side, WIDEST * width) for side in (LEFT, RIGHT)}
    found = {side: strap for side, strap in straps.items() if strap is not None}
    if not found:
        return cloth
    until = min(max(int(strap.rows[-1]) for strap in found.values()) + int(WIDEST * width), len(mask))
    upper = _without_in(Cloth(cloth.colour[:until], cloth.alpha[:until]), found, width)
    return Cloth(
        np.concatenate([upper.colour, cloth.colour[until:]]), np.concatenate([upper.alpha, cloth.alpha[until:]])
    )


def _without_in(cloth: Cloth, straps: dict[int, _Strap], width: float) -> Cloth:
    """The same for the rows that hold the straps.

    Args:
        cloth: The upper rows.
        straps: By side.
        width: Of the garment, canvas pixels.
    """
    mask, ground = cloth.alpha > 0.5, cloth.alpha[::4, ::4] < 0.01
    if not ground.any():
        return cloth
    away = np.abs(cloth.colour - np.median(cloth.colour[::4, ::4][ground], axis=0)).sum(axis=2)
    colour, taken = cloth.colour, np.zeros_like(mask)
    for side, strap in straps.items():
        inside = np.zeros_like(mask)
        for row, first, last in zip(strap.rows, strap.first, strap.last, strict=True):
            inside[row, first : last + 1] = True
        usual = float(np.median(away[inside & mask]))
        if usual < UNLIKE_GROUND:
            continue
        open_ = inside & (~mask | (away < LIKE_GROUND * usual))
        taken |= _back_strand(mask, open_, strap, side)
        narrow = inside & _rows_of(mask.shape, strap.rows[strap.last - strap.first < NARROW * width])
        near_ground = dilated(open_ & narrow, 2)
        colour = _filled(colour, inside & mask & ~near_ground, near_ground & narrow)
    kept = cv2.GaussianBlur((~taken).astype(np.float32), (0, 0), 0.8)
    return Cloth(colour, np.minimum(cloth.alpha, np.where(taken, 0.0, kept)).astype(np.float32))


def _rows_of(shape: tuple[int, ...], rows: NDArray[np.intp]) -> BoolMask:
    """``(h, 1)`` bool, the given rows."""
    on = np.zeros((shape[0], 1), dtype=bool)
    on[rows] = True
    return on


def _strap(mask: BoolMask, middle: int, side: int, widest: float) -> _Strap | None:
    """The rows from the top of one half of the garment in which it is no wider than a strap."""
    half = mask[:, middle:] if side == RIGHT else mask[:, :middle]
    begin = 0 if side == LEFT else middle
    rows = np.flatnonzero(half.any(axis=1))
    if not len(rows):
        return None
    first = begin + half[rows].argmax(axis=1)
    last = begin + half.shape[1] - 1 - half[rows][:, ::-1].argmax(axis=1)
    wide = np.flatnonzero(last - first >= widest)
    count = int(wide[0]) if len(wide) else 0
    if count < LEAST_LENGTH * widest:
        return None
    return _Strap(rows[:count], first[:count], last[:count])


def _back_strand(mask: BoolMask, open_: BoolMask, strap: _Strap, side: int) -> BoolMask:
    """``(h, w)`` what of a strap belongs to the strand that runs down the back; nothing where it has one strand."""
    taken = np.zeros_like(mask)
    columns = np.arange(mask.shape[1])
    between = open_[strap.rows] & (columns > strap.first[:, None] + 1) & (columns < strap.last[:, None] - 1)
    parted = between.sum(axis=1) > LEAST_GAP * (strap.last - strap.first)
    if parted.mean() < PARTED:
        return taken
    gap = np.where(parted[:, None], between, False)
    slope = _slope_below(gap)
    # The garment's edge between two strands rises towards its corner, and on that the front one stands.
    front = RIGHT if slope < -LEVEL else LEFT if slope > LEVEL else -side
    lowest = int(np.flatnonzero(parted)[-1])
    far = strap.last if front == RIGHT else strap.first
    near = (
        np.where(gap, columns, -1).max(axis=1)
        if front == RIGHT
        else mask.shape[1] - np.where(gap, mask.shape[1] - columns, -1).max(axis=1)
    )
    usual = int(np.median(np.abs(far - near)[parted]))
    for index in range(lowest + 1):
        row, width = int(strap.rows[index]), usual
        if parted[index]:
            width = int(abs(far[index] - near[index]))
        inner = (far[index] - columns) * front
        taken[row] = (inner >= width) & (columns >= strap.first[index] - 3) & (columns <= strap.last[index] + 3)
    inside, width = int(near[lowest]) + FRONT_INSIDE * front, int(strap.last[lowest] - strap.first[lowest])
    _cut_foot(mask, taken, (int(strap.rows[lowest]), inside), front, round(FOOT * width))
    return taken


def _cut_foot(mask: BoolMask, taken: BoolMask, below: tuple[int, int], front: int, height: int) -> None:
    """Add the foot of a back strand, from the lower end of the gap to where it joins the garment's edge, to ``taken``.

    Args:
        mask: ``(h, w)``, the garment.
        taken: ``(h, w)``, changed.
        below: Row of the lower end of the gap, and a column of the front strand there.
        front: On which side of the gap that is.
        height: Rows below the gap in which the strand joins the edge.
    """
    first, inside = below
    outwards = mask[first : first + height, max(inside - height, 0) : inside + 1][:, ::-1]
    if front == LEFT:
        outwards = mask[first : first + height, inside : inside + height + 1]
    away = np.arange(outwards.shape[1])
    edge = np.where(outwards, away, 0).max(axis=1).astype(np.float64)
    gap = ~outwards & (away < edge[:, None])
    if not gap.any():
        return
    lowest = int(np.flatnonzero(gap.any(axis=1))[-1])
    # The strand's own edge and the garment's meet in a corner that points inwards.
    below_gap = edge[lowest:]
    hollow = np.linspace(below_gap[0], below_gap[-1], len(below_gap)) - below_gap
    joint = int(hollow.argmax())
    if hollow[joint] < LEAST_HOLLOW:
        return
    # Beside the gap all of the strand goes, and below it what stands out over a line to that corner.
    begin = float(away[gap[lowest]].mean())
    kept = np.concatenate([np.full(lowest, begin), np.linspace(begin, below_gap[joint], joint + 1)])
    foot = (away >= kept[:, None]) & (away <= edge[: len(kept), None] + 3)
    rows, columns = np.nonzero(foot)
    taken[first + rows, inside - front * columns] = True


def _slope_below(gap: BoolMask) -> float:
    """Rows per column by which the lower end of a gap falls towards the right."""
    columns = np.flatnonzero(gap.any(axis=0))
    bottoms = gap.shape[0] - 1 - gap[::-1, columns].argmax(axis=0)
    low = bottoms > bottoms.max() - GAP_END * gap.any(axis=1).sum()
    return float(np.polyfit(columns[low], bottoms[low], 1)[0]) if low.sum() > 3 else 0.0


def _filled(colour: NDArray[np.float32], sure: BoolMask, spoilt: BoolMask) -> NDArray[np.float32]:
    """The colours with those of the spoilt pixels taken from the sure ones around."""
    if not spoilt.any() or not sure.any():
        return colour
    weight = cv2.GaussianBlur(sure.astype(np.float32), (0, 0), 4.0)[..., None]
    around = cv2.GaussianBlur(colour * sure[..., None], (0, 0), 4.0) / np.maximum(weight, 1e-4)
    change = spoilt[..., None] & (weight > 1e-3)
    return np.where(change, around, colour).astype(np.float32)
