"""What is seen between the legs of trousers: the shadow of the near one, and a dark line where they touch."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from engines.channels import on_channels
from engines.garment.regions import window_of
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Piece

LEG_SHADOW, LEG_SHADOW_REACH, LEG_SHADOW_FROM = 0.26, 0.035, 0.12
"""Depth of the shadow that the near leg throws on the far one, its width in shoulder widths, and over how many torso
lengths below the crotch it comes up."""

SHADOW_GONE = 3.5
"""Distance at which nothing is left of that, over its width."""

SEAM_SHADOW, SEAM_REACH = 0.32, 0.010
"""Depth and width of the dark line where the legs touch."""


def joined_at_crotch(pieces: list[Piece], body: BodyModel) -> list[Piece]:
    """The far leg in the shadow of the near one below the crotch, darkest where they touch, and the near one.

    Without it two plain legs flow into one.
    """
    far, near = pieces
    unit = body.shoulder_width
    below_crotch = body.heights > body.crotch_height
    window = window_of((near.alpha > 0) & below_crotch, round(SHADOW_GONE * LEG_SHADOW_REACH * unit))
    if not near.alpha[window].size:
        return pieces
    cover = np.ascontiguousarray(near.alpha[window])
    below = ease((body.heights[window] - body.crotch_height) / LEG_SHADOW_FROM)
    factor = np.ones_like(cover)
    for depth, reach in ((LEG_SHADOW, LEG_SHADOW_REACH), (SEAM_SHADOW, SEAM_REACH)):
        beside = np.asarray(cv2.GaussianBlur(cover, (0, 0), max(reach * unit, 0.7)), np.float32)
        factor *= 1.0 - np.float32(depth) * np.clip(2.0 * beside, 0.0, 1.0) * below
    colour = far.colour.copy()
    colour[window] *= on_channels(factor)
    return [replace(far, colour=colour), near]
