"""Where invented skin fades into the skin that the photo shows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.silhouette import ease

JOINT = 0.045
"""Width of the strip of seen skin into which invented skin fades, in shoulder widths."""

SHADOW_REACH, SHADOW, SHADOW_WARMTH = 0.13, 0.10, 0.8
"""How far the shadow of an old cuff or hem reaches on seen skin, in shoulder widths; by how much darker than invented
skin it is for certain, in units of full white; and its least colourfulness over that of skin."""

JOINED_SKIN = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.LEGS)
"""Skin into which it does: hands and faces have lines of their own."""


def faded_into_seen(
    photo: NDArray[np.float32],
    skin: NDArray[np.float32],
    from_old: NDArray[np.float32],
    labels: NDArray[np.uint8],
    unit: float,
) -> NDArray[np.float32]:
    """How far invented skin fades into seen skin: the dark line that a cuff or neckline threw there goes with it.

    The shadow below that line goes too, but for what is dark of itself: a tattoo is less coloured than skin.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        skin: The invented skin, of the same shape.
        from_old: ``(height, width)`` distance from the old garment, pixels.
        labels: ``(height, width)`` of `Label`.
        unit: Shoulder width in pixels.
    """
    share = np.zeros(labels.shape, np.float32)
    beside = (from_old < SHADOW_REACH * unit) & labelled_as(labels, JOINED_SKIN)
    seen, invented, distance = photo[beside], skin[beside], from_old[beside] / np.float32(unit)
    darker = (invented.sum(axis=1) - seen.sum(axis=1)) / 3.0
    warm, usual = ((pixels[:, 0] - pixels[:, 2]) / np.maximum(pixels[:, 0], 0.05) for pixels in (seen, invented))
    shaded = ease(darker / SHADOW) * (warm > SHADOW_WARMTH * usual)
    share[beside] = np.maximum(
        ease(1.25 * (1.0 - distance / JOINT)), ease(1.25 * (1.0 - distance / SHADOW_REACH)) * shaded
    )
    return share
