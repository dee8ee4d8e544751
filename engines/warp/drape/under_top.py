"""Trousers that come out under a top worn over them.

Trousers as wide as the hem of a loose shirt, or wider, look like a box that it was put on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.hip_line import half_width_as_seen
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Reals

UNDER_HEM, HEM_SEEN = 0.93, 0.06
"""Width of trousers at the hem of such a top over that of the top, which is read so far above its hem, in torso
lengths."""

HELD_UNDER_HEM = (0.20, 0.40)
"""Shares of the leg between which it goes over into its own width below."""


def room_under_top(body: BodyModel, side: int) -> float:
    """Half width that hips have under a top worn over them, pixels; infinite without one or where an arm hides it."""
    if body.waist.tucked or not body.waist.seen:
        return np.inf
    return UNDER_HEM * half_width_as_seen(body, body.waist.height - HEM_SEEN, side)


def under_top(
    body: BodyModel, side: int, shares: Reals, leg_outer: NDArray[np.float32], girth: float = 1.0
) -> NDArray[np.float32]:
    """The outer edge of a leg's cloth that comes out under a top: no further out than hips and leg are.

    Args:
        body: The body.
        side: Side of the picture.
        shares: ``(n,)`` of the leg.
        leg_outer: ``(n, 2)`` the edge there, pixels.
        girth: By what the garment is wider than one that fits.
    """
    room, bone = room_under_top(body, side) * girth, body.skeleton
    if not np.isfinite(room):
        return leg_outer
    bare = ((body.legs[side].points(shares) - bone.shoulders) @ bone.right) * side
    reach = ((leg_outer - bone.shoulders) @ bone.right) * side
    beyond = np.maximum(reach - room - np.maximum(bare - bare[0], 0.0), 0.0)
    first, last = HELD_UNDER_HEM
    held = beyond * ease((last - shares) / (last - first))
    return np.asarray(leg_outer - (side * held)[:, None] * bone.right, np.float32)
