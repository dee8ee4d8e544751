"""Trousers and skirts that come out under a top worn over them.

Those as wide as the hem of a loose shirt, or wider, look like a box that it was put on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.hip_line import half_width_as_seen
from engines.warp.body.limbs import usual_leg
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Reals

UNDER_HEM, HEM_SEEN = 0.955, 0.06
"""Width of trousers at the hem of such a top over that of the top, which is read so far above its hem, in torso
lengths."""

HELD_UNDER_HEM = (0.20, 0.40)
"""Shares of the leg between which it goes over into its own width below."""

SKIRT_UNDER_HEM, SKIRT_FREED = 0.985, 0.35
"""Width of a skirt at that hem over that of the top, and distance below it over which it goes over into its own width,
in torso lengths."""

OVER_THIGH, THIGH_FROM = 1.04, (0.08, 0.22)
"""Least width of shorts over that of an average bare thigh, and the shares of the leg between which that comes up."""


def room_under_top(body: BodyModel, side: int) -> float:
    """Half width that hips have under a top worn over them, pixels; infinite without one or where an arm hides it."""
    if body.waist.tucked or not body.waist.seen:
        return np.inf
    return UNDER_HEM * half_width_as_seen(body, body.waist.height - HEM_SEEN, side)


def under_top(
    body: BodyModel,
    side: int,
    shares: Reals,
    leg_outer: NDArray[np.float32],
    girth: float = 1.0,
    *,
    short: bool = False,
) -> NDArray[np.float32]:
    """The outer edge of a leg's cloth that comes out under a top: no further out than hips and leg are.

    Args:
        body: The body.
        side: Side of the picture.
        shares: ``(n,)`` of the leg.
        leg_outer: ``(n, 2)`` the edge there, pixels.
        girth: By what the garment is wider than one that fits.
        short: Whether the thigh comes out of it bare.
    """
    room, bone = room_under_top(body, side) * girth, body.skeleton
    if not np.isfinite(room):
        return leg_outer
    bare = ((body.legs[side].points(shares) - bone.shoulders) @ bone.right) * side
    reach = ((leg_outer - bone.shoulders) @ bone.right) * side
    beyond = np.maximum(reach - room - np.maximum(bare - bare[0], 0.0), 0.0)
    if short:
        leg = body.legs[side]
        thigh = OVER_THIGH * np.interp(shares, leg.shares, usual_leg(leg, body.shoulder_width))
        most = np.maximum(reach - bare - thigh, 0.0)
        coming = ease((shares - THIGH_FROM[0]) / (THIGH_FROM[1] - THIGH_FROM[0]))
        beyond = np.minimum(beyond, most * coming + beyond * (1.0 - coming))
    first, last = HELD_UNDER_HEM
    held = beyond * ease((last - shares) / (last - first))
    return np.asarray(leg_outer - (side * held)[:, None] * bone.right, np.float32)


def skirt_under_top(body: BodyModel, side: int, centres: NDArray[np.float32], half: Reals) -> NDArray[np.float64]:
    """Half widths of a skirt's rows, ``(n,)`` pixels, that come out within the top over them.

    Args:
        body: The body.
        side: Side of the picture.
        centres: ``(n, 2)`` middles of the rows, pixels.
        half: ``(n,)`` half widths without the top, pixels.
    """
    room, bone = room_under_top(body, side) * SKIRT_UNDER_HEM / UNDER_HEM, body.skeleton
    if not np.isfinite(room):
        return np.asarray(half, np.float64)
    away = centres - bone.shoulders
    below = away @ bone.down / body.torso_length - body.waist.height
    beyond = np.maximum(half + side * (away @ bone.right) - room, 0.0)
    return np.asarray(half - beyond * ease((SKIRT_FREED - below) / SKIRT_FREED), np.float64)
