"""The line from neck to shoulder as the photo shows it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.model import NECK_HALF_WIDTH, NECK_RISE, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import reach

MOST_AT_NECK = 0.30
"""Highest believable rise of a shoulder where it meets the neck, in shoulder widths; what is higher is a collar."""

UNDER_CLOTH, ROUNDING, ROUNDING_IN_SLEEVE = 0.012, 0.050, 0.032
"""How far the shoulder lies below the silhouette of the cloth worn on it, everywhere and in addition at the tip, where
it stays bare and where a sleeve goes on from it; in shoulder widths."""

HOLLOW = 1.3
"""Exponent of the bare shoulder's rise from the tip to the neck; 1 is straight."""

CLOTH_ON_TOP = 0.010
"""Thickness of cloth above the skin, in shoulder widths."""


def shoulder_rise(
    body: BodyModel, offsets: NDArray[np.float64], side: int, *, under_sleeve: bool = False
) -> NDArray[np.float64]:
    """How far the shoulder lies above the mid-shoulder at offsets from the axis.

    The silhouette without hair and face, bounded by what a bare shoulder can be: an old collar or hood is
    higher. Where hair or a raised hand leaves nothing to measure, the usual form of a shoulder.

    Args:
        body: The body.
        offsets: ``(n,)`` pixels from the axis.
        side: Picture side.
        under_sleeve: Whether a sleeve goes on from the shoulder and has some thickness there.

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
    solid = (body.matte > 0.5) & ~labelled_as(body.labels, (Label.HAIR, Label.FACE))
    starts = body.point(np.zeros(len(offsets), np.float32), (offsets * side).astype(np.float32))
    measured = reach(solid, starts, -bone.down, 0.5 * unit).astype(np.float64)
    believed = np.isfinite(measured) & (measured > 0.6 * usual)
    rise = np.where(believed, np.minimum(measured, np.maximum(most, usual)), usual)
    # Cloth on the shoulder hides how the shoulder rounds off below it.
    hidden = believed & _clothed(body, starts - bone.down * (measured - 2)[:, None])
    rounding = ROUNDING_IN_SLEEVE if under_sleeve else ROUNDING
    rounded = UNDER_CLOTH + rounding * np.clip((offsets / tip - 0.6) / 0.4, 0, 1) ** 2
    return rise - hidden * rounded * unit + CLOTH_ON_TOP * unit


def _clothed(body: BodyModel, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of the points, ``(n, 2)``, lie on cloth in the photo; those outside the picture do not."""
    label, framed = values_at(body.labels, np.nan_to_num(points, nan=-1.0))
    return np.asarray(framed & labelled_as(label, (Label.UPPER, Label.FULL)))
