"""The line from neck to shoulder as the photo shows it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body import NECK_HALF_WIDTH, NECK_RISE, BodyModel
from engines.warp.silhouette import reach

MOST_AT_NECK = 0.30
"""Highest believable rise of a shoulder where it meets the neck, in shoulder widths; what is higher is a collar."""

HOLLOW = 1.3
"""Exponent of the bare shoulder's rise from the tip to the neck; 1 is straight."""

CLOTH_ON_TOP = 0.010
"""Thickness of cloth above the skin, in shoulder widths."""


def shoulder_rise(body: BodyModel, offsets: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """How far the shoulder lies above the mid-shoulder at offsets from the axis.

    The silhouette without hair and face, bounded by what a bare shoulder can be: an old collar or hood is
    higher. Where hair or a raised hand leaves nothing to measure, the usual form of a shoulder.

    Args:
        body: The body.
        offsets: ``(n,)`` pixels from the axis.
        side: Picture side.

    Returns:
        ``(n,)`` pixels.
    """
    unit, bone = body.shoulder_width, body.skeleton
    tip_rise = float((bone.shoulders - body.tips[side]) @ bone.down)
    tip, neck = body.tip_offset(side), NECK_HALF_WIDTH * unit
    share = np.clip((tip - offsets) / max(tip - neck, 1.0), 0, 1)
    # A bare shoulder is hollow between neck and tip; beyond the tip it falls off.
    beyond = -0.5 * np.maximum(offsets - tip, 0)
    usual = tip_rise + max(NECK_RISE * unit - tip_rise, 0.06 * unit) * share**HOLLOW + beyond
    most = tip_rise + max(MOST_AT_NECK * unit - tip_rise, 0.12 * unit) * share + 0.02 * unit
    solid = (body.matte > 0.5) & ~np.isin(body.labels, (Label.HAIR, Label.FACE))
    starts = body.point(np.zeros(len(offsets), np.float32), (offsets * side).astype(np.float32))
    measured = reach(solid, starts, -bone.down, 0.5 * unit).astype(np.float64)
    believed = np.isfinite(measured) & (measured > 0.6 * usual)
    return np.where(believed, np.minimum(measured, np.maximum(most, usual)), usual) + CLOTH_ON_TOP * unit
