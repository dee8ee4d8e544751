"""Reading pictures at points, and around them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engines.warp.pieces import Reals


class Pixels(NamedTuple):
    """The pixels nearest to points.

    Attributes:
        rows: Of any shape, int64; for a point outside the picture that of the nearest pixel inside.
        columns: Of the same shape.
        framed: Of the same shape, whether the point lies in the picture.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    framed: NDArray[np.bool_]


def nearest_pixels(points: Reals, shape: tuple[int, ...]) -> Pixels:
    """Find the pixels nearest to points.

    Args:
        points: ``(..., 2)`` x and y in pixels.
        shape: Height and width of the picture, and whatever follows.
    """
    at = np.rint(points).astype(np.int64)
    columns, rows = at[..., 0], at[..., 1]
    framed = (columns >= 0) & (columns < shape[1]) & (rows >= 0) & (rows < shape[0])
    return Pixels(rows.clip(0, shape[0] - 1), columns.clip(0, shape[1] - 1), np.asarray(framed, bool))


def values_at(picture: NDArray[Any], points: Reals) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Read a picture at the pixels nearest to points.

    Args:
        picture: ``(height, width)``.
        points: ``(..., 2)`` x and y in pixels.

    Returns:
        ``(...)`` values, at the nearest border for points outside the picture, and whether each lies inside.
    """
    pixels = nearest_pixels(points, picture.shape)
    return picture[pixels.rows, pixels.columns], pixels.framed


def values_around(picture: NDArray[Any], centre: Reals, radius: float) -> NDArray[Any]:
    """The values of a picture in a disc, ``(n,)``; none where the disc lies outside.

    Args:
        picture: ``(height, width)``.
        centre: ``(2,)`` x and y in pixels.
        radius: Pixels.
    """
    low = np.maximum(np.floor(centre - radius).astype(np.int64), 0)
    high = np.maximum(np.ceil(centre + radius).astype(np.int64) + 1, 0)
    window = picture[low[1] : high[1], low[0] : high[0]]
    rows, columns = np.ogrid[low[1] : low[1] + window.shape[0], low[0] : low[0] + window.shape[1]]
    return np.asarray(window[np.hypot(columns - centre[0], rows - centre[1]) < radius])
