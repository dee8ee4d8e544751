"""The landmarks of dresses and jumpsuits lying flat.

A dress is measured as a top that goes on: the rows down to the waist are an upper-body garment, the rest hangs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.edges import Edge, continued, hem_corner
from engines.garment.lower_landmarks import has_legs
from engines.garment.measuring import measuring
from engines.garment.network import Point
from engines.garment.upper_landmarks import (
    SIDES,
    Frame,
    UpperLandmarks,
    find_upper_landmarks,
    half_masks,
    outermost,
)
from engines.garment_kinds import GarmentKind
from engines.regions import BoolMask

TOP_PER_CHEST = 1.6
"""Shoulder to hip over the width of the chest: how much of a dress is measured like a top."""

BELOW_ARMPIT = 6
"""Canvas pixels below the armpit at which the sides begin."""

SOUGHT = 0.45
"""The waist lies within this share of armpit to hem."""

WAIST_BEGINS, WELL_BELOW = 0.03, 0.06
"""Shares of armpit to hem: where its widths begin, and from where a narrowest row is a waist."""

DRAWN_IN = 0.95
"""Width of a waist over that of the chest at most, where the garment is drawn in."""

CLEAR_KINK = 0.09
"""How far the sides run inside a straight line, over the width of the chest, if a skirt begins at the kink. A straight
bodice with a gathered skirt has 0.13, a dress that widens evenly from the bust 0.06."""

TALLEST_BITE = 0.09
"""Share of armpit to hem below which a dent in the sides does not count as a kink: a sleeve lay there, or a pale
print."""

SMOOTHED = 5.0
"""Blur of the widths, canvas pixels."""

JUMPSUIT_KINDS = frozenset({GarmentKind.JUMPSUIT, GarmentKind.ROMPER, GarmentKind.DUNGAREES})
"""Kinds that always have legs."""

DRESS_KINDS = frozenset({GarmentKind.DRESS, GarmentKind.ABAYA, GarmentKind.SAREE, GarmentKind.LEHENGA})
"""Kinds that never have legs, even with a slit."""


@dataclass(frozen=True)
class DressLandmarks:
    """Landmarks of a full-body garment, in pixels of the cloth's canvas.

    Attributes:
        upper: Those of its upper part, with edges and parts over all rows.
        left: x of the outer edge of torso and skirt left in the picture, per row.
        right: The same on the right.
        waist: Row of the waist, or None for a garment that is not drawn in there.
        bottom: Row of the hem.
        crotch: (x, y) for a jumpsuit, else None.
    """

    upper: UpperLandmarks
    left: Edge
    right: Edge
    waist: int | None
    bottom: int
    crotch: tuple[float, float] | None


@measuring
def find_dress_landmarks(cloth: Cloth, kind: GarmentKind | None = None) -> DressLandmarks:
    """Measure a full-body garment.

    Args:
        cloth: Cut out of its photo.
        kind: As the caller named it; decides between dress and jumpsuit where it is known to be one.

    Raises:
        EngineError: ``garment_not_recognised`` when the picture does not show such a garment.
    """
    whole = find_upper_landmarks(cloth)
    armpit, chest = int(whole.armpits.row), whole.chest
    bottom = whole.frame.top + whole.frame.height
    edges = [_side_edge(whole.torso_part, whole.axis, side, armpit, bottom) for side in SIDES]
    halves = [_half_width(side * (edge - whole.axis), whole) for edge, side in zip(edges, SIDES, strict=True)]
    height = int(min(whole.frame.height, TOP_PER_CHEST * chest))
    frame = Frame(whole.frame.top, height, chest)
    upper = replace(whole, frame=frame, hem=float(frame.top + height), half_widths=np.stack(halves))
    waist = _find_waist(edges[1] - edges[0], armpit, bottom)
    legs = kind in JUMPSUIT_KINDS or (kind not in DRESS_KINDS and has_legs(cloth))
    x, y = (float(value) for value in cloth.shown.points[Point.CROTCH])
    return DressLandmarks(upper, edges[0], edges[1], waist, bottom, (x, y) if legs else None)


def _side_edge(torso: BoolMask, axis: float, side: int, armpit: int, bottom: int) -> Edge:
    """The x of a side edge from the armpit to the hem, continued straight beyond both."""
    half = half_masks(torso, axis)[0 if side < 0 else 1]
    reach = outermost(half)
    line = np.where(reach > 0, axis + side * reach, np.nan)
    return continued(line, armpit + BELOW_ARMPIT, hem_corner(line, side, armpit, bottom))


def _half_width(reach: Edge, upper: UpperLandmarks) -> Edge:
    """Distance of the torso's edge from the axis in every row; above the armpit the line to the shoulder tip."""
    rows, tip, armpit = np.arange(len(reach)), upper.shoulders.tip, upper.armpits.row
    at_armpit = float(reach[min(int(armpit) + BELOW_ARMPIT, len(reach) - 1)])
    edge = np.where(rows < armpit, np.interp(rows, [tip[1], armpit], [tip[0], at_armpit]), reach)
    return np.asarray(np.maximum(ndimage.gaussian_filter1d(edge, 3.0), 1.0), dtype=np.float64)


def _find_waist(widths: Edge, armpit: int, bottom: int) -> int | None:
    """Row of the waist: where the garment is drawn in below the chest, or where its sides bend outwards to a skirt.

    Args:
        widths: ``(n,)`` per canvas row, without gaps.
        armpit: Row of the armpits.
        bottom: Row of the hem.

    Returns:
        The row, or None for a garment that widens evenly or not at all.
    """
    begin = armpit + int(WAIST_BEGINS * (bottom - armpit))
    rows = slice(begin, armpit + int(SOUGHT * (bottom - armpit)))
    sought = ndimage.gaussian_filter1d(widths[rows], SMOOTHED)
    narrowest = int(np.argmin(sought))
    if sought[narrowest] < DRAWN_IN * widths[begin] and WELL_BELOW * (bottom - armpit) < narrowest < len(sought) - 8:
        return begin + narrowest
    # A straight bodice has no narrowest row. Bites in the mask would count as kinks.
    bites = max(int(TALLEST_BITE * (bottom - armpit)), 1)
    whole = ndimage.gaussian_filter1d(ndimage.grey_closing(widths, (bites,))[rows], SMOOTHED)
    inside = np.linspace(whole[0], whole[-1], len(whole)) - whole
    kink = int(np.argmax(inside))
    return begin + kink if inside[kink] > CLEAR_KINK * widths[begin] else None
