"""Polylines: arrays of shape ``(n, 2)`` holding x and y."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Polyline = NDArray[np.float64]


def lengths_along(line: Polyline) -> NDArray[np.float64]:
    """``(n,)``: how far along a polyline each of its points lies, from 0 to its length."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])


def at_lengths(line: Polyline, lengths: NDArray[np.float64]) -> Polyline:
    """The points at given lengths along a polyline."""
    along = lengths_along(line)
    return np.stack([np.interp(lengths, along, line[:, axis]) for axis in range(2)], axis=1)


def resampled(line: Polyline, count: int) -> Polyline:
    """``count`` points at equal distances along a polyline, its ends included."""
    return at_lengths(line, np.linspace(0, lengths_along(line)[-1], count))


def smoothed(line: Polyline, sigma: float) -> Polyline:
    """A polyline with its points blurred along it; the ends are kept."""
    blurred = ndimage.gaussian_filter1d(line, sigma, axis=0, mode="nearest")
    blurred[0], blurred[-1] = line[0], line[-1]
    return np.asarray(blurred)


def mirrored(line: Polyline, axis: float) -> Polyline:
    """The points, ``(..., 2)``, reflected about the upright line ``x = axis``."""
    return np.stack([2 * axis - line[..., 0], line[..., 1]], axis=-1)
