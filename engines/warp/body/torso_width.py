"""How wide the torso is where arms hang beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.model import BodyModel

UNDER_ARM = 0.25
"""Share of the arm's inner half width that the torso may reach behind a hanging arm."""

LEAST = 0.36
"""Smallest half width this may leave, in shoulder widths."""


def torso_half_width(body: BodyModel, heights: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Half width of the torso in pixels at heights, ending at the inner edge of an arm that hangs beside it.

    The silhouette alone cannot tell a sleeve from the torso behind it.
    """
    unit, bone, arm = body.shoulder_width, body.skeleton, body.arms[side]
    measured = body.half_width(heights.astype(np.float32), side).astype(np.float64)
    edge = arm.line - arm.outward * (arm.inner * (1 - UNDER_ARM))[:, None]
    drops = (edge - bone.shoulders) @ bone.down / body.torso_length
    offsets = (edge - bone.shoulders) @ bone.right * side
    order = np.argsort(drops)
    beside = np.interp(heights, drops[order], offsets[order], left=np.nan, right=np.nan)
    limit = np.where(np.isfinite(beside) & (beside > 0.30 * unit), np.maximum(beside, LEAST * unit), np.inf)
    return np.minimum(measured, limit)
