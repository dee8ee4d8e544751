"""A waistband that is open to view runs round the body as the old one did, and not straight across it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.ribbon import Ribbon


def round_the_waist(ribbon: Ribbon, body: BodyModel, waistband: float, until: float) -> Ribbon:
    """Bend the upper rows of a garment along the waist in the photo.

    Args:
        ribbon: Laid square to the torso.
        body: The body.
        waistband: Height of the waistband on the axis, torso lengths.
        until: Height from which rows stay where they are.
    """
    bone = body.skeleton
    away = ribbon.target - bone.shoulders
    heights = away @ bone.down / body.torso_length
    laterals = away @ bone.right / body.shoulder_width
    share = ease((until - heights) / max(until - waistband, 1e-3))
    lower = (body.waist.line(laterals) - body.waist.height) * body.torso_length * share
    return replace(ribbon, target=np.asarray(ribbon.target + lower[..., None] * bone.down, np.float32))
