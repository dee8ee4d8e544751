"""Regions of masks and of maps of labels: the few operations that both mask finders and landmarks need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label

BoolMask = NDArray[np.bool_]

LARGEST_DISK = 11
"""Radius in pixels up to which growing and shrinking by a structuring element is faster than measuring distances."""


def disk(radius: int) -> NDArray[np.uint8]:
    """A round structuring element of the given radius in pixels."""
    size = 2 * radius + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)), dtype=np.uint8)


def eroded(mask: BoolMask, radius: int) -> BoolMask:
    """The mask shrunk by a disk; what lies beyond the array's border counts as inside."""
    if radius <= LARGEST_DISK:
        return cv2.erode(_as_numbers(mask), disk(radius)).view(np.bool_)
    left = mask.copy()
    # A pixel outside the mask limits its neighbours only; far from all such pixels the whole mask is left.
    window = _shared(window_of(mask, 1), window_of(~mask, radius))
    if mask[window].size:
        left[window] = ~_within(~mask[window], radius)
    return left


def dilated(mask: BoolMask, radius: int) -> BoolMask:
    """The mask grown by a disk."""
    if radius <= LARGEST_DISK:
        return cv2.dilate(_as_numbers(mask), disk(radius)).view(np.bool_)
    grown = np.zeros_like(mask)
    window = window_of(mask, radius)
    if mask[window].size:
        grown[window] = _within(mask[window], radius)
    return grown


def _within(mask: BoolMask, radius: int) -> BoolMask:
    """Pixels no farther from the mask than a radius."""
    return np.asarray(cv2.distanceTransform(_as_numbers(~mask), cv2.DIST_L2, cv2.DIST_MASK_PRECISE) <= radius)


def _as_numbers(mask: BoolMask) -> NDArray[np.uint8]:
    """The mask as OpenCV takes it, 0 and 1; the same memory."""
    return np.ascontiguousarray(mask).view(np.uint8)


def opened(mask: BoolMask, radius: int) -> BoolMask:
    """The mask without parts thinner than a disk."""
    return dilated(eroded(mask, radius), radius)


def closed(mask: BoolMask, radius: int) -> BoolMask:
    """The mask with gaps narrower than a disk filled."""
    padded = np.pad(mask, radius)
    return eroded(dilated(padded, radius), radius)[radius:-radius, radius:-radius]


def largest(mask: BoolMask, keep_share: float = 1.0) -> BoolMask:
    """The largest connected region, and every other one at least ``keep_share`` of its size."""
    # Areas are counted here: the same call with statistics takes six times as long.
    count, labels = cv2.connectedComponents(_as_numbers(mask), connectivity=8)
    if count <= 2:
        return mask.copy()
    areas = np.bincount(np.asarray(labels).ravel())
    areas[0] = 0
    return _numbered(np.asarray(labels), areas >= max(keep_share * areas.max(), 1))


def reaching(mask: BoolMask, seeds: BoolMask, connectivity: int = 4) -> BoolMask:
    """The connected regions of a mask in which a seed lies; seeds outside the mask say nothing."""
    count, labels = cv2.connectedComponents(_as_numbers(mask), connectivity=connectivity)
    touched = np.zeros(count, dtype=bool)
    touched[labels[seeds]] = True
    touched[0] = False
    return _numbered(np.asarray(labels), touched)


def spread(seeds: BoolMask, mask: BoolMask) -> BoolMask:
    """The seeds, and what of a mask hangs together with them."""
    return reaching(seeds | mask, seeds)


def _numbered(labels: NDArray[np.int32], wanted: NDArray[np.bool_]) -> BoolMask:
    """The regions of a labelling whose numbers are wanted."""
    numbers = np.flatnonzero(wanted)
    # A comparison takes a tenth of the time of a look-up.
    return np.asarray(labels == numbers[0]) if len(numbers) == 1 else wanted.take(labels)


def reaching_border(mask: BoolMask) -> BoolMask:
    """The connected regions of a mask that touch the border of the array."""
    border = np.ones_like(mask)
    border[1:-1, 1:-1] = False
    return reaching(mask, border)


def pieces(mask: BoolMask, margin: int = 0) -> Iterator[tuple[tuple[slice, slice], BoolMask]]:
    """Each connected region of a mask, and the window with a margin that holds it; corners do not connect."""
    outer = window_of(mask)
    top, left = outer[0].start, outer[1].start
    if not mask[outer].size:
        return
    _, labels, stats, _ = cv2.connectedComponentsWithStats(_as_numbers(mask[outer]), connectivity=4)
    numbered = np.zeros(mask.shape, dtype=np.int32)
    numbered[outer] = labels
    for number, (x, y, width, height) in enumerate(stats[1:, :4].tolist(), start=1):
        rows = slice(max(top + y - margin, 0), min(top + y + height + margin, mask.shape[0]))
        columns = slice(max(left + x - margin, 0), min(left + x + width + margin, mask.shape[1]))
        yield (rows, columns), np.asarray(numbered[rows, columns] == number)


def _shared(first: tuple[slice, slice], second: tuple[slice, slice]) -> tuple[slice, slice]:
    """What two windows share."""
    begins = [max(one.start, other.start) for one, other in zip(first, second, strict=True)]
    ends = [min(one.stop, other.stop) for one, other in zip(first, second, strict=True)]
    return slice(begins[0], max(ends[0], begins[0])), slice(begins[1], max(ends[1], begins[1]))


def runs_of(row: BoolMask) -> NDArray[np.int64]:
    """``(k, 2)`` first places and ends of the runs in ``(n,)`` of a mask."""
    return np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]]))).reshape(-1, 2)


def distance_from(mask: BoolMask) -> NDArray[np.float32]:
    """``(h, w)`` distance of each pixel from a mask, pixels, 0 within it; a few percent off where it is large."""
    return np.asarray(cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 3), np.float32)


def nearest_known(known: BoolMask) -> NDArray[np.int64]:
    """``(h, w)`` place in the flattened array of the known pixel that is nearest to each pixel.

    Args:
        known: Not empty.
    """
    unknown = np.asarray(~known, np.uint8)
    _, numbers = cv2.distanceTransformWithLabels(unknown, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    places = np.flatnonzero(known)
    numbered = np.zeros(len(places) + 1, np.int64)
    numbered[numbers.ravel()[places]] = places
    return numbered.take(np.asarray(numbers))


def window_of(mask: BoolMask, margin: int = 0) -> tuple[slice, slice]:
    """Rows and columns that a mask lies in, with a margin as far as the array goes; empty slices for an empty mask."""
    left, top, width, height = cv2.boundingRect(_as_numbers(mask))
    if width * height == 0:
        return slice(0, 0), slice(0, 0)
    return (
        slice(max(0, top - margin), min(top + height + margin, mask.shape[0])),
        slice(max(0, left - margin), min(left + width + margin, mask.shape[1])),
    )


def labelled_as(labels: NDArray[np.uint8], wanted: Sequence[Label]) -> NDArray[np.bool_]:
    """Which pixels carry any of some labels; comparing one by one is many times faster than `numpy.isin` or a table.

    Args:
        labels: Of any shape.
        wanted: The labels asked for.

    Returns:
        Of the same shape.
    """
    found = np.zeros(labels.shape, dtype=bool)
    for label in wanted:
        found |= labels == label
    return found
