"""Where invented skin fades into the skin that the photo shows."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import window_of
from engines.labels import labelled_as
from engines.warp.body.silhouette import ease

JOINT, LIMB_JOINT = 0.045, 0.085
"""Width of the strip of seen skin into which invented skin fades, in shoulder widths, and the same below a cuff, which
throws a broad shadow; beside the arm a top only touches it."""

TO_HAND = 0.10
"""Stretch of a wrist over which such a strip beside the old garment ends before the hand, in shoulder widths: hands
stay as they are. Only the rim that is mixed with that garment goes on."""

BELOW = (0.5, 0.9)
"""Pixels by which the distance from the old garment grows from one row to the next, from which a limb comes out of it
there, and from which it certainly does."""

WARMTH_BLURS, LIKE_SKIN = (3.0, 0.5), (0.65, 0.85)
"""Pixels over which the colour of what is seen is averaged, widely and hardly, and its colourfulness over that of the
invented skin from which it may be skin, and from which it is: the ink of a tattoo is not faded."""

AT_OLD = 0.02
"""Distance from the old garment up to which such a rim shows its shadow, in shoulder widths; over as much again it
comes to its own shade."""

LARGEST_CUFF = 0.06
"""Distance from the old garment up to which its cuffs' shadows are looked for, in heights of the photo."""

SHADOW_REACH, SHADOW, IN_SHADOW = 0.13, 0.10, (0.35, 0.6)
"""How far the shadow of an old cuff or hem reaches on seen skin, in shoulder widths; by how much darker than invented
skin it is for certain, in units of full white; and what `LIKE_SKIN` is in such a shadow, whose light is bluish."""

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
    if not beside.any():
        return share
    window = window_of(beside, round(3 * WARMTH_BLURS[0]))
    near = beside[window]
    seen, invented, distance = photo[beside], skin[beside], from_old[beside] / np.float32(unit)
    darker = (invented.sum(axis=1) - seen.sum(axis=1)) / 3.0
    shaded = ease(darker / SHADOW) * like_skin(photo[window], skin[window], IN_SHADOW)[near]
    cuff = _under_cuff(photo, skin, from_old, labels)[beside]
    joint = JOINT + (LIMB_JOINT - JOINT) * cuff
    share[beside] = np.maximum(
        ease(1.25 * (1.0 - distance / joint)), ease(1.25 * (1.0 - distance / SHADOW_REACH)) * shaded
    )
    hands = labels[window] == Label.HANDS
    if hands.any():
        away = cv2.distanceTransform((~hands).astype(np.uint8), cv2.DIST_L2, 5)
        at_rim = ease(2.0 * (1.0 - distance / AT_OLD))
        share[beside] *= np.maximum(np.maximum(cuff, at_rim), ease(np.asarray(away)[near] / np.float32(TO_HAND * unit)))
    return share


def _under_cuff(
    photo: NDArray[np.float32], skin: NDArray[np.float32], from_old: NDArray[np.float32], labels: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """``(height, width)``, 1 on the skin of limbs below the old garment, 0 elsewhere and on tattoos."""
    share = np.zeros(labels.shape, np.float32)
    limbs = labelled_as(labels, (Label.ARMS, Label.LEGS)) & (from_old < LARGEST_CUFF * labels.shape[0])
    if not limbs.any():
        return share
    window = window_of(limbs, 8)
    grown = cv2.Sobel(
        cv2.GaussianBlur(from_old[window], (0, 0), WARMTH_BLURS[0]), cv2.CV_32F, 0, 1, ksize=3, scale=0.125
    )
    below = ease((np.asarray(grown) - BELOW[0]) / (BELOW[1] - BELOW[0]))
    share[window] = below * like_skin(photo[window], skin[window]) * limbs[window]
    return share


def like_skin(
    photo: NDArray[np.float32], skin: NDArray[np.float32], bounds: tuple[float, float] = LIKE_SKIN
) -> NDArray[np.float32]:
    """0 on what is less coloured than the invented skin in its place, a tattoo, to 1 on skin, ``(height, width)``.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        skin: The invented skin, of the same shape.
        bounds: As `LIKE_SKIN`.
    """
    usual = np.maximum(_warmth(skin), 0.02)
    # The edge of ink is seen near by, and its single pale pixels from farther away.
    ratios = [_warmth(np.asarray(cv2.GaussianBlur(photo, (0, 0), blur), np.float32)) / usual for blur in WARMTH_BLURS]
    ratio = np.asarray(np.minimum(*ratios), np.float32)
    return ease((ratio - bounds[0]) / (bounds[1] - bounds[0]))


def _warmth(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    """How colourful skin is, by what its red is stronger than its blue."""
    return np.asarray((colours[..., 0] - colours[..., 2]) / np.maximum(colours[..., 0], 0.05), np.float32)
