"""How wide the torso is that clothes worn close to it lie on, under whatever loose top is seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.bare_width import bare_half_width
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.body.torso_width import crosses

OVER_SKIN = 1.08
"""Half width of a torso in close clothes over that of the bare one at most: of people in tight tops it is 1.02 to
1.08."""

MOST_NARROWER = 0.15
"""By how much the torso is narrower than it is seen at most."""

OVER_HIPS, FROM_HIPS = 0.08, 0.25
"""Height above the waistband up to which the hips are as wide as they are seen in their trousers, and over which they
lead over to the torso, in torso lengths."""


def slim_half_width(
    body: BodyModel, heights: NDArray[np.float64], side: int, seen: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Half width of the torso in pixels at heights: as it is seen, and no wider than in close clothes.

    A loose top that falls straight from chest to hips says nothing about the torso in it. Beside a forearm that lies
    across the torso its width is as it is seen: hardly anything of its edge shows.

    Args:
        body: The body.
        heights: ``(n,)`` torso lengths below the shoulders.
        side: Picture side.
        seen: ``(n,)`` half width as it is seen, pixels.
    """
    if crosses(body, side):
        return seen
    close = OVER_SKIN * bare_half_width(body, heights.astype(np.float32), side)
    narrower = np.clip(1 - close / np.maximum(seen, 1.0), 0.0, MOST_NARROWER)
    above = ease((body.waist.height - OVER_HIPS - heights) / FROM_HIPS)
    return np.asarray(seen * (1 - narrower * above), np.float64)
