"""A waistband that is open to view runs round the body as the old one did, and not straight across it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease, towards
from engines.warp.ribbon import Ribbon

TURNED = 0.45
"""Cosine of a row's angle to the waist from which nothing of it is bent along the waist."""


def round_the_waist(ribbon: Ribbon, body: BodyModel, waistband: float, until: float, *, thigh: bool = False) -> Ribbon:
    """Bend the upper rows of a garment along the waist in the photo.

    Args:
        ribbon: Laid square to the torso.
        body: The body.
        waistband: Height of the waistband on the axis, torso lengths.
        until: Height from which rows stay where they are.
        thigh: Whether rows that turn over a raised thigh stay there too, as those of legs do.
    """
    bone = body.skeleton
    away = ribbon.target - bone.shoulders
    heights = away @ bone.down / body.torso_length
    laterals = away @ bone.right / body.shoulder_width
    share = ease((until - heights) / max(until - waistband, 1e-3))
    if thigh:
        level = np.abs(towards(ribbon.target[:, -1] - ribbon.target[:, 0]) @ bone.right)[:, None]
        share = share * np.clip((level - TURNED) / (1.0 - TURNED), 0.0, 1.0)
    lower = (body.waist.line(laterals) - body.waist.height) * body.torso_length * share
    return replace(ribbon, target=np.asarray(ribbon.target + lower[..., None] * bone.down, np.float32))
