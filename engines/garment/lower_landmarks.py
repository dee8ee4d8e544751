"""The landmarks of trousers, shorts and skirts lying flat."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from engines.base import EngineError
from engines.garment.cloth import Cloth
from engines.garment.edges import Edge, continued, hem_corner, row_edges
from engines.garment.leg_hem import LegHem, leg_hem
from engines.garment.measuring import measuring
from engines.garment.network import Point
from engines.garment.upper_landmarks import SNAPPED, outline_of, snapped
from engines.garment_kinds import GarmentKind
from engines.regions import BoolMask, largest

LEFT, RIGHT = -1, 1

LEAST_HEIGHT = 40
"""Smallest garment that can be measured, canvas pixels."""

TURNS_IN, TURNED_OVER = 0.4, 6
"""How far a leg's side goes inwards from row to row where it is the rounded end of its hem, and over how many rows that
is measured."""

MOST_ROUND = 0.15
"""Share of a leg's rows that its rounded end takes at most."""

RISE_PER_WAIST = 0.66
"""Waistband to crotch over the flat waistband's width, for legs that lie on one another."""

LEAST_RISE = 0.2
"""Waistband to crotch over the garment's greatest width, at least: with less a top hides the waistband."""

SHORTEST_LEG = 0.04
"""Crotch to hem over the garment's height: nothing shorter is a leg."""

WAIST_HIDDEN = "Use a picture that shows the garment's waistband: in this one something hides it."


class LowerShape(StrEnum):
    """How a garment for the lower body hangs."""

    LEGS = "legs"
    SKIRT = "skirt"


SHAPES = {
    GarmentKind.SKIRT: LowerShape.SKIRT,
    GarmentKind.LEHENGA: LowerShape.SKIRT,
    GarmentKind.JEANS: LowerShape.LEGS,
    GarmentKind.TROUSERS: LowerShape.LEGS,
    GarmentKind.CHINOS: LowerShape.LEGS,
    GarmentKind.LEGGINGS: LowerShape.LEGS,
    GarmentKind.JOGGERS: LowerShape.LEGS,
    GarmentKind.SHORTS: LowerShape.LEGS,
}
"""Kinds that settle how a garment for the lower body hangs."""


@dataclass(frozen=True)
class LowerLandmarks:
    """Landmarks of a lower-body garment, in pixels of the cloth's canvas.

    Attributes:
        top: Row of the waistband.
        bottom: Row of the hem.
        axis: x of the waistband's middle.
        waist_width: Width of the waistband.
        left: x of the outer edge left in the picture, per row, continued beyond the garment.
        right: The same on the right.
        crotch: (x, y); the middle of the hem for a skirt.
        inseams: Per side the inner edge of the leg per row, continued; the centre line above the crotch. Empty for
            a skirt.
        divider: x of the line between the legs per row.
        hems: Per side where the leg ends. Empty for a skirt.
        shape: Legs or skirt.
    """

    top: int
    bottom: int
    axis: float
    waist_width: float
    left: Edge
    right: Edge
    crotch: tuple[float, float]
    inseams: dict[int, Edge]
    divider: Edge
    hems: dict[int, LegHem]
    shape: LowerShape

    @property
    def height(self) -> int:
        """Waistband to hem in pixels."""
        return self.bottom - self.top

    @property
    def leg_length(self) -> float:
        """Crotch to hem in pixels, the mean of both legs' edges; 0 for a skirt."""
        hem = float(np.mean([hem.ends for hem in self.hems.values()])) if self.hems else float(self.bottom)
        return hem - self.crotch[1]

    def outer(self, side: int) -> Edge:
        """Outer edge on a side."""
        return self.left if side == LEFT else self.right


@measuring
def find_lower_landmarks(cloth: Cloth, kind: GarmentKind | None = None) -> LowerLandmarks:
    """Measure a garment for the lower body.

    Args:
        cloth: Cut out of its photo.
        kind: As the caller named it; decides between legs and skirt where it is one of `SHAPES`.

    Raises:
        EngineError: ``garment_not_recognised`` when there is too little cloth to measure.
    """
    mask = largest(cloth.alpha > 0.5, 0.5)
    filled = np.flatnonzero(mask.sum(axis=1) > 3)
    if len(filled) < LEAST_HEIGHT:
        raise EngineError("garment_not_recognised", "The cut-out is too small to be a garment.")
    top, bottom = int(filled[0]), int(filled[-1])
    first, last = row_edges(mask)
    top, waist_width = _waistband(first, last, top, bottom)
    height = bottom - top
    middle = (first + last) / 2.0
    axis = float(np.nanmedian(middle[top : top + max(2, height // 10)]))
    left = continued(first, top + 2, hem_corner(first, LEFT, top, bottom))
    right = continued(last, top + 2, hem_corner(last, RIGHT, top, bottom))

    crotch = None
    stated = SHAPES.get(kind) if kind else None
    if stated is LowerShape.LEGS or (stated is None and has_legs(cloth)):
        centre = float(np.nanmedian(middle[top : bottom + 1]))
        crotch = _crotch(cloth, mask)
        if not has_legs(cloth) or crotch[1] > bottom - SHORTEST_LEG * height:
            crotch = (centre, top + min(RISE_PER_WAIST * waist_width, 0.8 * height))
        widest = float(np.nanpercentile(last[top : bottom + 1] - first[top : bottom + 1], 95))
        if crotch[1] - top < LEAST_RISE * widest:
            raise EngineError("garment_not_recognised", "Its legs part right at the upper edge.", advice=WAIST_HIDDEN)
    if crotch is None:
        end, straight = (axis, float(bottom)), np.full(len(left), axis)
        return LowerLandmarks(top, bottom, axis, waist_width, left, right, end, {}, straight, {}, LowerShape.SKIRT)
    divider = _divider(mask, crotch, bottom, 0.06 * waist_width)
    outers, inseams, hems = {}, {}, {}
    for side in (LEFT, RIGHT):
        outers[side], inseams[side] = _leg_edges(mask, divider, crotch, (axis, top, bottom), side)
        hems[side] = leg_hem(mask, outers[side], inseams[side], (int(crotch[1]), bottom))
    left, right = outers[LEFT], outers[RIGHT]
    edges = (left, right, crotch, inseams, divider)
    return LowerLandmarks(top, bottom, axis, waist_width, *edges, hems, LowerShape.LEGS)


def _waistband(first: Edge, last: Edge, top: int, bottom: int) -> tuple[int, float]:
    """First row as wide as a waistband, below buttons and loops that stick out, and that width."""
    height = bottom - top
    widths = np.nan_to_num(last - first)
    width = float(np.median(widths[top + int(0.02 * height) : top + int(0.08 * height) + 1]))
    head = widths[top : top + int(0.10 * height) + 1]
    return top + int(np.argmax(head > 0.8 * width)), width


def has_legs(cloth: Cloth) -> bool:
    """Whether a garment has two legs: the network sees where they part."""
    return bool(cloth.shown.there[Point.CROTCH] > 0.5)


def _crotch(cloth: Cloth, mask: BoolMask) -> tuple[float, float]:
    """Where the legs part: at the upper end of the ground between them where there is some near the landmark."""
    place = cloth.shown.points[Point.CROTCH]
    rows, columns = np.nonzero(mask)
    span = float(max(np.ptp(rows), np.ptp(columns)))
    x, y = snapped(place, outline_of(mask), SNAPPED * span)
    return float(x), float(y)


def _divider(mask: BoolMask, crotch: tuple[float, float], bottom: int, largest_step: float) -> Edge:
    """The line between the legs: upright from the crotch, following the gap downwards where there is one."""
    line = np.full(mask.shape[0], crotch[0])
    at = crotch[0]
    for row in range(int(crotch[1]) + 2, bottom + 1):
        columns = np.flatnonzero(mask[row])
        before = np.flatnonzero(np.diff(columns) > 1)
        if len(before):
            middles = (columns[before] + columns[before + 1]) / 2.0
            nearest = float(middles[np.argmin(np.abs(middles - at))])
            at = nearest if abs(nearest - at) < largest_step else at
        line[row] = at
    line[bottom + 1 :] = at
    return line


def _leg_edges(
    mask: BoolMask, divider: Edge, crotch: tuple[float, float], frame: tuple[float, int, int], side: int
) -> tuple[Edge, Edge]:
    """Outer edge and inseam of one leg over all rows."""
    axis, top, bottom = frame
    columns, rows = np.arange(mask.shape[1]), np.arange(mask.shape[0])
    leg = mask & ((columns[None] - divider[:, None]) * side > 0)
    below = leg.copy()
    below[: int(crotch[1])] = False
    below = largest(below, 0.99) if below.any() else below
    first, last = row_edges(np.where(rows[:, None] < crotch[1], leg, below))
    outer, inner = (first, last) if side == LEFT else (last, first)
    start = int(crotch[1]) + 4
    outer_end = _before_round_end(outer, side, hem_corner(outer, side, top, bottom), start)
    inner_end = _before_round_end(inner, -side, hem_corner(inner, -side, int(crotch[1]), bottom), start)
    outer, inner = continued(outer, top + 2, outer_end), continued(inner, start, inner_end)
    centre_line = np.interp(rows, [top, crotch[1]], [axis, crotch[0]])
    return outer, np.where(rows <= crotch[1], centre_line, inner)


def _before_round_end(edge: Edge, outward: int, corner: int, crotch: int) -> int:
    """Last row in which the side of a leg has not yet turned into the rounded end of its hem.

    Args:
        edge: x per row.
        outward: -1 where the cloth lies right of the edge, 1 where it lies left of it.
        corner: Last row that may be its side.
        crotch: Row below which it is one leg's.
    """
    last = corner - max(TURNED_OVER, round(MOST_ROUND * (corner - crotch)))
    for row in range(corner, max(last, crotch + TURNED_OVER), -1):
        if outward * (edge[row - TURNED_OVER] - edge[row]) <= TURNS_IN * TURNED_OVER:
            return row if row == corner else row - TURNED_OVER
    # All of it slants: that is its cut.
    return corner
