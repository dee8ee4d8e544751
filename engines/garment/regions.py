"""Connected regions of boolean masks: the few operations that both mask finders and landmarks need."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

BoolMask = NDArray[np.bool_]

LARGEST_DISK = 11
"""Radius in pixels up to which growing and shrinking by a structuring element is faster than measuring distances."""


def disk(radius: int) -> NDArray[np.uint8]:
    """A round structuring element of the given radius in pixels."""
    size = 2 * radius + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)), dtype=np.uint8)


def eroded(mask: BoolMask, radius: int) -> BoolMask:
    """The mask shrunk by a disk; what lies beyond the array's border counts as inside."""
    if radius > LARGEST_DISK:
        return ~_within(~mask, radius)
    return np.asarray(cv2.erode(mask.astype(np.uint8), disk(radius)), dtype=bool)


def dilated(mask: BoolMask, radius: int) -> BoolMask:
    """The mask grown by a disk."""
    if radius > LARGEST_DISK:
        return _within(mask, radius)
    return np.asarray(cv2.dilate(mask.astype(np.uint8), disk(radius)), dtype=bool)


def _within(mask: BoolMask, radius: int) -> BoolMask:
    """Pixels no farther from the mask than a radius."""
    far = np.asarray(~mask, dtype=np.uint8)
    return np.asarray(cv2.distanceTransform(far, cv2.DIST_L2, cv2.DIST_MASK_PRECISE) <= radius, dtype=bool)


def opened(mask: BoolMask, radius: int) -> BoolMask:
    """The mask without parts thinner than a disk."""
    return dilated(eroded(mask, radius), radius)


def closed(mask: BoolMask, radius: int) -> BoolMask:
    """The mask with gaps narrower than a disk filled."""
    padded = np.pad(mask, radius)
    return eroded(dilated(padded, radius), radius)[radius:-radius, radius:-radius]


def largest(mask: BoolMask, keep_share: float = 1.0) -> BoolMask:
    """The largest connected region, and every other one at least ``keep_share`` of its size."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    if count <= 1:
        return mask
    areas = stats[1:, cv2.CC_STAT_AREA]
    kept = np.concatenate([[False], areas >= keep_share * areas.max()])
    return kept.take(np.asarray(labels))


def reaching(mask: BoolMask, seeds: BoolMask, connectivity: int = 4) -> BoolMask:
    """The connected regions of a mask in which a seed lies; seeds outside the mask say nothing."""
    count, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=connectivity)
    touched = np.zeros(count, dtype=bool)
    touched[labels[seeds]] = True
    touched[0] = False
    return touched.take(np.asarray(labels))


def reaching_border(mask: BoolMask) -> BoolMask:
    """The connected regions of a mask that touch the border of the array."""
    border = np.ones_like(mask)
    border[1:-1, 1:-1] = False
    return reaching(mask, border)


def window_of(mask: BoolMask, margin: int = 0) -> tuple[slice, slice]:
    """Rows and columns that a mask lies in, with a margin as far as the array goes; empty slices for an empty mask."""
    left, top, width, height = cv2.boundingRect(mask.astype(np.uint8))
    if width * height == 0:
        return slice(0, 0), slice(0, 0)
    return (
        slice(max(0, top - margin), min(top + height + margin, mask.shape[0])),
        slice(max(0, left - margin), min(left + width + margin, mask.shape[1])),
    )
