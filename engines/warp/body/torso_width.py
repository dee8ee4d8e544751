"""How wide the torso is where arms hang beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.model import BodyModel

UNDER_ARM = 0.25
"""Share of the arm's inner half width that the torso may reach behind a hanging arm."""

LEAST = 0.36
"""Smallest half width this may leave, in shoulder widths."""


CROSSING = 0.8
"""A wrist nearer to the axis than this share of the torso's half width lies before or behind the torso."""

AROUND_FOREARM = 0.11
"""How far above and below a crossing forearm it still hides the torso's edge, in torso lengths."""


def torso_half_width(body: BodyModel, heights: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Half width of the torso in pixels at heights, ending at the inner edge of an arm that hangs beside it.

    The silhouette alone cannot tell a sleeve from the torso behind it. Where a forearm crosses the torso its edge is
    hidden, and goes on from what is seen above to what is seen below.
    """
    unit, bone, arm = body.shoulder_width, body.skeleton, body.arms[side]
    measured = body.half_width(heights.astype(np.float32), side).astype(np.float64)
    edge = arm.line - arm.outward * (arm.inner * (1 - UNDER_ARM))[:, None]
    drops = (edge - bone.shoulders) @ bone.down / body.torso_length
    offsets = (edge - bone.shoulders) @ bone.right * side
    hanging = np.ones(len(drops), bool)
    if crosses(body, side):
        forearm = (arm.line[arm.shares >= arm.bend] - bone.shoulders) @ bone.down / body.torso_length
        hidden = (heights > forearm.min() - AROUND_FOREARM) & (heights < forearm.max() + AROUND_FOREARM)
        if hidden.any() and not hidden.all():
            measured = np.maximum(measured, np.interp(heights, heights[~hidden], measured[~hidden]))
        hanging = arm.shares < arm.bend
    order = np.argsort(drops[hanging])
    beside = np.interp(heights, drops[hanging][order], offsets[hanging][order], left=np.nan, right=np.nan)
    limit = np.where(np.isfinite(beside) & (beside > 0.30 * unit), np.maximum(beside, LEAST * unit), np.inf)
    return np.minimum(measured, limit)


def crosses(body: BodyModel, side: int) -> bool:
    """Whether a forearm lies before or behind the torso."""
    bone = body.skeleton
    wrist = body.arms[side].points(np.ones(1, np.float32))[0] - bone.shoulders
    height = float(wrist @ bone.down) / body.torso_length
    # At the wrist's own height the forearm may have been taken for the torso's edge.
    half = float(np.median(body.half_width(np.linspace(0.3, 1.0, 15), side)))
    return height < body.crotch_height and float(wrist @ bone.right) * side < CROSSING * half
