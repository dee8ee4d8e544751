"""Shoulder tips, neck and collar of a flat garment, read off the top of its silhouette."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.armpits import Armpits, Frame, Sleeves
from engines.garment.regions import BoolMask

FLAT = 0.02
"""Rise of a collar over the shoulder up to which it lies flat, in widths of the neck: leaves and stands are higher."""

HOOD_SHARE = 0.10
"""A collar taller than this share of the garment's height is a hood."""

STEEP = 1.5
"""Rows per column from which the silhouette inside the armpit's column is that of a hanging sleeve."""

LEVEL, MOST_LEVEL = 0.55, 1.35
"""Rows per column up to which the silhouette beyond the tip is still shoulder and not yet sleeve, and how far it is
followed, in offsets of the tip."""

SHORTEST_SEAM = 0.003
"""From the neck to the tip of a shoulder, in chest widths: cloth hangs by it. Of 96 garments of three sets the thinnest
strap has 0.006."""

SET_IN = 1.15
"""From this many offsets of the armpit on, a corner is where the sleeve is set in: its seam slants from there to the
armpit, and an upright cut would leave most of the shoulder to the sleeve."""

Point = NDArray[np.float64]
"""(offset from the axis, row)."""


@dataclass(frozen=True)
class Shoulders:
    """The top of the garment, the same on both sides.

    Attributes:
        tip: Outer end of the shoulder seam, or of the strap.
        neck_top: Highest point beside the neck opening.
        neck_sides: ``(2, 2)`` the same point measured on each side, left and right in the picture.
        neck_foot: Where the collar, hood or neckband stands on the shoulder seam; this point is laid on the body.
        corner: Offset at which the silhouette turns down into the sleeve: beyond the tip where a narrow torso leaves a
            part of the shoulder to the sleeve's side of the cut.
        hood: Whether what rises above the foot is a hood.
        top: ``(n,)`` first row with cloth per offset, both halves averaged.
    """

    tip: Point
    neck_top: Point
    neck_sides: NDArray[np.float64]
    neck_foot: Point
    corner: float
    hood: bool
    top: NDArray[np.float64]

    @property
    def stands(self) -> bool:
        """Whether a collar stands up from the shoulder; a neckband lies flat on it."""
        return float(self.neck_foot[1] - self.neck_top[1]) > FLAT * 2 * float(self.neck_top[0])


def _top_line(half: BoolMask) -> NDArray[np.float64]:
    """First row with cloth in each column; the height of the array where there is none."""
    return np.asarray(np.where(half.any(axis=0), half.argmax(axis=0), half.shape[0]), dtype=float)


def _tip(half: BoolMask, top: NDArray[np.float64], armpits: Armpits, frame: Frame) -> Point:
    if armpits.sleeves is not Sleeves.NONE:
        offset = int(np.clip(armpits.offset, 8, len(top) - 1))
        # A wide torso's armpit may lie below the hanging sleeve: the shoulder ends further in.
        smooth, step, least = ndimage.gaussian_filter1d(top, 2), max(3, int(0.03 * frame.width)), int(0.8 * offset)
        hanging = smooth[min(offset + step, len(top) - 1)] - smooth[offset] > STEEP * step
        while hanging and offset > least and smooth[offset] - smooth[offset - step] > STEEP * step:
            offset -= 1
    else:
        strap_rows = half[frame.top : max(int(frame.top + 0.3 * (armpits.row - frame.top)), frame.top + 8) + 1]
        columns = np.flatnonzero(strap_rows.any(axis=0))
        offset = max(int(columns.max()) - 2 if len(columns) else int(0.3 * frame.width), 8)
    return np.array([offset, top[offset]])


def _neck_top(top: NDArray[np.float64], tip: Point, frame: Frame) -> Point:
    """The point that rises farthest above the chord from the tip to the middle of the neckline."""
    offsets = np.arange(int(tip[0]) + 1)
    heights = top[: len(offsets)]
    chord = np.array([0.0, top[0]]) - tip
    normal = np.array([chord[1], -chord[0]]) / max(float(np.linalg.norm(chord)), 1e-6)
    if normal[1] > 0:
        normal = -normal
    rise = (offsets - tip[0]) * normal[0] + (heights - tip[1]) * normal[1]
    rise[offsets < 0.10 * frame.width] = -np.inf
    best = int(np.argmax(rise))
    return np.array([offsets[best], heights[best]], dtype=float)


def _neck_foot(top: NDArray[np.float64], tip: Point, neck_top: Point, frame: Frame) -> Point:
    """Walk outwards from the neck while the silhouette falls steeply: collars and hoods do, shoulders do not."""
    if neck_top[0] >= 0.78 * tip[0]:
        return neck_top
    smooth = ndimage.gaussian_filter1d(top, 2)
    step = max(3, int(0.03 * frame.width))
    start, end = int(neck_top[0]), int(tip[0]) - step
    offset = start
    for candidate in range(start, end):
        if candidate - offset > 2 * step:  # a rounded corner may be flat for a few pixels, a shoulder is for many
            break
        if (smooth[candidate + step] - smooth[candidate]) / step > 0.75:
            offset = candidate + 1
    if smooth[offset] - neck_top[1] <= 0.02 * frame.height:
        return neck_top
    return np.array([offset, smooth[offset]])


def _corner(tops: list[NDArray[np.float64]], tip: Point, frame: Frame) -> float:
    """Walk outwards from the tip while the silhouette is as level as a shoulder, on the side where it ends sooner."""
    step = max(3, int(0.03 * frame.width))
    found = []
    for top in tops:
        smooth = ndimage.gaussian_filter1d(top, 2)
        offset, last = int(tip[0]), min(int(MOST_LEVEL * tip[0]), len(top) - 1) - step
        while offset < last and smooth[offset + step] - smooth[offset] < LEVEL * step:
            offset += 1
        found.append(offset)
    return float(max(min(found), tip[0]))


def find_shoulders(halves: BoolMask, armpits: Armpits, frame: Frame) -> Shoulders:
    """Measure the top of the garment.

    Args:
        halves: ``(2, h, n)`` from `half_masks`.
        armpits: From `find_armpits`.
        frame: The garment's measures.

    Raises:
        ValueError: There is nothing between neck and shoulder.
    """
    tops = [_top_line(half) for half in halves]
    tips = [_tip(half, top, armpits, frame) for half, top in zip(halves, tops, strict=True)]
    necks = [_neck_top(top, tip, frame) for top, tip in zip(tops, tips, strict=True)]
    tip, neck_top = _merged(tips, frame), _merged(necks, frame)
    feet = [neck_top, neck_top]
    if armpits.sleeves is not Sleeves.NONE:
        feet = [_neck_foot(top, tip, neck, frame) for top, neck in zip(tops, necks, strict=True)]
    neck_foot = _merged(feet, frame)
    corner = float(tip[0]) if armpits.sleeves is Sleeves.NONE else _corner(tops, tip, frame)
    if corner > SET_IN * tip[0]:
        tip = np.array([corner, float(np.mean([top[int(corner)] for top in tops]))])
    if tip[0] - neck_foot[0] < SHORTEST_SEAM * frame.width:
        raise ValueError("the shoulders have no seam")
    hood = bool(neck_foot[1] - neck_top[1] > HOOD_SHARE * frame.height)
    on_both = np.maximum(*tops) < halves.shape[1]
    top = np.where(on_both & (not hood), np.mean(tops, axis=0), np.minimum(*tops))
    return Shoulders(tip, neck_top, np.stack(necks), neck_foot, corner, hood, top)


def _merged(points: list[Point], frame: Frame) -> Point:
    """The mean of both sides; where they disagree, the side that lies higher (the other one is folded over)."""
    left, right = points
    if np.abs(left - right).max() < 0.15 * frame.width:
        return np.asarray((left + right) / 2)
    return left if left[1] < right[1] else right
