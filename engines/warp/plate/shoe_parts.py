"""Parts of shoes that the labels give to the trousers above them: collars and their lining, heels behind a hem."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.channels import brightness, largest_channel
from engines.filling import fill_from
from engines.garment.regions import BoolMask, closed, dilated, eroded, opened, spread, window_of
from engines.labels import labelled_as

AROUND = 0.22
"""How far around shoes their parts are looked for, in shoulder widths."""

REDUCED = 8
"""Factor by which the colour of the trousers is worked out smaller."""

UNLIKE_CLOTH = 0.13
"""Least difference from the trousers' colour of what is none of them, per channel on average, of full white."""

SURE_CLOTH, OFF_CLOTH = 0.025, 0.016
"""Half the width of what is surely cloth, and how far from it a light edge is no hem, in shoulder widths."""

SKIN = (Label.FACE, Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS)

SKIN_HUE, SKIN_TONES, LEAST_SKIN = 0.09, (0.15, 1.3), 200
"""Largest difference from the colour of skin at equal brightness, and brightness over it, of what may be an ankle, and
pixels of seen skin from which its colour is known."""

LEAST_PART = 0.0002
"""Area of the smallest part of a shoe, in squared shoulder widths."""

COLLAR_REACH = 0.060
"""How far the inside of a shoe is seen within its collar, in shoulder widths."""

HEEL_WIDTH, LEAST_HEEL, LONGEST_HEEL = 0.036, 0.0012, 0.012
"""Half the width below which what stands out of a hem beside a shoe may be its heel, and between which areas it is one,
in shoulder widths and their squares."""

HEEL_CONTACT = 0.035
"""Length over which a heel touches its shoe, in shoulder widths."""

HEEL_SHARE, LIKE_HEEL = 15.0, 0.07
"""Percentage of the shoe beside a heel that looks like it, and the largest difference per channel that does."""


def shoes_completed(photo: NDArray[np.float32], labels: NDArray[np.uint8], unit: float) -> NDArray[np.uint8]:
    """Labels in which those parts are shoes.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        unit: Shoulder width in pixels.
    """
    feet = np.asarray(labels == Label.FEET)
    if not feet.any():
        return labels
    window = window_of(feet, round(2 * AROUND * unit))
    own = labels[window]
    trousers, feet = np.asarray(own == Label.LOWER), feet[window]
    near = trousers & dilated(feet, round(AROUND * unit))
    if not near.any():
        return labels
    found = (
        _unlike_cloth(photo, labels, window, near, unit) | _heels(photo[window], trousers, near, feet, unit)
    ) & near
    if not found.any():
        return labels
    told = labels.copy()
    told[window] = np.where(found, np.uint8(Label.FEET), own)
    return told


def inside_shoes(
    ankles: BoolMask, skin: NDArray[np.float32], labels: NDArray[np.uint8], unit: float
) -> NDArray[np.float32]:
    """Where the photo shows the inside of a shoe between its collar and the ankle that is drawn, ``(height, width)``.

    What was a shaded ankle there passes for lining; the wall behind would be a hole in the shoe.

    Args:
        ankles: ``(height, width)``, ankles in the shadow of an old hem, as seen.
        skin: ``(height, width)`` cover of the skin that is drawn, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        unit: Shoulder width in pixels.
    """
    inside = np.zeros(ankles.shape, np.float32)
    reach = max(2, round(COLLAR_REACH * unit))
    window = window_of(ankles, 2 * reach)
    collar = ((labels[window] == Label.FEET) & ~ankles[window]).astype(np.uint8)
    beside = cv2.dilate(collar, np.ones((1, 2 * reach + 1), np.uint8)) > 0
    kept = opened(ankles[window] & beside & (skin[window] < 0.5), 1)
    # It goes on below the soft edge of the ankle.
    inside[window] = cv2.GaussianBlur((dilated(kept, 2) & ankles[window]).astype(np.float32), (0, 0), 0.7)
    return inside


def _unlike_cloth(
    photo: NDArray[np.float32],
    labels: NDArray[np.uint8],
    window: tuple[slice, slice],
    near: BoolMask,
    unit: float,
) -> BoolMask:
    """What hangs together with a shoe and has the colour neither of the trousers nor of skin, ``(h, w)``."""
    trousers, feet = (np.asarray(labels[window] == label) for label in (Label.LOWER, Label.FEET))
    inner = eroded(trousers, max(2, round(SURE_CLOTH * unit)))
    if not inner.any():
        return np.zeros(near.shape, bool)
    picture = np.asarray(cv2.GaussianBlur(photo[window], (0, 0), 0.6), np.float32)
    from_cloth = brightness(np.abs(picture - fill_from(picture, inner, REDUCED)))
    other = trousers & (from_cloth > UNLIKE_CLOTH)
    cloth = opened(trousers & ~other, max(2, round(SURE_CLOTH * unit)))
    part = near & other & ~dilated(cloth, max(2, round(OFF_CLOTH * unit))) & ~_like_skin(photo, labels, picture)
    part = spread(dilated(feet, 2) & part, part)
    part = closed(part | feet, max(2, round(OFF_CLOTH * unit))) & near & ~cloth & dilated(part, 3)
    numbered, count = ndimage.label(part)
    areas = np.bincount(numbered.ravel(), minlength=count + 1)
    return opened(part & (areas[numbered] > LEAST_PART * unit * unit), 1)


def _like_skin(photo: NDArray[np.float32], labels: NDArray[np.uint8], picture: NDArray[np.float32]) -> BoolMask:
    """Where a part of the photo has the colour of the person's skin, ``(h, w)``, in whatever light."""
    skin = eroded(labelled_as(labels, SKIN), 3)
    if skin.sum() < LEAST_SKIN:
        return np.zeros(picture.shape[:2], bool)
    usual = np.median(photo[skin], axis=0)
    tone = brightness(picture) / max(float(usual.mean()), 1e-3)
    hue = largest_channel(np.abs(picture / np.maximum(tone, 0.05)[..., None] - usual))
    return np.asarray((hue < SKIN_HUE / np.maximum(tone, 0.5)) & (tone > SKIN_TONES[0]) & (tone < SKIN_TONES[1]))


def _heels(photo: NDArray[np.float32], trousers: BoolMask, near: BoolMask, feet: BoolMask, unit: float) -> BoolMask:
    """Narrow pieces that stand out of a hem beside a shoe and have a colour that it has there, ``(h, w)``."""
    narrow = near & ~opened(trousers, max(3, round(HEEL_WIDTH * unit)))
    numbered, _ = ndimage.label(narrow)
    found, touching = np.zeros(near.shape, bool), dilated(feet, 2)
    margin = max(3, round(HEEL_CONTACT * unit))
    for number, place in enumerate(ndimage.find_objects(numbered), start=1):
        piece = numbered[place] == number
        if not LEAST_HEEL * unit * unit < piece.sum() < LONGEST_HEEL * unit * unit:
            continue
        if (piece & touching[place]).sum() < 2 * HEEL_CONTACT * unit:
            continue
        around = tuple(slice(max(0, side.start - margin), side.stop + margin) for side in place)
        colour = np.median(photo[place][piece], axis=0)
        beside = np.abs(photo[around][feet[around]] - colour).mean(axis=1)
        if len(beside) and np.percentile(beside, HEEL_SHARE) < LIKE_HEEL:
            found[place] |= piece
    return found
