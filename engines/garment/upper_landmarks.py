"""The landmarks of a flat garment for the upper body, or of the upper part of a dress.

The network says where the landmarks are; here they are laid on the garment's outline and made the same on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import EngineError
from engines.garment.cloth import Cloth
from engines.garment.curves import Polyline, resampled, smoothed
from engines.garment.measuring import HOW_TO_BE_LAID, measuring
from engines.garment.neckline import inside_of_back
from engines.garment.network import Part, Point, Seen
from engines.regions import BoolMask, largest

LEAST_SYMMETRY = 0.62
"""Below this overlap of the two halves the cut-out is not a garment seen from the front."""

LEAST_HEIGHT = 40
"""Smallest garment that can be measured, canvas pixels."""

SNAPPED = 0.04
"""How far a landmark is moved to the outline at most, as a share of the garment's longer side."""

AGREED = 0.15
"""Distance of the two sides' landmarks, in widths of the chest, up to which they are averaged; beyond, the surer one
speaks for both."""

SHORTEST_SLEEVE, LEAST_SLEEVE = 0.12, 0.012
"""In widths of the chest, and as a share of the garment's area; less is the bulge of an armhole."""

LONGER = 1.33
"""Ratio of the two sleeves' lengths from which one is folded or cut off, and the other one serves twice."""

FLAT, HOOD_SHARE = 0.02, 0.10
"""Rise of a collar over the shoulder up to which it lies flat, in widths of the neck; and the share of the garment's
height from which what rises there is a hood."""

SHORTEST_SEAM = 0.003
"""From the neck to the tip of a shoulder, in chest widths: cloth hangs by it. Of 96 garments of three sets the thinnest
strap has 0.006."""

WIDE_HEM = 0.6
"""Share of the torso's typical width that the row of its hem has at least: corners and tails reach lower."""

POINTS = 25
"""Points per edge of a sleeve, from the seam to the cuff."""

SIDES = (-1, 1)
"""Left and right in the picture."""

Spot = NDArray[np.float64]
"""(offset from the axis, row)."""


@dataclass(frozen=True)
class Frame:
    """The garment's measures that all rules are relative to, pixels of the canvas.

    Attributes:
        top: First row with cloth.
        height: Rows from the first to the last with cloth.
        width: Width from armpit to armpit.
    """

    top: int
    height: int
    width: float


@dataclass(frozen=True)
class Armpits:
    """The armpit of both sides: its distance from the axis and its row, pixels."""

    offset: float
    row: float


@dataclass(frozen=True)
class Shoulders:
    """The top of the garment, the same on both sides.

    Attributes:
        tip: Outer end of the shoulder seam, or of the strap.
        neck_top: Highest point beside the neck opening.
        neck_foot: Where the collar, hood or neckband stands on the shoulder seam; this point is laid on the body.
        hood: Whether what rises above the foot is a hood.
        top: ``(n,)`` first row with cloth per offset, both halves averaged.
    """

    tip: Spot
    neck_top: Spot
    neck_foot: Spot
    hood: bool
    top: NDArray[np.float64]

    @property
    def stands(self) -> bool:
        """Whether a collar stands up from the shoulder; a neckband lies flat on it."""
        return float(self.neck_foot[1] - self.neck_top[1]) > FLAT * 2 * float(self.neck_top[0])


@dataclass(frozen=True)
class Sleeve:
    """A sleeve on the canvas.

    Attributes:
        upper: ``(POINTS, 2)`` from the shoulder tip to the outer corner of the cuff.
        lower: ``(POINTS, 2)`` from the armpit to the inner corner of the cuff.
        side: On which side of the canvas it lies, -1 left or 1 right.
    """

    upper: Polyline
    lower: Polyline
    side: int

    @property
    def length(self) -> float:
        """Straight distance from the middle of the seam to the middle of the cuff, pixels."""
        middle = (self.upper + self.lower) / 2
        return float(np.linalg.norm(middle[-1] - middle[0]))

    @property
    def half_widths(self) -> Polyline:
        """``(POINTS,)`` half the distance between the edges, pixels."""
        return np.asarray(np.linalg.norm(self.upper - self.lower, axis=1) / 2)


@dataclass(frozen=True)
class UpperLandmarks:
    """Landmarks of an upper-body garment, in pixels of the cloth's canvas.

    Attributes:
        axis: x of the mirror axis.
        symmetry: How well the halves match, 0 to 1.
        frame: Top, height and width.
        armpits: Where the sleeves begin, or armholes end.
        shoulders: Tips, neck and collar, as offsets from the axis.
        hem: Row of the hem.
        half_widths: ``(2, h)`` distance from the axis to the torso's edge, left and right in the picture; above the
            armpit it is the straight line to the shoulder tip.
        sleeves: Which sleeve to use left and right in the picture, or None for a sleeveless garment.
        torso_part: ``(h, w)`` bool.
        sleeve_parts: ``(2, h, w)`` bool.
        back: ``(h, w)`` bool, the inside of the back seen through the neck opening.
    """

    axis: float
    symmetry: float
    frame: Frame
    armpits: Armpits
    shoulders: Shoulders
    hem: float
    half_widths: NDArray[np.float64]
    sleeves: tuple[Sleeve, Sleeve] | None
    torso_part: BoolMask
    sleeve_parts: BoolMask
    back: BoolMask

    @property
    def length(self) -> float:
        """From the foot of the collar to the hem, pixels."""
        return float(self.hem - self.shoulders.neck_foot[1])

    @property
    def chest(self) -> float:
        """Width from armpit to armpit, pixels."""
        return 2 * self.armpits.offset

    def point(self, side: int, half_point: Spot) -> NDArray[np.float64]:
        """Turn (offset, row) into (x, y) on the given side, -1 or 1."""
        return np.array([self.axis + side * half_point[0], half_point[1]])


@measuring
def find_upper_landmarks(cloth: Cloth) -> UpperLandmarks:
    """Measure a garment for the upper body, or the upper part of one for the whole.

    Raises:
        EngineError: ``garment_not_recognised`` when the picture does not show such a garment.
    """
    seen, mask = cloth.shown, cloth.alpha > 0.5
    rows = np.flatnonzero(mask.any(axis=1))
    if len(rows) < LEAST_HEIGHT:
        raise EngineError("garment_not_recognised", "The cut-out is too small to be a garment.")
    outline = outline_of(mask)
    reach = SNAPPED * float(np.ptp(outline, axis=0).max())
    pairs = {
        name: [snapped(seen.points[Point[f"{name}_{side}"]], outline, reach) for side in ("LEFT", "RIGHT")]
        for name in ("NECK", "SHOULDER", "ARMPIT")
    }
    axis = float(np.mean([np.mean([place[0] for place in pair]) for pair in pairs.values()]))
    symmetry = symmetry_about(mask, axis)
    if symmetry < LEAST_SYMMETRY:
        raise EngineError("garment_not_recognised", "The two sides differ too much.", advice=HOW_TO_BE_LAID)
    chest = float(pairs["ARMPIT"][1][0] - pairs["ARMPIT"][0][0])
    foot, tip, armpit = (_same_on_both(pairs[name], axis, chest) for name in ("NECK", "SHOULDER", "ARMPIT"))
    frame = Frame(int(rows[0]), int(rows[-1] - rows[0]), 2 * float(armpit[0]))
    armpits = Armpits(float(armpit[0]), float(armpit[1]))
    if tip[0] - foot[0] < SHORTEST_SEAM * frame.width or armpit[1] <= tip[1]:
        raise EngineError("garment_not_recognised", "It has no shoulders.", advice=HOW_TO_BE_LAID)
    parts = seen.parts(*mask.shape)
    torso, sleeve_parts = _parted(mask, parts, axis, tip, armpit)
    sleeves = _sleeves(seen, sleeve_parts, axis, tip, armpit)
    if sleeves is None:
        torso, sleeve_parts = mask, np.zeros_like(sleeve_parts)
    halves = half_masks(torso, axis)
    reaches = np.stack([outermost(half) for half in halves])
    wide = np.flatnonzero(reaches.sum(axis=0) > WIDE_HEM * frame.width)
    hem = float(wide[-1]) if len(wide) else float(rows[-1])
    edges = np.stack([_torso_edge(each, armpits, tip, hem, frame.height) for each in reaches])
    shoulders = _shoulders(half_masks(mask, axis), tip, foot, frame)
    back = np.zeros_like(mask) if cloth.worn else inside_of_back(cloth, axis, shoulders, armpits.row)
    return UpperLandmarks(axis, symmetry, frame, armpits, shoulders, hem, edges, sleeves, torso, sleeve_parts, back)


def outline_of(mask: BoolMask) -> Polyline:
    """``(n, 2)`` pixels of all outlines of a mask."""
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    return np.concatenate(contours)[:, 0].astype(np.float64)


def snapped(place: NDArray[np.float32], outline: Polyline, reach: float) -> Spot:
    """The nearest place of an outline, where one is within reach; else the place itself."""
    away = np.hypot(*(outline - place).T)
    nearest = int(away.argmin())
    return outline[nearest] if away[nearest] <= reach else place.astype(np.float64)


def _same_on_both(pair: list[Spot], axis: float, chest: float) -> Spot:
    """One (offset, row) for both sides; where they disagree, that of the side that lies higher: the other is folded."""
    left, right = (np.array([side * (place[0] - axis), place[1]]) for side, place in zip(SIDES, pair, strict=True))
    if np.abs(left - right).max() < AGREED * chest:
        return np.asarray((left + right) / 2)
    return left if left[1] < right[1] else right


def _parted(
    mask: BoolMask, parts: NDArray[np.uint8], axis: float, tip: Spot, armpit: Spot
) -> tuple[BoolMask, BoolMask]:
    """Torso and both sleeves: divided at the straight seam from tip to armpit, and below it by the network's parts."""
    rows = np.arange(mask.shape[0])[:, None]
    seam = np.interp(rows, [tip[1], armpit[1]], [tip[0], armpit[0]])
    sleeves = []
    for side, part in zip(SIDES, (Part.LEFT_SLEEVE, Part.RIGHT_SLEEVE), strict=True):
        offset = side * (np.arange(mask.shape[1])[None] - axis)
        beyond = np.where(rows < armpit[1], offset > seam + 1, (parts == part) & (offset > 0))
        named = np.count_nonzero(mask & (parts == part))
        sleeves.append(largest(mask & beyond) if named > LEAST_SLEEVE * mask.sum() else np.zeros_like(mask))
    return mask & ~np.logical_or(*sleeves), np.stack(sleeves)


def _sleeves(seen: Seen, parts: BoolMask, axis: float, tip: Spot, armpit: Spot) -> tuple[Sleeve, Sleeve] | None:
    """The sleeves to use for both sides; where one is missing or much shorter, the other one serves twice."""
    traced = []
    for side, part, name in zip(SIDES, parts, ("LEFT", "RIGHT"), strict=True):
        corners = [Point[f"CUFF_{name}_{end}"] for end in ("OUTER", "INNER")]
        if not part.any():
            continue
        ends = [np.array([axis + side * place[0], place[1]]) for place in (tip, armpit)]
        sleeve = _traced(part, ends, [seen.points[corner].astype(np.float64) for corner in corners], side)
        if sleeve is not None and sleeve.length > SHORTEST_SLEEVE * 2 * armpit[0]:
            traced.append(sleeve)
    if not traced:
        return None
    shorter, longer = min(traced, key=lambda each: each.length), max(traced, key=lambda each: each.length)
    if longer.length > LONGER * shorter.length or len(traced) == 1:
        return longer, longer
    return traced[0], traced[1]


def _traced(part: BoolMask, seam: list[Spot], cuff: list[Spot], side: int) -> Sleeve | None:
    """A sleeve's two edges along its outline, from the ends of its seam to the corners of its cuff."""
    contours, _ = cv2.findContours(part.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    contour = max(contours, key=len)[:, 0].astype(np.float64)
    tip, armpit, outer, inner = (int(np.hypot(*(contour - place).T).argmin()) for place in (*seam, *cuff))
    upper, lower = _path(contour, tip, outer, avoid=armpit), _path(contour, armpit, inner, avoid=tip)
    if len(upper) < 3:
        return None
    if len(lower) < 2 or len(lower) > 1.5 * len(upper):
        lower = contour[[armpit, inner]]
    edges = (np.concatenate([end[None], edge]) for end, edge in zip(seam, (upper, lower), strict=True))
    first, second = (smoothed(resampled(edge, POINTS), 1.2) for edge in edges)
    return Sleeve(first, second, side)


def _path(contour: Polyline, start: int, end: int, avoid: int) -> Polyline:
    """The stretch of a closed contour from one index to another that does not pass a third."""
    count = len(contour)
    forward = np.arange(start, start + (end - start) % count + 1) % count
    backward = np.arange(start, start - (start - end) % count - 1, -1) % count
    return contour[backward if avoid in forward else forward]


def _torso_edge(
    reach: NDArray[np.float64], armpits: Armpits, tip: Spot, hem: float, height: int
) -> NDArray[np.float64]:
    """Distance of the torso's edge from the axis in every row of one side."""
    rows = np.arange(len(reach), dtype=float)
    edge = np.interp(rows, rows[reach > 0], reach[reach > 0])
    # The last rows of a slanting or curved hem hold only a part of its width.
    last_whole = int(np.clip(hem - 0.02 * height, 0, len(edge) - 1))
    edge = np.where(rows > last_whole, edge[last_whole], edge)
    edge = np.where(rows < armpits.row, np.interp(rows, [tip[1], armpits.row], [tip[0], armpits.offset]), edge)
    edge = np.where(rows < tip[1], tip[0], edge)
    smooth = ndimage.gaussian_filter1d(ndimage.median_filter(edge, 9), 0.008 * height)
    return np.asarray(np.maximum(smooth, 1.0), np.float64)


def _shoulders(halves: BoolMask, tip: Spot, foot: Spot, frame: Frame) -> Shoulders:
    """The top of the garment from its landmarks and the upper edge of its silhouette, ``(2, h, n)`` halves of it."""
    tops = np.where(halves.any(axis=1), halves.argmax(axis=1), halves.shape[1]).astype(float)
    highest = np.min(tops[:, : max(int(1.1 * foot[0]), 1)], axis=0)
    neck = np.array([float(highest.argmin()), float(highest.min())])
    hood = bool(foot[1] - neck[1] > HOOD_SHARE * frame.height)
    if not hood:
        beside = np.mean(tops, axis=0)[int(0.5 * foot[0]) : max(int(1.1 * foot[0]), 1)]
        neck = np.array([int(0.5 * foot[0]) + float(beside.argmin()), float(beside.min())])
    neck = neck if neck[1] < foot[1] else foot
    on_both = tops.max(axis=0) < halves.shape[1]
    top = np.where(on_both & (not hood), tops.mean(axis=0), tops.min(axis=0))
    return Shoulders(tip, neck, foot, hood, top)


def symmetry_about(mask: BoolMask, axis: float) -> float:
    """Intersection over union of a mask with its mirror image about the upright line ``x = axis``, 0 to 1."""
    left, right = half_masks(mask, axis)
    return float((left & right).sum() / max((left | right).sum(), 1))


def half_masks(mask: BoolMask, axis: float) -> BoolMask:
    """Both halves of a mask as seen from the axis outwards.

    Args:
        mask: ``(h, w)`` bool.
        axis: x of the mirror axis.

    Returns:
        ``(2, h, n)`` bool: first what lies left of the axis in the picture, then what lies right of it; column
        ``k`` is ``k`` pixels away from the axis. Columns beyond the canvas are false.
    """
    width = mask.shape[1]
    offsets = np.arange(int(max(axis, width - axis)) + 2)
    halves = []
    for side in SIDES:
        columns = np.rint(axis + side * offsets).astype(int)
        half = mask[:, np.clip(columns, 0, width - 1)].copy()
        half[:, (columns < 0) | (columns >= width)] = False
        halves.append(half)
    return np.stack(halves)


def outermost(half: BoolMask) -> NDArray[np.float64]:
    """Offset of the outermost cloth in each row of a half mask, 0 where the row is empty."""
    columns = half.shape[1]
    return np.where(half.any(axis=1), columns - 1 - half[:, ::-1].argmax(axis=1), 0).astype(float)
