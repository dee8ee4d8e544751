"""A garment's picture with its wearer stood up straight: people lean, and put their weight on one leg.

All measures of a garment are taken from both sides of an upright axis, as of one that lies flat.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Landmark, PersonMap, Picture
from engines.garment.armpits import Frame
from engines.garment.regions import BoolMask, window_of
from engines.garment.symmetry import mirror_axis

SHOULDERS = (Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER)
HIPS = (Landmark.LEFT_HIP, Landmark.RIGHT_HIP)

JOINT_SEEN = 0.5
"""Visibility from which a joint is taken as the pose model gives it."""

LEAST_LEAN = 0.02
"""Rise per width, or drift per height, below which a wearer is straight enough and the picture is left as it is."""

MOST_LEAN = 0.35
"""Rise per width, and drift per height, up to which a wearer is straightened; beyond, joints are not to be trusted."""

LEAST_TORSO = 0.6
"""Height from hips to shoulders, in shoulder widths, from which the lean can be told: less belongs to somebody bent."""

SHARES = (0.0, 0.5, 1.0)
"""Parts of the lean that are tried, of rise and drift each: joints say which way, the outline says how much."""

DRIFTS = (-0.18, -0.12, -0.06, 0.06, 0.12, 0.18)
"""Drifts that are tried besides: in somebody turned a little aside, neck and hem are out of line and the joints not."""

RISES = (-0.12, -0.06, 0.06, 0.12)
"""Rises of shoulders and hips alike that are tried last: joints lie under the cloth, and are found a little off."""

LEAST_OPENING = 0.03
"""Depth of a neck opening whose place can be told, as a share of the garment's height."""

MUCH_ASIDE = 0.04
"""How far aside a neck opening may lie, in torso widths, without the garment being out of line."""

LEAST_GAIN = 0.01
"""By how much straighter the outline must become."""

TRIED_HEIGHT = 96
"""Rows of the garment on which that is measured."""


@dataclass(frozen=True)
class Lean:
    """How somebody leans, in pixels of a picture.

    Attributes:
        pivot: (x, y) between the shoulders.
        hip_row: y between the hips.
        shoulder_rise: Rows per column from one shoulder to the other.
        hip_rise: The same of the hips.
        drift: Columns per row from the shoulders to the hips.
    """

    pivot: tuple[float, float]
    hip_row: float
    shoulder_rise: float
    hip_rise: float
    drift: float

    def part(self, share: float, drift: float) -> Lean:
        """A share of the rises, 0 to 1, and another drift."""
        return Lean(self.pivot, self.hip_row, share * self.shoulder_rise, share * self.hip_rise, drift)

    def risen(self, rise: float) -> Lean:
        """With shoulders and hips that rise by so much more."""
        return Lean(self.pivot, self.hip_row, self.shoulder_rise + rise, self.hip_rise + rise, self.drift)

    def scaled(self, factor: float) -> Lean:
        """The same in a picture of another size."""
        pivot = (factor * self.pivot[0], factor * self.pivot[1])
        return Lean(pivot, factor * self.hip_row, self.shoulder_rise, self.hip_rise, self.drift)

    def undone(self, plane: NDArray[np.uint8], interpolation: int) -> NDArray[np.uint8]:
        """Shift rows and columns of ``(h, w)`` or ``(h, w, 3)`` so that shoulders and hips are level and in line."""
        rows, columns = (np.arange(size, dtype=np.float32) for size in plane.shape[:2])
        rise = np.interp(rows, [self.pivot[1], self.hip_row], [self.shoulder_rise, self.hip_rise]).astype(np.float32)
        x = columns[None] + np.float32(self.drift) * (rows[:, None] - np.float32(self.pivot[1]))
        y = rows[:, None] + rise[:, None] * (columns[None] - np.float32(self.pivot[0]))
        border = cv2.BORDER_REPLICATE if plane.ndim == 3 else cv2.BORDER_CONSTANT
        return np.asarray(cv2.remap(plane, x, y, interpolation, borderMode=border, borderValue=0), np.uint8)


def straightened(
    picture: Picture, labels: NDArray[np.uint8], cloth: BoolMask, lean: Lean | None
) -> tuple[Picture, NDArray[np.uint8]]:
    """Straighten a wearer by so much of the lean as makes the two halves of the garment most alike.

    Args:
        picture: ``(height, width, 3)`` uint8 sRGB.
        labels: ``(height, width)``, what it shows.
        cloth: ``(height, width)`` bool, the garment; not empty.
        lean: From `lean_of`.

    Returns:
        The picture, and its labels likewise; both as they are where nothing is gained.
    """
    if lean is None:
        return picture, labels
    rows, _ = window_of(cloth)
    factor = min(1.0, TRIED_HEIGHT / (rows.stop - rows.start))
    size = (round(cloth.shape[1] * factor), round(cloth.shape[0] * factor))
    small = np.asarray(cv2.resize(cloth.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST), np.uint8)
    drifts = [share * lean.drift for share in SHARES] + [*DRIFTS]
    tried = [lean.part(*each) for each in product(SHARES, drifts)]
    best, straight = _straightest(tried, small, factor)
    best, straightest = _straightest([best, *(best.risen(rise) for rise in RISES)], small, factor)
    if max(straight, straightest) < _straightness(small > 0) + LEAST_GAIN:
        return picture, labels
    return best.undone(picture, cv2.INTER_CUBIC), best.undone(labels, cv2.INTER_NEAREST)


def lean_of(person_map: PersonMap) -> Lean | None:
    """How somebody leans; None for who stands straight, is bent, or whose shoulders and hips are not all seen."""
    joints = person_map.landmarks[list(SHOULDERS + HIPS)]
    if joints[:, 3].min() < JOINT_SEEN:
        return None
    top, bottom = joints[:2, :2].mean(axis=0), joints[2:, :2].mean(axis=0)
    height, width = float(bottom[1] - top[1]), abs(float(joints[1, 0] - joints[0, 0]))
    if height < LEAST_TORSO * width:
        return None
    drift = float(bottom[0] - top[0]) / height
    leans = [_rise(joints[1, :2] - joints[0, :2]), _rise(joints[3, :2] - joints[2, :2]), drift]
    if max(abs(lean) for lean in leans) < LEAST_LEAN:
        return None
    shoulder_rise, hip_rise, drift = (float(np.clip(lean, -MOST_LEAN, MOST_LEAN)) for lean in leans)
    return Lean((float(top[0]), float(top[1])), float(bottom[1]), shoulder_rise, hip_rise, drift)


def _straightest(leans: list[Lean], cloth: NDArray[np.uint8], factor: float) -> tuple[Lean, float]:
    """The lean that leaves the garment straightest when it is undone, and how straight that is."""
    straight = [_straightness(lean.scaled(factor).undone(cloth, cv2.INTER_NEAREST) > 0) for lean in leans]
    best = int(np.argmax(straight))
    return leans[best], straight[best]


def _straightness(mask: BoolMask) -> float:
    """How much alike the two halves of a garment are, 0 to 1, less how far its neck opening lies aside."""
    mask = mask[window_of(mask, 2)]
    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return 0.0
    axis, alike = mirror_axis(mask, reduction=1)
    top, height = int(rows[0]), int(rows[-1] - rows[0])
    width = float(np.median(mask[top + height // 2 :].sum(axis=1)[: max(height // 3, 1)]))
    aside = neck_aside(mask, axis, Frame(top, height, width)) if width > 0 else 0.0
    return alike - max(aside - MUCH_ASIDE, 0.0)


def _rise(way: NDArray[np.float32]) -> float:
    """Rows per column along a way."""
    return float(way[1] / way[0]) if abs(float(way[0])) > 1.0 else float(np.sign(way[1])) * MOST_LEAN


def neck_aside(mask: BoolMask, axis: float, frame: Frame) -> float:
    """How far the middle of the neck opening lies beside the garment's axis, in torso widths; 0 without an opening.

    Args:
        mask: ``(h, w)`` bool.
        axis: x of the mirror axis.
        frame: The garment's measures.
    """
    first = max(int(axis - frame.width / 2), 0)
    part = mask[:, first : int(axis + frame.width / 2) + 1]
    top = np.where(part.any(axis=0), part.argmax(axis=0), frame.top + frame.height).astype(float)
    brim = np.maximum(np.minimum.accumulate(top), np.minimum.accumulate(top[::-1])[::-1])
    depth = top - brim
    if depth.max(initial=0.0) < LEAST_OPENING * frame.height:
        return 0.0
    middle = first + float((depth * np.arange(len(depth))).sum() / depth.sum())
    return abs(middle - axis) / frame.width
