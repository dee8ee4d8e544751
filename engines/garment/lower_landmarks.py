"""Everything the draper has to know about trousers, shorts and skirts lying flat."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from engines.base import EngineError
from engines.garment.cloth import Cloth
from engines.garment.edges import Edge, continued, hem_corner, row_edges
from engines.garment.notch import find_notch, find_slanting_gap
from engines.garment.regions import BoolMask, largest
from engines.garment_kinds import GarmentKind

LEFT, RIGHT = -1, 1

LEAST_HEIGHT = 40
"""Smallest garment that can be measured, canvas pixels."""

HEM_MARGIN, LEAST_HEM = 0.12, 8
"""A leg's hem is measured without this share of its width at either end, on at least so many columns."""

DEEPEST_HEM, MOST_FITTED = 0.25, 1.2
"""How much lower the middle of a hem is than its ends at most, and the difference of its rows up to which that can be
told from a slant, in hem widths."""

ROUNDED_ENDS = 0.5
"""Height over the lowest row of a hem up to which its ends may be rounded, in hem widths."""

CLEAN_HEM, MOST_CUT = 0.95, 0.06
"""Share of a hem above which all is whole cloth, and by how much it is shortened for that at most, in hem widths."""

RISE_PER_WAIST = 0.66
"""Waistband to crotch over the flat waistband's width, for legs that lie on one another."""

LEAST_RISE, MOST_RISE = 0.2, 1.4
"""Waistband to crotch over the garment's greatest width. With less than the first a top hides the waistband; with more
than the second, what looks like a crotch is a slit, or where two legs come apart that lie on one another."""

SLANTS = 0.006
"""By how much farther up the gap between the legs reaches than straight ground does, in the garment's height, where it
slants and its upper end is the crotch."""

WAIST_HIDDEN = "Use a picture that shows the garment's waistband: in this one something hides it."
WHICH_SHAPE = "Say with the hint garmentCategory whether these are trousers or a skirt: the picture does not show it."


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
        hems: Per side the row of the hem at the outer edge of the leg and at the inseam, of the straight line through
            it; whole cloth ends there. Empty for a skirt.
        hem_depths: Per side how much lower the hem is in its middle than at both ends, pixels; see `hem_curve`.
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
    hems: dict[int, tuple[float, float]]
    hem_depths: dict[int, float]
    shape: LowerShape

    @property
    def height(self) -> int:
        """Waistband to hem in pixels."""
        return self.bottom - self.top

    @property
    def leg_length(self) -> float:
        """Crotch to hem in pixels, the mean of both legs' edges; 0 for a skirt."""
        hem = float(np.mean([*self.hems.values()])) if self.hems else float(self.bottom)
        return hem - self.crotch[1]

    def outer(self, side: int) -> Edge:
        """Outer edge on a side."""
        return self.left if side == LEFT else self.right


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

    stated = SHAPES.get(kind) if kind else None
    crotch = None
    if stated is not LowerShape.SKIRT:
        centre = float(np.nanmedian(middle[top : bottom + 1]))
        widest = float(np.nanpercentile(last[top : bottom + 1] - first[top : bottom + 1], 95))
        crotch = _crotch(mask, (top, bottom), centre, widest, stated=stated)
        if crotch is None and stated is LowerShape.LEGS:
            crotch = (centre, top + min(RISE_PER_WAIST * waist_width, 0.8 * height))
    if crotch is None:
        end, straight = (axis, float(bottom)), np.full(len(left), axis)
        return LowerLandmarks(top, bottom, axis, waist_width, left, right, end, {}, straight, {}, {}, LowerShape.SKIRT)
    divider = _divider(mask, crotch, bottom, 0.06 * waist_width)
    outers, inseams, hems, depths = {}, {}, {}, {}
    for side in (LEFT, RIGHT):
        outers[side], inseams[side] = _leg_edges(mask, divider, crotch, (axis, top, bottom), side)
        hems[side], depths[side] = _hem(mask, outers[side], inseams[side], (int(crotch[1]), bottom))
    left, right = outers[LEFT], outers[RIGHT]
    edges = (left, right, crotch, inseams, divider)
    return LowerLandmarks(top, bottom, axis, waist_width, *edges, hems, depths, LowerShape.LEGS)


def _waistband(first: Edge, last: Edge, top: int, bottom: int) -> tuple[int, float]:
    """First row as wide as a waistband, below buttons and loops that stick out, and that width."""
    height = bottom - top
    widths = np.nan_to_num(last - first)
    width = float(np.median(widths[top + int(0.02 * height) : top + int(0.08 * height) + 1]))
    head = widths[top : top + int(0.10 * height) + 1]
    return top + int(np.argmax(head > 0.8 * width)), width


def _crotch(
    mask: BoolMask, rows: tuple[int, int], centre: float, widest: float, *, stated: LowerShape | None
) -> tuple[float, float] | None:
    """Where the legs part; None where nothing shows that there are two.

    Args:
        mask: ``(h, w)`` bool.
        rows: First and last row of the garment.
        centre: x of its middle.
        widest: Its greatest width, pixels.
        stated: What the caller says that it is.

    Raises:
        EngineError: ``garment_not_recognised`` for legs without a waistband, and for what may be a skirt with a slit as
            well as legs that lie on one another.
    """
    top, bottom = rows
    notch = find_notch(mask, top, bottom, centre, widest)
    gap = find_slanting_gap(mask, top, bottom, centre, widest)
    if gap is not None and (notch is None or notch[1] - gap[1] > SLANTS * (bottom - top)):
        notch = gap
    if notch is None:
        return None
    if notch[1] - top < LEAST_RISE * widest:
        raise EngineError("garment_not_recognised", "Its legs part right at the upper edge.", advice=WAIST_HIDDEN)
    if notch[1] - top <= MOST_RISE * widest:
        return notch
    if stated is None:
        raise EngineError("garment_not_recognised", "Its legs part too far down.", advice=WHICH_SHAPE)
    return None


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
    outer = continued(outer, top + 2, hem_corner(outer, side, top, bottom))
    start = int(crotch[1]) + 4
    inner = continued(inner, start, hem_corner(inner, -side, int(crotch[1]), bottom))
    centre_line = np.interp(rows, [top, crotch[1]], [axis, crotch[0]])
    return outer, np.where(rows <= crotch[1], centre_line, inner)


def hem_curve(share: Edge) -> Edge:
    """Course of a hem round a leg, about the straight line through it: lower by 1 in the middle than at the ends.

    Args:
        share: Way from one edge of the leg to the other, 0 to 1.
    """
    return np.asarray(4.0 * share * (1.0 - share) - 2.0 / 3.0, np.float64)


def _hem(mask: BoolMask, outer: Edge, inner: Edge, rows: tuple[int, int]) -> tuple[tuple[float, float], float]:
    """Rows of a leg's hem at its outer edge and at its inseam, and how much lower its middle is.

    A straight line and `hem_curve` are fitted to the hem between both edges, and moved up until no fray, rounded corner
    or dent of the hem is left below.

    Args:
        mask: ``(h, w)`` bool.
        outer: x of the outer edge per row.
        inner: x of the inseam per row.
        rows: Row of the crotch, last row of the garment.
    """
    crotch, bottom = rows
    # Further down the edges may already follow the rounded ends of the hem.
    above = max(crotch, round(bottom - ROUNDED_ENDS * abs(float(outer[bottom] - inner[bottom]))))
    begin, end = sorted((float(outer[above]), float(inner[above])))
    margin = HEM_MARGIN * (end - begin)
    columns = np.arange(max(0, int(begin + margin)), min(mask.shape[1], int(end - margin) + 1))
    leg = mask[crotch : bottom + 1, columns] if len(columns) else np.zeros((1, 0), bool)
    columns, leg = columns[leg.any(axis=0)], leg[:, leg.any(axis=0)]
    if len(columns) < LEAST_HEM:
        return (float(bottom), float(bottom)), 0.0
    seen = bottom - leg[::-1].argmax(axis=0)
    share = (columns - begin) / (end - begin)
    parts = np.stack([np.ones(len(share)), share, hem_curve(share)], axis=1)
    parts = parts if (seen.max() - seen.min()) < MOST_FITTED * (end - begin) else parts[:, :2]
    fitted, *_ = np.linalg.lstsq(parts, seen.astype(np.float64), rcond=None)
    depth = float(np.clip(fitted[2], 0.0, DEEPEST_HEM * (end - begin))) if len(fitted) > 2 else 0.0
    over = parts[:, :2] @ fitted[:2] + depth * hem_curve(share) - seen
    cut = float(np.clip(np.percentile(over, 100.0 * CLEAN_HEM), 0.0, MOST_CUT * (end - begin))) + 1.0
    steepest = (bottom - crotch) / 2.0
    at_begin, at_end = fitted[0] - cut, fitted[0] + fitted[1] - cut
    at_outer, at_inner = (at_begin, at_end) if outer[above] < inner[above] else (at_end, at_begin)
    return (max(at_outer, bottom - steepest), max(at_inner, bottom - steepest)), depth
