"""Where the sleeves leave the torso, and whether there are sleeves at all.

Every rule works on the two half masks (see `symmetry.half_masks`), where a point is (offset from the axis, row).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask
from engines.garment.symmetry import half_planes, outermost

LOWEST_SHARE = 0.50
"""A real armpit lies above this share of the garment's height; a gap that starts lower begins at a resting sleeve."""

HIGHEST_SHARE, HIGHEST_WORN = 0.10, 0.22
"""And below these shares in one without sleeves; the latter where shoulders fill it, often as wide as its torso."""

USUAL_SHARE = 0.36
"""Where the armpit lies when the silhouette does not show it, as a share of the garment's height."""

INWARD_WEIGHTS = (2.0, 3.0)
"""Rows that one pixel towards the axis is worth when looking for the corner of the gap. A cap sleeve's slanting
cuff falls by up to 1.6 rows for each pixel and asks for more; a waist drawn in by more than one pixel in this many
rows would attract the corner. The second is for cuffs with a step, and tried where the first one finds no armpit."""

OUTSIDE = 1.12
"""Farthest from the axis that an armpit lies, in halves of the torso's width; what is farther out is a step
in a cuff."""


SLIT = 0.10
"""Width of the gap at its corner, in torso widths, up to which sleeve and torso meet at its upper end."""


class Sleeves(StrEnum):
    """How the sleeves lie in the photo."""

    NONE = "none"
    OPEN = "open"
    RESTING = "resting"
    """Long sleeves lying on the torso without a gap."""


@dataclass(frozen=True)
class Frame:
    """The garment's measures that all rules are relative to, pixels of the canvas.

    Attributes:
        top: First row with cloth.
        height: Rows from the first to the last with cloth.
        width: Typical width of the torso, from the rows between half and 85 % of the height.
    """

    top: int
    height: int
    width: float


@dataclass(frozen=True)
class Armpits:
    """The armpit of both sides, made symmetric.

    Attributes:
        sleeves: How the sleeves lie.
        offset: Distance from the axis, pixels.
        row: y on the canvas.
    """

    sleeves: Sleeves
    offset: float
    row: float


def _gap_corner(half: BoolMask, frame: Frame, cloth_area: int) -> NDArray[np.float64] | None:
    """The upper inner corner of the ground between sleeve and torso, as (offset, row).

    Ground counts when its column has cloth above and its row has cloth towards the axis. The corner is the pixel
    that lies farthest up and inwards (`INWARD_WEIGHTS`); the highest one alone would be the corner of a cuff.
    """
    cloth_above = np.maximum.accumulate(half, axis=0)
    cloth_inward = np.maximum.accumulate(half, axis=1)
    gap = ~half & cloth_above & cloth_inward
    gap[:, : int(0.2 * frame.width)] = False
    gap[int(frame.top + 0.92 * frame.height) :] = False
    labels, _ = ndimage.label(gap)
    best_area, corner = 0, None
    for number, window in enumerate(ndimage.find_objects(labels), start=1):
        region = labels[window] == number
        rows, columns = region.shape
        area = int(region.sum())
        too_small = columns < 0.05 * frame.width or rows < 0.07 * frame.height or area < 0.004 * cloth_area
        if too_small or area <= best_area:
            continue
        y, x = np.nonzero(region)
        for weight in INWARD_WEIGHTS:
            pick = int(np.argmin(y + weight * x))
            row, offset = np.array([window[0].start, window[1].start]) + _end_of_slit(region, (y[pick], x[pick]), frame)
            above = half[: row + int(0.12 * frame.height)]
            sticks_out = np.flatnonzero(above.any(axis=0)).max() - offset
            sleeve = sticks_out > 0.10 * frame.width and offset < OUTSIDE * frame.width / 2
            if sleeve and row < frame.top + 0.8 * frame.height:
                best_area, corner = area, np.array([offset, row], dtype=float)
                break
    return corner


def _end_of_slit(region: BoolMask, corner: tuple[int, int], frame: Frame) -> NDArray[np.int64]:
    """The row and column of a corner; in a slit, which narrows upwards, the row of its upper end."""
    row, column = corner
    beyond = np.flatnonzero(~region[row, column:])
    end = column + int(beyond[0]) if len(beyond) else region.shape[1]
    if end - column > SLIT * frame.width:
        return np.array(corner)
    top = int(np.flatnonzero(region[: row + 1, column:end].any(axis=1))[0])
    return np.array([top, column])


def _agreed(corners: list[NDArray[np.float64] | None], frame: Frame) -> NDArray[np.float64]:
    """One corner for both sides: their mean where they agree, else the likelier one."""
    found = [corner for corner in corners if corner is not None]
    if len(found) == 2 and np.abs(found[0] - found[1]).max() > 0.22 * frame.width:
        usual = frame.top + 0.3 * frame.height
        return min(found, key=lambda corner: abs(float(corner[1]) - usual))
    return np.asarray(np.mean(found, axis=0))


def _sleeves_rest(halves: BoolMask, frame: Frame, symmetry: float) -> bool:
    """Whether an outline without gaps is that of a long-sleeved garment with its sleeves laid on the torso.

    Such an outline only widens downwards from narrow shoulders, and is wide for its height.
    """
    profile = np.mean([outermost(half) for half in halves], axis=0)
    row = {share: int(frame.top + share * frame.height) for share in (0.06, 0.10, 0.20, 0.60)}
    upper = profile[row[0.06] : row[0.60]]
    waist_in = float((np.maximum.accumulate(upper) - upper).max())
    return bool(
        symmetry > 0.85
        and frame.height > 1.15 * frame.width
        and waist_in < 0.03 * frame.width
        and profile[row[0.20]] < 0.92 * profile[row[0.60]]
        and profile[row[0.10]] < 0.425 * frame.width
        and frame.width > 0.60 * frame.height
    )


def _resting_seam(cloth: Cloth, axis: float, frame: Frame) -> float:
    """Offset of the edge between a resting sleeve and the torso: the strongest upright edge of the lower half."""
    lab = to_lab(np.asarray(np.clip(cloth.colour * 255, 0, 255), dtype=np.uint8))
    lightness = cv2.GaussianBlur(np.ascontiguousarray(lab[..., 0]), (0, 0), 2)
    edges = half_planes(np.abs(cv2.Sobel(lightness, cv2.CV_32F, 1, 0)), axis).astype(np.float64).mean(axis=0)
    rows = slice(int(frame.top + 0.45 * frame.height), int(frame.top + 0.85 * frame.height))
    strength = ndimage.gaussian_filter1d(edges[rows].mean(axis=0), 3)
    first, last = int(0.30 * frame.width), int(0.44 * frame.width)
    return float(first + np.argmax(strength[first:last]))


def _sleeveless_armpit(halves: BoolMask, frame: Frame, *, worn: bool) -> NDArray[np.float64]:
    """The lower end of an armhole: the first row that has the torso's full width.

    Args:
        halves: ``(2, h, n)`` from `half_masks`.
        frame: The garment's measures.
        worn: Whether somebody's shoulders fill it.
    """
    points = []
    first = int(frame.top + HIGHEST_WORN * frame.height) if worn else 0
    for half in halves:
        upper = outermost(half)[first : int(frame.top + 0.6 * frame.height)]
        row = int(np.argmax(upper >= 0.96 * upper.max()))
        points.append([upper[row], max(first + row, frame.top + HIGHEST_SHARE * frame.height)])
    return np.asarray(np.mean(points, axis=0))


def find_armpits(cloth: Cloth, halves: BoolMask, axis: float, symmetry: float, frame: Frame) -> Armpits:
    """Decide how the sleeves lie and where the armpits are.

    Args:
        cloth: The garment; its colours are read only where the silhouette does not tell.
        halves: ``(2, h, n)`` from `half_masks`.
        axis: x of the mirror axis.
        symmetry: How well the halves match, 0 to 1.
        frame: The garment's measures.
    """
    area = int(halves.sum())
    corners = [None if cloth.sleeveless else _gap_corner(half, frame, area) for half in halves]
    if any(corner is not None for corner in corners):
        offset, row = _agreed(corners, frame)
        if row > frame.top + LOWEST_SHARE * frame.height:
            row = frame.top + USUAL_SHARE * frame.height
        return Armpits(Sleeves.OPEN, float(offset), float(row))
    if not cloth.sleeveless and _sleeves_rest(halves, frame, symmetry):
        row = frame.top + USUAL_SHARE * frame.height
        return Armpits(Sleeves.RESTING, _resting_seam(cloth, axis, frame), row)
    offset, row = _sleeveless_armpit(halves, frame, worn=cloth.worn)
    return Armpits(Sleeves.NONE, float(offset), float(row))
