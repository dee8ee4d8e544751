"""A garment that lies askew in its picture turned upright: all of its landmarks are sought about an upright axis."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.canvas import MARGIN
from engines.garment.cloth import Cloth
from engines.garment.regions import window_of

LEAST_TILT, MOST_TILT = 2.0, 15.0
"""Degrees from which a garment is turned, since few are quite alike on both sides or lie quite straight, and up to
which its tilt is sought."""

STEP, FINE_STEP = 1.0, 0.25
"""Steps in which tilts are tried, first all and then those beside the best, degrees."""

LEAST_ALIKE, LEAST_GAIN = 0.88, 0.03
"""How much alike the two halves of the garment are when it is turned, as their intersection over their union, and how
much more than before: what is cut differently on both sides says nothing about how it lies."""

TRIED_HEIGHT = 160
"""Rows of the garment on which that is measured."""


def stood_upright(cloth: Cloth) -> Cloth:
    """The cloth turned so that its two halves mirror one another about an upright axis; as it is where that is so.

    Args:
        cloth: A garment that was photographed alone.

    Returns:
        On a canvas of its own, where it was turned.
    """
    tilt = _tilt_of(cloth.alpha)
    return cloth if abs(tilt) < LEAST_TILT else _turned(cloth, tilt)


def _tilt_of(alpha: NDArray[np.float32]) -> float:
    """Degrees by which the mirror axis leans to the left at its top; 0 where that cannot be told."""
    window = window_of(alpha > 0.5)
    if not alpha[window].size:
        return 0.0
    factor = TRIED_HEIGHT / alpha[window].shape[0]
    resized = cv2.resize(alpha[window], None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    small = np.pad(np.asarray(resized, np.float32), TRIED_HEIGHT // 8)
    upright, left, right = (_likeness(small, tilt) for tilt in (0.0, LEAST_TILT, -LEAST_TILT))
    if max(left, right) < upright:
        return 0.0
    tilts = (1.0 if left > right else -1.0) * np.arange(STEP, MOST_TILT + STEP, STEP)
    best = float(tilts[np.argmax([_likeness(small, tilt) for tilt in tilts])])
    tilts = best + np.arange(-STEP + FINE_STEP, STEP, FINE_STEP)
    alike = [_likeness(small, tilt) for tilt in tilts]
    if max(alike) < max(LEAST_ALIKE, upright + LEAST_GAIN):
        return 0.0
    return float(tilts[int(np.argmax(alike))])


def _likeness(mask: NDArray[np.float32], tilt: float) -> float:
    """Intersection over union of a mask and its image in a mirror of that tilt through its centre of mass.

    Args:
        mask: ``(h, w)`` float32.
        tilt: Of the mirror, degrees.
    """
    moments = cv2.moments(mask)
    centre = np.array([moments["m10"], moments["m01"]]) / max(moments["m00"], 1e-6)
    double = np.radians(2 * tilt)
    mirror = np.array([[-np.cos(double), np.sin(double)], [np.sin(double), np.cos(double)]])
    way = np.column_stack([mirror, centre - mirror @ centre]).astype(np.float32)
    image = cv2.warpAffine(mask, way, (mask.shape[1], mask.shape[0]))
    return float(np.minimum(mask, image).sum() / max(float(np.maximum(mask, image).sum()), 1e-6))


def _turned(cloth: Cloth, tilt: float) -> Cloth:
    """The cloth turned by its tilt about its middle, on a canvas that holds all of it with a margin."""
    rows, columns = window_of(cloth.alpha > 0)
    corners = np.array([[x, y, 1.0] for x in (columns.start, columns.stop) for y in (rows.start, rows.stop)])
    way = cv2.getRotationMatrix2D((0.0, 0.0), -tilt, 1.0)
    reached = corners @ way.T
    first, last = reached.min(axis=0), reached.max(axis=0)
    way[:, 2] = MARGIN - first
    size = (int(last[0] - first[0]) + 2 * MARGIN, int(last[1] - first[1]) + 2 * MARGIN)
    colour = cv2.warpAffine(cloth.colour, way, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    alpha = cv2.warpAffine(cloth.alpha, way, size, flags=cv2.INTER_LINEAR)
    return replace(cloth, colour=np.asarray(np.clip(colour, 0.0, 1.0), np.float32), alpha=np.asarray(alpha, np.float32))
