"""Where a seen arm comes forward from beside the new garment: the garment's edge leads over to the arm's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.limbs import Limb
from engines.warp.body.sampling import values_at
from engines.warp.body.seen_arms import SeenArm
from engines.warp.body.silhouette import ease

OPENS = 0.18
"""By how many pixels that edge leads inwards per pixel down the arm."""

CLOTH = 0.5
"""Cover from which a pixel of the new garment lies over the arm beside it."""


def led_forward(arm: Limb, seen: SeenArm, begin: float, cloth: NDArray[np.float32]) -> SeenArm:
    """The arm with an inner edge that begins at the edge of the garment; a level cut across it would look torn.

    Higher up the garment lies over the arm, or an old sleeve hid how the arm lies before it.

    Args:
        arm: Arm.
        seen: What is seen of it.
        begin: Share of the arm from which it may lie before the garment.
        cloth: ``(h, w)`` cover of the new garment without its sleeves.
    """
    known = np.flatnonzero(np.isfinite(seen.inner) & (arm.shares >= begin))
    if not len(known):
        return seen
    first = int(known[0])
    offsets = np.arange(-float(seen.outer[first]), float(seen.inner[first]), 1.0)
    points = arm.line[first] - arm.outward[first] * offsets[:, None]
    over = offsets[values_at(cloth, points)[0] > CLOTH]
    if not len(over):
        return seen
    # Up to that of the cloth only: an arm that bends behind the body ends there on its own.
    lacking = np.maximum(seen.inner - over[0], 0.0)
    way = (arm.shares - arm.shares[first]) * arm.length * OPENS / max(float(lacking[first]), 1.0)
    return replace(seen, inner=np.minimum(seen.inner, over[0] + lacking * ease(way)))
