"""The curves that a front neckline may have: V, round, square and everything between, of any depth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engines.garment.curves import resampled

ACROSS, DOWNWARDS = (1.2, 1.6, 2.1, 2.8, 3.6), (1.0, 1.5, 2.0)
"""Exponents of the curves ``|x / a| ** across + (y / depth) ** downwards == 1``. Small ones across make a V, large ones
a square; large ones downwards make the ends steep."""

HALF_POINTS = 19
"""Points on each half of an arc, about evenly spaced along it: a steep end counts as much as a level bottom."""

USUAL_DEPTH = 0.5
"""Depth in neck widths at which the points are evenly spaced."""


@dataclass(frozen=True)
class Arcs:
    """Curves hung between two points.

    Attributes:
        points: ``(n, points, 2)`` x and y from the left end to the right one.
        normals: ``(n, points, 2)`` unit vectors across the curve, out of the neck opening.
        depths: ``(n,)`` depth of each, in distances of the two points.
    """

    points: NDArray[np.float32]
    normals: NDArray[np.float32]
    depths: NDArray[np.float32]


@lru_cache(maxsize=1)
def _halves() -> NDArray[np.float32]:
    """``(shapes, HALF_POINTS, 2)``: right halves of arcs of every shape, one wide and one deep, from the bottom up."""
    angle = np.linspace(0.0, np.pi / 2, 120)
    halves = []
    for across in ACROSS:
        for downwards in DOWNWARDS:
            line = np.stack(
                [0.5 * np.sin(angle) ** (2 / across), USUAL_DEPTH * np.cos(angle) ** (2 / downwards)], axis=1
            )
            halves.append(resampled(line, HALF_POINTS) / (1.0, USUAL_DEPTH))
    return np.asarray(halves, dtype=np.float32)


def _drawn(depths: tuple[float, ...], insets: tuple[float, ...]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Arcs between (-0.5, 0) and (0.5, 0): their points ``(n, points, 2)`` and depths ``(n,)``."""
    narrowing = 1.0 - 2.0 * np.array(insets, np.float32)
    sizes = np.stack(np.meshgrid(narrowing, np.array(depths, np.float32)), axis=-1).reshape(-1, 1, 2)
    right = (_halves()[:, None] * sizes[None]).reshape(-1, HALF_POINTS, 2)
    left = right[:, :0:-1] * np.array([-1.0, 1.0], np.float32)
    return np.concatenate([left, right], axis=1), np.tile(sizes[:, 0, 1], len(_halves()))


def hung_between(
    left: NDArray[np.float64], right: NDArray[np.float64], depths: tuple[float, ...], insets: tuple[float, ...]
) -> Arcs:
    """Arcs of all shapes between two points.

    Args:
        left: (x, y).
        right: (x, y).
        depths: Depths tried, in distances of the points across.
        insets: How far inside the points the arcs begin, in the same measure.
    """
    shapes, each = _drawn(depths, insets)
    chord = (right - left).astype(np.float32)
    middle = ((left + right) / 2).astype(np.float32)
    points = middle + shapes[..., :1] * chord + shapes[..., 1:] * np.array([0.0, chord[0]], np.float32)
    along = np.gradient(points, axis=1)
    along /= np.maximum(np.linalg.norm(along, axis=2, keepdims=True), 1e-9)
    normals = np.stack([-along[..., 1], along[..., 0]], axis=2)
    return Arcs(points, normals, each)


def joined(arcs: list[Arcs]) -> Arcs:
    """All arcs of several bundles."""
    points, normals, depths = (
        np.concatenate([getattr(each, name) for each in arcs]) for name in ("points", "normals", "depths")
    )
    return Arcs(points, normals, depths)
