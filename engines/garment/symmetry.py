"""The mirror axis of a garment, and its two halves laid over one another."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask

SEARCH_SHARE = 0.10
"""The axis is sought this far to both sides of the middle of the bounding box, as a share of the canvas width."""

REDUCTION = 4
"""The search runs on every fourth pixel of a canvas."""


def mirror_axis(mask: BoolMask, reduction: int = REDUCTION) -> tuple[float, float]:
    """Find the vertical line about which the garment is most like its mirror image.

    Args:
        mask: ``(h, w)`` bool, not empty.
        reduction: The search runs on every so many-th pixel.

    Returns:
        The x coordinate of the axis in pixels, and the intersection over union of the mask with its mirror image
        there, 0 to 1.
    """
    small = mask[::reduction, ::reduction].astype(np.float32)
    height, width = small.shape
    columns = np.flatnonzero(small.any(axis=0))
    middle = (columns[0] + columns[-1]) / 2
    flipped = np.ascontiguousarray(small[:, ::-1])
    best_axis, best_overlap = middle, -1.0
    for axis in np.arange(middle - SEARCH_SHARE * width, middle + SEARCH_SHARE * width, 0.5):
        shift = np.array([[1, 0, 2 * axis - (width - 1)], [0, 1, 0]], dtype=np.float32)
        mirrored = cv2.warpAffine(flipped, shift, (width, height))
        overlap = float(np.minimum(small, mirrored).sum() / np.maximum(small, mirrored).sum())
        if overlap > best_overlap:
            best_axis, best_overlap = float(axis), overlap
    return best_axis * reduction, best_overlap


def half_masks(mask: BoolMask, axis: float) -> BoolMask:
    """Both halves of a mask as seen from the axis outwards.

    Args:
        mask: ``(h, w)`` bool.
        axis: x of the mirror axis.

    Returns:
        ``(2, h, n)`` bool: first what lies left of the axis in the picture, then what lies right of it; column
        ``k`` is ``k`` pixels away from the axis. Columns beyond the canvas are false.
    """
    return np.asarray(half_planes(mask.astype(np.uint8), axis), dtype=bool)


def half_planes(plane: NDArray[np.generic], axis: float) -> NDArray[np.generic]:
    """Like `half_masks` for any ``(h, w)`` array; beyond the canvas it is zero."""
    width = plane.shape[1]
    offsets = np.arange(int(max(axis, width - axis)) + 2)
    halves = []
    for side in (-1, 1):
        columns = np.rint(axis + side * offsets).astype(int)
        half = plane[:, np.clip(columns, 0, width - 1)].copy()
        half[:, (columns < 0) | (columns >= width)] = 0
        halves.append(half)
    return np.stack(halves)


def outermost(half: BoolMask) -> NDArray[np.float64]:
    """Offset of the outermost cloth in each row of a half mask, 0 where the row is empty."""
    columns = half.shape[1]
    return np.where(half.any(axis=1), columns - 1 - half[:, ::-1].argmax(axis=1), 0).astype(float)
