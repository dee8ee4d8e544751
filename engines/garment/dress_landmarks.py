"""Everything the draper has to know about dresses and jumpsuits lying flat.

A dress is measured as a top that goes on: the rows down to the waist are an upper-body garment, the rest hangs.
The rules for its armpits are its own, since the flare of a skirt looks to others like the gap under a sleeve.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import EngineError
from engines.garment.armpits import Armpits, Frame, Sleeves
from engines.garment.cloth import Cloth
from engines.garment.edges import Edge, continued, hem_corner
from engines.garment.measuring import HOW_TO_BE_LAID, measuring
from engines.garment.neckline import inner_back
from engines.garment.notch import find_notch
from engines.garment.regions import BoolMask, closed, largest, reaching
from engines.garment.shoulders import find_shoulders
from engines.garment.sleeves import Sleeve, matched_pair, trace_sleeve
from engines.garment.symmetry import half_masks, mirror_axis, outermost
from engines.garment.upper_landmarks import LEAST_SYMMETRY, SHORTEST_SLEEVE, UpperLandmarks
from engines.garment_kinds import GarmentKind

SIDES = (-1, 1)

LEAST_HEIGHT = 80
"""Smallest garment that can be measured, canvas pixels."""

TOP_PER_CHEST = 1.6
"""Shoulder to hip over the width of the chest: how much of a dress is measured like a top."""

SLEEVE_STARTS, SLEEVE_ENDS = 0.35, 0.62
"""A column beside the torso belongs to a sleeve when its cloth begins and ends above these shares of the height."""

DEEPEST_ARMPIT, USUAL_ARMPIT = 0.26, 0.17
"""An armpit further below the shoulder tip than the first share of the height is moved to the second."""

BELOW_ARMPIT = 6
"""Canvas pixels below the armpit at which the sides begin."""

FULL_WIDTH = 0.94
"""A sleeveless armhole ends where the cloth has this share of the greatest width near the top."""

SOUGHT = 0.45
"""The waist lies within this share of armpit to hem."""

WAIST_BEGINS, WELL_BELOW = 0.03, 0.06
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

JUMPSUIT_KINDS = frozenset({GarmentKind.JUMPSUIT, GarmentKind.ROMPER, GarmentKind.DUNGAREES})
"""Have legs, however short."""

DRESS_KINDS = frozenset({GarmentKind.DRESS, GarmentKind.ABAYA, GarmentKind.SAREE, GarmentKind.LEHENGA})
"""Have none, whatever slit they have."""

LEAST_LEG = 0.25
"""Legs of a jumpsuit, as a share of its height, where the caller did not say that it is one."""


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
        sides: First row in which the sides are those of torso and skirt, and the last one left and right, where the
            rounding of the hem begins.
    """

    upper: UpperLandmarks
    left: Edge
    right: Edge
    waist: int | None
    bottom: int
    crotch: tuple[float, float] | None
    sides: tuple[int, int, int]


@measuring
def find_dress_landmarks(cloth: Cloth, kind: GarmentKind | None = None) -> DressLandmarks:
    """Measure a full-body garment.

    Args:
        cloth: Cut out of its photo.
        kind: As the caller named it; decides between dress and jumpsuit where it is known to be one.

    Raises:
        EngineError: ``garment_not_recognised`` when the silhouette is not that of such a garment.
    """
    mask = largest(cloth.alpha > 0.5, 0.3)
    filled = np.flatnonzero(mask.sum(axis=1) > 2)
    if len(filled) < LEAST_HEIGHT:
        raise EngineError("garment_not_recognised", "The cut-out is too small to be a garment.")
    top, bottom = int(filled[0]), int(filled[-1])
    _, symmetry = mirror_axis(mask)
    if symmetry < LEAST_SYMMETRY:
        raise EngineError("garment_not_recognised", "The two sides differ too much.", advice=HOW_TO_BE_LAID)
    axis = _torso_axis(mask, top, bottom - top)
    halves = half_masks(closed(mask, 4), axis)
    found = [_sleeve_columns(half, top, bottom - top) for half in halves]
    armpits = _armpits(halves, found, top, bottom - top)
    frame = Frame(top, int(min(bottom - top, 2.0 * TOP_PER_CHEST * armpits.offset)), 2.0 * armpits.offset)
    shoulders = find_shoulders(halves, armpits, frame)
    parts = np.stack(
        [
            _sleeve_part(mask, columns, side, axis=axis, tip=shoulders.tip, armpits=armpits)
            for columns, side in zip(found, SIDES, strict=True)
        ]
    )
    parts, torso = _parted(mask, parts)
    sleeves = None if cloth.sleeveless else _sleeves(parts, axis, shoulders.tip, armpits)
    if sleeves is None:
        parts, torso = np.zeros_like(parts), mask
        armpits = Armpits(Sleeves.NONE, armpits.offset, armpits.row)
    traced = [_side_edge(torso, axis, side, int(armpits.row), bottom) for side in SIDES]
    edges, corners = [edge for edge, _ in traced], [corner for _, corner in traced]
    upper = UpperLandmarks(
        axis=axis,
        symmetry=symmetry,
        frame=frame,
        armpits=armpits,
        shoulders=shoulders,
        hem=float(top + frame.height),
        half_widths=np.stack(
            [_half_width(side * (edge - axis), armpits, shoulders.tip) for edge, side in zip(edges, SIDES, strict=True)]
        ),
        sleeves=sleeves,
        torso_part=torso,
        sleeve_parts=parts,
        back=_inside_of_back(cloth, shoulders.neck_top, axis, frame.width),
    )
    waist = _find_waist(edges[1] - edges[0], int(armpits.row), bottom)
    sides = (int(armpits.row) + BELOW_ARMPIT, corners[0], corners[1])
    return DressLandmarks(upper, edges[0], edges[1], waist, bottom, _crotch(mask, axis, top, bottom, kind), sides)


def _inside_of_back(cloth: Cloth, neck_top: NDArray[np.float64], axis: float, chest: float) -> BoolMask:
    """The inside of the back above the front neckline."""
    if cloth.worn:
        return np.zeros(cloth.alpha.shape, dtype=bool)
    offset, row = float(neck_top[0]), float(neck_top[1])
    return inner_back(cloth, np.array([axis - offset, row]), np.array([axis + offset, row]), chest)


def _torso_axis(mask: BoolMask, top: int, height: int) -> float:
    """The middle of the columns that are cloth throughout the rows of chest and waist."""
    share = mask[top + int(0.30 * height) : top + int(0.55 * height)].mean(axis=0)
    columns = np.flatnonzero(share > 0.95)
    return float(columns.mean()) if len(columns) else float(np.flatnonzero(mask.any(axis=0)).mean())


@dataclass(frozen=True)
class _SleeveColumns:
    """Columns of one half mask in which a sleeve lies: their offsets, and the last row of the sleeve in each."""

    offsets: NDArray[np.int64]
    ends: NDArray[np.int64]
    armpit: tuple[float, float]


def _sleeve_columns(half: BoolMask, top: int, height: int) -> _SleeveColumns | None:
    """Columns beside the torso whose first run of cloth begins and ends high up."""
    upright = np.ones((int(0.03 * height) | 1, 1), np.uint8)
    padded = np.pad(half, ((len(upright), len(upright)), (0, 0))).astype(np.uint8)
    # Runs shorter than the bar are no cloth, gaps shorter than it no gaps.
    smooth = cv2.morphologyEx(cv2.morphologyEx(padded, cv2.MORPH_CLOSE, upright), cv2.MORPH_OPEN, upright)
    cloth = smooth[len(upright) : -len(upright)] > 0
    begin = np.where(cloth.any(axis=0), cloth.argmax(axis=0), cloth.shape[0])
    after = np.arange(cloth.shape[0])[:, None] > begin
    ended = ~cloth & after
    end = np.where(ended.any(axis=0), ended.argmax(axis=0), cloth.shape[0]) - 1
    core = half[top + int(0.30 * height) : top + int(0.55 * height)].mean(axis=0) > 0.95
    torso = int(np.argmin(core)) if not core.all() else len(core)
    candidate = (begin < top + SLEEVE_STARTS * height) & (end < top + SLEEVE_ENDS * height)
    candidate &= (end - begin > 0.03 * height) & (np.arange(len(begin)) > 0.6 * torso)
    offsets = np.flatnonzero(candidate)
    if len(offsets) < 0.04 * height or (end - begin)[offsets].sum() < 0.024 * half.sum():
        return None
    innermost = offsets[: max(4, len(offsets) // 4)]
    corner = int(innermost[np.argmin(end[innermost])])
    tip_row = float(begin[max(0, round(0.94 * corner))])
    row = float(end[corner])
    if row - tip_row > DEEPEST_ARMPIT * height:
        row = tip_row + USUAL_ARMPIT * height
    return _SleeveColumns(offsets, end[offsets], (float(corner), row))


def _armpits(halves: BoolMask, found: list[_SleeveColumns | None], top: int, height: int) -> Armpits:
    """One armpit for both sides, from the sleeves that were found or from the armholes."""
    corners = [np.array(columns.armpit) for columns in found if columns is not None]
    if corners:
        corner = np.mean(corners, axis=0)
        if np.ptp(corners, axis=0).max() > 0.10 * height:
            corner = min(corners, key=lambda point: abs(float(point[1]) - (top + 0.25 * height)))
        return Armpits(Sleeves.OPEN, float(corner[0]), float(corner[1]))
    points = []
    for half in halves:
        profile = outermost(half)
        upper = profile[top : top + int(0.28 * height)]
        row = int(np.argmax(upper >= FULL_WIDTH * upper.max()))
        shoulders = half[top : top + int(0.05 * height)].any(axis=0)
        reach = np.flatnonzero(shoulders)
        wide = len(reach) > 0 and reach.max() > 0.72 * upper.max() and shoulders[: int(0.5 * upper.max())].mean() > 0.3
        row = max(row, int((0.14 if wide else 0.06) * height))
        points.append((profile[top + row], top + row))
    offset, row_mean = np.mean(points, axis=0)
    return Armpits(Sleeves.NONE, float(offset), float(row_mean))


def _sleeve_part(
    mask: BoolMask,
    columns: _SleeveColumns | None,
    side: int,
    *,
    axis: float,
    tip: NDArray[np.float64],
    armpits: Armpits,
) -> BoolMask:
    """The cloth outside the line from shoulder tip to armpit that belongs to a sleeve."""
    if columns is None:
        return np.zeros(mask.shape, bool)
    rows = np.arange(mask.shape[0])[:, None]
    offset = (np.arange(mask.shape[1])[None] - axis) * side
    line = np.interp(rows, [tip[1], armpits.row], [tip[0], armpits.offset])
    # Columns too short to count, at its outer rim, end with their neighbours.
    last = np.interp(offset[0], columns.offsets, columns.ends, left=armpits.row)
    part = mask & (offset > line + 1) & (rows <= last[None])
    return largest(part) if part.any() else part


def _parted(mask: BoolMask, parts: BoolMask) -> tuple[BoolMask, BoolMask]:
    """Both sleeves with the scraps of cloth that hang on nothing else, and the torso without them."""
    if not parts.any():
        return parts, mask
    rest = mask & ~parts.any(axis=0)
    scraps = rest & ~largest(rest)
    whole = np.stack([reaching(part | scraps, part, connectivity=8) for part in parts])
    return whole, mask & ~whole.any(axis=0)


def _sleeves(parts: BoolMask, axis: float, tip: NDArray[np.float64], armpits: Armpits) -> tuple[Sleeve, Sleeve] | None:
    traced = []
    for part, side in zip(parts, SIDES, strict=True):
        at_tip = np.array([axis + side * tip[0], tip[1]])
        at_armpit = np.array([axis + side * armpits.offset, armpits.row])
        traced.append(trace_sleeve(part, at_tip, at_armpit, side))
    return matched_pair(traced[0], traced[1], 2.0 * SHORTEST_SLEEVE * armpits.offset)


def _side_edge(torso: BoolMask, axis: float, side: int, armpit: int, bottom: int) -> tuple[Edge, int]:
    """The x of a side edge from the armpit to the hem, continued straight beyond both; its last row."""
    half = half_masks(torso, axis)[0 if side < 0 else 1]
    reach = outermost(half)
    line = np.where(reach > 0, axis + side * reach, np.nan)
    begin, corner = armpit + BELOW_ARMPIT, hem_corner(line, side, armpit, bottom)
    return continued(line, begin, corner), corner


def _half_width(reach: Edge, armpits: Armpits, tip: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance of the torso's edge from the axis in every row; above the armpit the line to the shoulder tip."""
    rows = np.arange(len(reach))
    armpit_reach = float(reach[min(int(armpits.row) + 6, len(reach) - 1)])
    armhole = np.interp(rows, [tip[1], armpits.row], [tip[0], armpit_reach])
    edge = np.where(rows < armpits.row, armhole, reach)
    return np.asarray(np.maximum(ndimage.gaussian_filter1d(edge, 3.0), 1.0), dtype=np.float64)


def _crotch(mask: BoolMask, axis: float, top: int, bottom: int, kind: GarmentKind | None) -> tuple[float, float] | None:
    """The crotch of a jumpsuit; a slit or a gathered hem is none."""
    if kind in DRESS_KINDS:
        return None
    stated = kind in JUMPSUIT_KINDS
    width = float(np.percentile(mask[top : bottom + 1].sum(axis=1), 95))
    notch = find_notch(mask, top, bottom, axis, width)
    deep_enough = notch is not None and (stated or bottom - notch[1] > LEAST_LEG * (bottom - top))
    return notch if deep_enough else None


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
    # A straight bodice is nowhere narrower than elsewhere. Bites would be kinks.
    bites = max(int(TALLEST_BITE * (bottom - armpit)), 1)
    whole = ndimage.gaussian_filter1d(ndimage.grey_closing(widths, (bites,))[rows], SMOOTHED)
    inside = np.linspace(whole[0], whole[-1], len(whole)) - whole
    kink = int(np.argmax(inside))
    return begin + kink if inside[kink] > CLEAR_KINK * widths[begin] else None
