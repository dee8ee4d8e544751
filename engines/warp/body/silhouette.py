"""Reading a person's picture along rays: labels at points, outlines, and the small mathematics of both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.warp.ribbon import Reals


def values_at(picture: NDArray[Any], points: Reals) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Read a picture at the pixels nearest to points.

    Args:
        picture: ``(height, width)``.
        points: ``(..., 2)`` x and y in pixels.

    Returns:
        ``(...)`` values, at the nearest border for points outside the picture, and whether each lies inside.
    """
    at = np.rint(points).astype(np.int64)
    columns, rows = at[..., 0], at[..., 1]
    height, width = picture.shape
    framed = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    return picture[rows.clip(0, height - 1), columns.clip(0, width - 1)], np.asarray(framed, bool)


def reach(inside: NDArray[np.bool_], starts: Reals, directions: Reals, limit: float) -> NDArray[np.float32]:
    """Walk from points in given directions until a mask ends.

    Args:
        inside: ``(height, width)`` mask.
        starts: ``(n, 2)`` x and y in pixels.
        directions: ``(n, 2)`` or ``(2,)`` unit vectors.
        limit: Longest walk in pixels.

    Returns:
        ``(n,)`` distances in pixels. NaN where the ray leaves the picture before the mask ends; ``limit`` where
        the mask never ends.
    """
    starts = np.atleast_2d(np.asarray(starts, np.float32))
    directions = np.broadcast_to(np.asarray(directions, np.float32), starts.shape)
    steps = np.arange(max(1, int(np.ceil(limit))), dtype=np.float32)
    seen, framed = values_at(inside, starts[:, None] + directions[:, None] * steps[:, None])
    stopped = ~(framed & seen)
    first = stopped.argmax(axis=1)
    each = np.arange(len(starts))
    distance = np.where(stopped[each, first], steps[first], np.float32(limit)).astype(np.float32)
    distance[stopped[each, first] & ~framed[each, first]] = np.nan
    return distance


def settle(measured: Reals, least: Reals, most: Reals, window: int = 7) -> NDArray[np.float32]:
    """Make a usable profile of half widths from raw measurements.

    Gaps are bridged by interpolation, values are held between ``least`` and ``most``, lone outliers and jitter
    are smoothed away.

    Args:
        measured: ``(n,)`` with NaN where nothing could be measured.
        least: ``(n,)`` smallest believable values.
        most: ``(n,)`` largest believable values.
        window: Samples of the median filter.

    Returns:
        ``(n,)`` without NaN, of the middle between the limits where too little was measured.
    """
    known = np.isfinite(measured)
    if known.sum() < max(3, len(measured) // 10):
        return np.asarray((least + most) / 2.0, dtype=np.float32)
    index = np.arange(len(measured))
    filled = np.interp(index, index[known], np.clip(measured[known], least[known], most[known]))
    smooth = ndimage.gaussian_filter1d(ndimage.median_filter(filled, window, mode="nearest"), 1.5, mode="nearest")
    return np.asarray(np.clip(smooth, least, most), dtype=np.float32)


def towards(vector: Reals) -> NDArray[np.float32]:
    """The unit vector, or vectors along the last axis, of the same direction."""
    length = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.asarray(vector / np.maximum(length, 1e-6), dtype=np.float32)


def ease(position: Reals | float) -> NDArray[np.float32]:
    """Smooth step: 0 up to 0, 1 from 1 on, without corners between."""
    bounded = np.asarray(np.clip(position, 0.0, 1.0))
    slowed = np.asarray(3.0 - 2.0 * bounded)
    slowed *= bounded * bounded
    return slowed.astype(np.float32, copy=False)


def field_of(shape: tuple[int, int], origin: Reals, way: Reals) -> NDArray[np.float32]:
    """How far every pixel lies from ``origin`` in the direction ``way``, in pixels."""
    x = (np.arange(shape[1], dtype=np.float32) - origin[0]) * way[0]
    y = (np.arange(shape[0], dtype=np.float32) - origin[1]) * way[1]
    return np.asarray(x[None] + y[:, None], dtype=np.float32)
