"""A front neckline laid on its edge point by point: no garment hangs in a perfect curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

WITHIN = 0.065
"""How far from the curve its edge is looked for, in neck widths."""

STEPS = 13
"""Places that are tried to either side of the curve."""

REACHES = (1.0, 0.45)
"""Shares of that within which the edge is looked for, one after the other, until the line stays on the same edge."""

BOTTOM, SAME_EDGE = 0.3, 0.02
"""Middle share of a curve that already lies on its edge, and how far it may move there, in neck widths: what is further
away is the other edge of a neckband."""

STIFFNESS = 0.5
"""Score that is lost when one point lies a whole reach further out than the point before it, squared."""

NEAR_CURVE = 0.25
"""Score that a place loses at the end of the reach, squared: nothing but a clear edge draws the line away."""

LEAST_GAIN = 0.05
"""By how much clearer the edge must be on average where the line is moved to, of 1."""

SMOOTH = 1.0
"""Blur of the line that was found, in its points."""


def offsets_tried(width: float) -> NDArray[np.float32]:
    """Distances from a curve at which its edge is looked for, ``(2 * STEPS + 1,)`` pixels.

    Args:
        width: Of the neck, canvas pixels.
    """
    return np.asarray(np.linspace(-WITHIN, WITHIN, 2 * STEPS + 1) * width, np.float32)


def on_edge(
    points: NDArray[np.float32], normals: NDArray[np.float32], width: float, across: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Move the points of a curve along its normals to where the colours change in the way they do all along.

    Args:
        points: ``(n, 2)`` x and y.
        normals: ``(n, 2)`` unit vectors across the curve.
        width: Of the neck, canvas pixels.
        across: ``(n, m, channels)`` change of the colours across the curve at each of `offsets_tried`, 1 for an edge
            that is as clear as any.

    Returns:
        ``(n, 2)`` x and y.
    """
    tried = np.linspace(-1.0, 1.0, across.shape[1])
    # The way in which the colours change all along the curve; a label, a fold and the band's other edge have others.
    at_curve = across[:, np.abs(tried) * WITHIN <= SAME_EDGE].mean(axis=0)
    way = at_curve[np.argmax(np.linalg.norm(at_curve, axis=1))]
    strength = np.maximum(across @ (way / max(float(np.linalg.norm(way)), 1e-6)), 0.0)
    cost = STIFFNESS * len(tried) * (tried[:, None] - tried[None]) ** 2
    bottom = slice(int((0.5 - BOTTOM / 2) * len(points)), int((0.5 + BOTTOM / 2) * len(points)) + 1)
    each = np.arange(len(points))
    for share in REACHES:
        near = np.flatnonzero(np.abs(tried) <= share)
        path = near[_stiffest_path(strength[:, near] - NEAR_CURVE * tried[near] ** 2, cost[np.ix_(near, near)])]
        gain = float((strength[each, path] - strength[:, STEPS]).mean())
        moved = tried[path] * WITHIN
        if np.abs(moved[bottom]).mean() < SAME_EDGE and gain > LEAST_GAIN:
            smooth = ndimage.gaussian_filter1d(moved, SMOOTH, mode="nearest")
            return np.asarray(points + normals * (smooth * width)[:, None], np.float32)
    return points


def _stiffest_path(scores: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.intp]:
    """The place per point, ``(n,)``, with the largest sum of ``(n, m)`` scores less the ``(m, m)`` cost of steps."""
    total = scores[0]
    came_from = np.zeros(scores.shape, np.intp)
    for point in range(1, len(scores)):
        reached = total[None] - cost
        came_from[point] = reached.argmax(axis=1)
        total = reached.max(axis=1) + scores[point]
    path = [int(total.argmax())]
    for point in range(len(scores) - 1, 0, -1):
        path.append(int(came_from[point, path[-1]]))
    return np.array(path[::-1])
