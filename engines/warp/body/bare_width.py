"""How wide a bare torso is: as it is seen, no wider than torsos are, and as wide as the waistband it comes out of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Reals

TORSO_BARE_MOST = ((0.10, 0.46), (0.35, 0.44), (0.66, 0.375), (0.88, 0.405), (1.10, 0.46))
"""Largest half width of a bare torso at heights, in shoulder widths: what is measured may be a loose top's."""

ASIDE, MOST_ASIDE = (0.04, 0.08), 0.09
"""From which to which width that one side of a torso lacks it lies aside of its axis, and how much wider it may be on
the other side for that, in shoulder widths."""

HIP_SEEN, LEAST_HIP = (0.01, 0.06), 50
"""Heights below the waist between which trousers tell how wide the hips are, and pixels that are enough for it."""

IN_WAISTBAND, MOST_HIP, HIP_RISE = 0.97, 0.35, 0.24
"""Width of a belly over that of the waistband it comes out of, how much wider than usual it is at most, and the height
over which it comes in to the usual, in torso lengths."""

LOWEST_HIP = 0.94
"""Height at which a belly is as wide as the hips at the latest, in torso lengths: a hem may hang lower."""


def bare_torso_limit(heights: Reals) -> NDArray[np.float32]:
    """Largest half width of a bare torso at heights, in shoulder widths."""
    knots, values = zip(*TORSO_BARE_MOST, strict=True)
    return np.asarray(np.interp(heights, knots, values), dtype=np.float32)


def bare_half_width(body: BodyModel, heights: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """Half width of a bare torso below the armpits at heights ``(n,)``, on one side, in pixels."""
    seen = {each: body.half_width(heights, each) * 0.97 for each in SIDES}
    most = {each: bare_torso_limit(heights) * body.shoulder_width + _towards_hip(body, heights, each) for each in SIDES}
    # A torso that leans lies aside of its axis: what one side has not, the other may have.
    lacks = (most[-side] - seen[-side]) / np.float32(body.shoulder_width)
    aside = np.clip(lacks, 0.0, MOST_ASIDE) * ease((lacks - ASIDE[0]) / (ASIDE[1] - ASIDE[0]))
    return np.asarray(np.minimum(seen[side], most[side] + aside * np.float32(body.shoulder_width)), np.float32)


def _towards_hip(body: BodyModel, heights: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """What a belly is wider than usual above trousers that are, ``(n,)`` pixels: no waistband stands off it."""
    unit, offset = body.shoulder_width, body.laterals * (body.shoulder_width * side)
    # A waistband below a bare midriff is followed; a hem says less about what is under it.
    waist = body.waist.line(body.laterals) if body.waist.bare_midriff else body.waist.height
    below = body.heights - waist
    seen = offset[(body.labels == Label.LOWER) & (below > HIP_SEEN[0]) & (below < HIP_SEEN[1]) & (offset > 0)]
    if len(seen) < LEAST_HIP:
        return np.zeros_like(heights)
    height = min(body.waist.height, LOWEST_HIP)
    usual = float(bare_torso_limit(np.array([height], np.float32))[0]) * unit
    wider = float(np.clip(IN_WAISTBAND * np.percentile(seen, 97) - usual, 0.0, MOST_HIP * usual))
    return np.asarray(wider * ease((heights - height + HIP_RISE) / HIP_RISE), np.float32)
