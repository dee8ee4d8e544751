"""How narrow a waist may be drawn where loose clothes hide the body's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.body.torso_width import torso_half_width
from engines.warp.pieces import Reals

CHEST_AT, WAIST_AT, HIPS_AT = 0.30, 0.58, 1.00
"""Heights at which the three are compared, torso lengths below the shoulders."""

WAIST_PER_CHEST, WAIST_PER_HIPS = 0.90, 0.76
"""Width of a slim waist over chest and hips. Of people in tight clothes or a bare midriff the first is 0.90 to 0.97,
the second 0.65 to 0.81."""

UNDER_LOOSE, UNDER_TUCKED = 0.12, 0.05
"""By how much the waist is narrower than it looks at most: under a top that hangs over it, and in one tucked in."""

BEGINS, FROM, UNTIL, ENDS = 0.32, 0.52, 0.66, 1.00
"""Heights over which the body is narrower than it looks: not at all at both ends, wholly in between."""


def drawn_in(body: BodyModel, heights: Reals) -> NDArray[np.float64]:
    """Half width of the body over that of the clothes that it wears, 0.88 to 1.

    A loose top falls straight from chest to hips and says nothing about the waist behind it; chest and hips do.

    Args:
        body: The body, as wide as it looks.
        heights: ``(n,)`` torso lengths below the shoulders.
    """
    at = np.array([CHEST_AT, WAIST_AT, HIPS_AT])
    chest, waist, hips = _width(body, at)
    slim = max(WAIST_PER_CHEST * chest, WAIST_PER_HIPS * hips)
    most = UNDER_TUCKED if body.waist.tucked else UNDER_LOOSE
    narrower = float(np.clip(1.0 - slim / max(waist, 1.0), 0.0, most))
    share = ease((heights - BEGINS) / (FROM - BEGINS)) * ease((ENDS - heights) / (ENDS - UNTIL))
    # Nobody is wider between chest and waist than at both: there a loose top billows.
    straight = np.interp(heights, at[:2], [chest, waist * (1.0 - narrower)])
    billows = np.clip(1.0 - straight / np.maximum(_width(body, heights), 1.0), 0.0, most)
    between = (heights > CHEST_AT) & (heights < WAIST_AT)
    return np.asarray(1.0 - np.maximum(narrower * share, np.where(between, billows, 0.0)), np.float64)


def _width(body: BodyModel, heights: Reals) -> NDArray[np.float64]:
    """Width of the torso at heights, pixels."""
    at = np.asarray(heights, np.float64)
    return torso_half_width(body, at, LEFT) + torso_half_width(body, at, RIGHT)
