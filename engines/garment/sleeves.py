"""The two long edges of a sleeve, from the shoulder seam to the cuff."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from engines.garment.curves import Polyline, resampled, smoothed
from engines.garment.regions import BoolMask, largest

POINTS = 25
"""Points per edge, from the seam to the cuff."""

LEAST_PIXELS = 200
"""Smaller scraps of cloth beside the torso are no sleeve."""

BESIDE_SEAM = 3
"""How far outside the armpit its sleeve's cloth is looked for, canvas pixels."""

CAP_REACH, CAP_HANGS = 0.45, 0.05
"""A sleeve that reaches less far from its seam than the first share of the seam's length is a cap: the points farthest
from the seam's middle are then the seam's own ends and say nothing about where the sleeve points to. One whose outer
half lies lower than the seam's middle by the second share is no cap but hangs beside the torso."""


@dataclass(frozen=True)
class Sleeve:
    """A sleeve on the canvas.

    Attributes:
        upper: ``(POINTS, 2)`` from the shoulder tip to the outer corner of the cuff.
        lower: ``(POINTS, 2)`` from the armpit, or where its gap ends above, to the inner corner of the cuff.
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


def _direction(points: Polyline, tip: Polyline, armpit: Polyline) -> Polyline:
    """Unit vector along the outer part of the sleeve, towards the cuff; straight away from the seam of a cap."""
    root = (tip + armpit) / 2
    seam = armpit - tip
    away = np.array([-seam[1], seam[0]]) / max(float(np.linalg.norm(seam)), 1e-6)
    away = away if float(((points - root) @ away).mean()) > 0 else -away
    out = (points - root) @ away
    farthest = float(np.percentile(out, 99.5))
    hanging = float(((points[out > 0.5 * farthest] - root) @ seam).mean()) > CAP_HANGS * float(seam @ seam)
    if farthest < CAP_REACH * np.linalg.norm(seam) and not hanging:
        return np.asarray(away)
    distance = np.linalg.norm(points - root, axis=1)
    reach = float(np.percentile(distance, 99.5))
    far = points[distance > np.percentile(distance, 92)].mean(axis=0)
    start = root
    half_way = points[(distance > 0.45 * reach) & (distance < 0.7 * reach)]
    if reach > 1.3 * np.linalg.norm(tip - armpit) and len(half_way) > 20:
        start = half_way.mean(axis=0)
    direction = far - start
    return np.asarray(direction / max(float(np.linalg.norm(direction)), 1e-6))


def _path(contour: Polyline, start: int, end: int, avoid: int) -> Polyline:
    """The stretch of a closed contour from one index to another that does not pass a third."""
    count = len(contour)
    forward = np.arange(start, start + (end - start) % count + 1) % count
    backward = np.arange(start, start - (start - end) % count - 1, -1) % count
    return contour[backward if avoid in forward else forward]


def _end_of_seam(part: BoolMask, tip: Polyline, armpit: Polyline, side: int) -> float:
    """The row in which cloth beside the armpit ends: armpits are the same on both sides, gaps may reach up higher."""
    column = part[: int(armpit[1]) + 1, int(armpit[0]) + side * BESIDE_SEAM]
    first = int(max(tip[1], 0))
    below = column[first:]
    begun = int(below.argmax())
    ends = np.flatnonzero(~below[begun:])
    return float(first + begun + ends[0]) if below.any() and len(ends) else float(armpit[1])


def trace_sleeve(part: BoolMask, tip: Polyline, armpit: Polyline, side: int) -> Sleeve | None:
    """Follow the outline of a sleeve.

    The cuff's corners are the outline's extremes in directions half way between along the sleeve and across it.

    Args:
        part: ``(h, w)`` bool, cloth outside the torso on one side.
        tip: ``(2,)`` shoulder tip.
        armpit: ``(2,)`` armpit.
        side: -1 for the sleeve left in the picture, 1 for the right one.

    Returns:
        The sleeve, or None where there is too little cloth to tell.
    """
    if part.sum() < LEAST_PIXELS:
        return None
    part = largest(part)
    y, x = np.nonzero(part)
    along = _direction(np.stack([x, y], axis=1).astype(float), tip, armpit)
    across = np.array([-along[1], along[0]])
    if across @ np.array([side, -0.6]) < 0:
        across = -across  # towards the outer edge
    contours, _ = cv2.findContours(part.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    contour = max(contours, key=len)[:, 0].astype(np.float64)
    at_tip = int(np.argmin(((contour - tip) ** 2).sum(axis=1)))
    at_armpit = int(np.argmin(((contour - armpit) ** 2).sum(axis=1)))
    relative = contour - (tip + armpit) / 2
    outer_cuff = int(np.argmax(relative @ along + 0.75 * (relative @ across)))
    inner_cuff = int(np.argmax(relative @ along - 0.75 * (relative @ across)))
    upper = _path(contour, at_tip, outer_cuff, avoid=at_armpit)
    lower = _path(contour, at_armpit, inner_cuff, avoid=at_tip)
    if len(upper) < 3:
        return None
    if len(lower) < 2 or len(lower) > 1.5 * len(upper):
        lower = contour[[at_armpit, inner_cuff]]
    upper = smoothed(resampled(np.concatenate([tip[None], upper]), POINTS), 1.2)
    root = np.array([armpit[0], _end_of_seam(part, tip, armpit, side)])
    lower = smoothed(resampled(np.concatenate([root[None], lower]), POINTS), 1.2)
    return Sleeve(upper, lower, side)


def matched_pair(left: Sleeve | None, right: Sleeve | None, least_length: float) -> tuple[Sleeve, Sleeve] | None:
    """The sleeves to use for both sides; where one is missing or much shorter, the other one serves twice.

    Returns:
        Left and right in the picture, or None where neither side has a sleeve of at least ``least_length``.
    """
    first, second = (sleeve if sleeve and sleeve.length > least_length else None for sleeve in (left, right))
    if first and (second is None or first.length > 1.33 * second.length):
        return first, first
    if second and (first is None or second.length > 1.33 * first.length):
        return second, second
    return (first, second) if first and second else None
