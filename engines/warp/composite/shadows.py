"""Shadows that one thing throws on the next one below it; they only ever darken."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import on_channels
from engines.garment.regions import window_of
from engines.warp.blending import lowered_by
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease

ARM_SHADOW = 0.18
"""How much a hanging arm darkens the torso beside it."""

ON_NECK, NECK_UNTIL = 0.4, (0.0, 0.10)
"""Share of a garment's shadow that falls on the neck above its neckline, where light comes from above; and heights in
torso lengths between which it grows to the whole."""

SHADOW_GONE = 4.0
"""Distance at which nothing is left of a shadow, over its reach."""

REDUCTION = 2
"""Wide shadows are blurred on a copy this many times smaller."""

LOWERED = 1.5
"""How far below a cover its wide shadow lies, over its reach: light falls from above, and skin beside a neckline lies
above it."""

OWN_LIGHT = 0.75
"""How much of a shadow is lit by the surface itself, which throws its own colour into it: a grey shadow looks like soot
on skin and like dirt on cloth."""

SKIN_LIGHT, SKIN_HUES = 1.5, (0.25, 0.45)
"""The same of skin, into which light goes and comes out redder: pale skin would be grey in a shadow. And how far the
green of a colour lies below its red, over the distance of red and blue, from which it is not skin's and is skin's."""

POWERS = (0.7, 1.3)
"""Least and largest power of a shadow in a channel."""

NOTICED = 0.985
"""Factor of a shadow from which on its colour is seen."""

TIGHT_REACH, TIGHT_SHARE = 0.35, 0.4
"""Where cloth touches, the shadow is darkest within this share of its reach, by this share of its depth."""

SHOE_EDGE = 0.7
"""Softness of the edge of shoes as they are labelled, pixels (standard deviation)."""

WHOLE = 0.9
"""Cover from which nothing shows through."""

CREASE_REACH, CREASE_DEPTH = 0.008, 0.45
"""Width of the dark line where a sleeve lies on cloth of its own kind, in shoulder widths (standard deviation), and how
much darker it is: in photos of people in long sleeves it is half as light as the cloth, and two hundredths wide."""


def contact_shadow(cover: NDArray[np.float32], reach: float, strength: float) -> NDArray[np.float32]:
    """Darkening just outside and a little below a cover, as a factor; inside the cover, beyond its soft edge, it is 1.

    A wide part that lies below, as light falls from above, and a narrow one all around where hardly any light comes.

    Args:
        cover: ``(h, w)`` float32, 0 to 1.
        reach: Standard deviation of the shadow in pixels.
        strength: Depth of the darkest part, 0 to 1.
    """
    # What shows through the soft edge of the cover lies in its shadow too: lit, it would be a pale line along the edge.
    whole = np.clip((cover - WHOLE) / (1 - WHOLE), 0, 1).astype(np.float32)
    within = np.asarray(cv2.erode(whole, np.ones((3, 3), np.uint8)), dtype=np.float32)
    lowered = lowered_by(cover, max(1, round(LOWERED * reach)))
    wide = np.asarray(np.clip(_widely_soft(lowered, reach) - within, 0, 1), dtype=np.float32)
    narrow = np.asarray(cv2.GaussianBlur(cover, (0, 0), max(TIGHT_REACH * reach, 0.5)), dtype=np.float32)
    tight = np.asarray(np.clip(narrow - within, 0, 1), dtype=np.float32)
    return np.asarray((1.0 - strength * wide) * (1.0 - TIGHT_SHARE * strength * tight), dtype=np.float32)


def crease_beside(cover: NDArray[np.float32], shoulder_width: float) -> NDArray[np.float32]:
    """The dark line just outside a cover that lies on something of its own colour, as a factor; inside it is 1.

    Without it, one would not see where the one ends and the other one begins.

    Args:
        cover: ``(h, w)`` float32, 0 to 1.
        shoulder_width: Pixels.
    """
    soft = np.asarray(cv2.GaussianBlur(cover, (0, 0), max(CREASE_REACH * shoulder_width, 0.7)), dtype=np.float32)
    return np.asarray(1.0 - CREASE_DEPTH * np.clip(2.0 * soft * (1.0 - cover), 0.0, 1.0), dtype=np.float32)


def shaded(surface: NDArray[np.float32], shadow: NDArray[np.float32]) -> NDArray[np.float32]:
    """A surface in a shadow, whose colour is that of the light that the surface throws on itself.

    Args:
        surface: ``(h, w, 3)`` float32, 0 to 1, premultiplied or not.
        shadow: ``(h, w)`` factor, above 0; where it is above 1 it is light.
    """
    darkened = np.multiply(surface, on_channels(shadow), order="C")
    places = np.flatnonzero(shadow < NOTICED)
    colours = surface.reshape(-1, 3).take(places, axis=0)
    depth = np.log(np.maximum(shadow.take(places), 1e-3))
    mean = (colours[:, :1] + colours[:, 1:2] + colours[:, 2:]) / np.float32(3)
    powers = np.clip(1.0 + _own_light(colours) * (mean - colours) / np.maximum(mean, 1e-3), *POWERS)
    darkened.reshape(-1, 3)[places] = colours * np.exp(depth[:, None] * powers)
    return np.asarray(darkened, dtype=np.float32)


def _own_light(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    """How much of a shadow surfaces of these colours, ``(n, 3)``, light themselves, ``(n, 1)``."""
    red, green, blue = colours[:, :1], colours[:, 1:2], colours[:, 2:]
    hue = (red - green) / np.maximum(red - blue, 1e-3)
    like_skin = np.clip((hue - SKIN_HUES[0]) / (SKIN_HUES[1] - SKIN_HUES[0]), 0, 1) * (red > blue)
    return np.asarray(OWN_LIGHT + (SKIN_LIGHT - OWN_LIGHT) * like_skin, np.float32)


def weaker_on_neck(shadow: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    """A garment's shadow as it falls on the neck: what lies above a neckline is not below the cloth.

    Args:
        shadow: ``(h, w)`` factor, 1 where none falls.
        body: The body.
    """
    share = ON_NECK + (1.0 - ON_NECK) * ease((body.heights - NECK_UNTIL[0]) / (NECK_UNTIL[1] - NECK_UNTIL[0]))
    return np.asarray(1.0 - (1.0 - shadow) * share, dtype=np.float32)


def shadow_of_cuffs(
    cuffs: list[NDArray[np.float32]], arms: NDArray[np.float32], reach: float, strength: float
) -> NDArray[np.float32]:
    """`contact_shadow` that sleeves alone throw on the arms that come out of them and hang before the garment.

    The torso's own would end where the torso begins behind such an arm, in a line across the skin.

    Args:
        cuffs: ``(h, w)`` covers of the sleeves.
        arms: ``(h, w)`` cover of the arms; elsewhere the factor is 1.
        reach: Standard deviation of the shadow in pixels.
        strength: Depth of the darkest part, 0 to 1.
    """
    factor, (window, shadow) = np.ones_like(arms), _cast_on(arms, cuffs, reach, strength)
    factor[window] = shadow
    return factor


def shadow_on_shoes(
    legs: NDArray[np.float32], shoes: NDArray[np.float32], reach: float, strength: float
) -> NDArray[np.float32]:
    """`contact_shadow` of legs of trousers on the shoes they rest on: hardly any light gets under a hem.

    Args:
        legs: ``(h, w)`` cover of the trousers.
        shoes: ``(h, w)`` cover of the shoes; elsewhere the factor is 1.
        reach: Standard deviation of the shadow in pixels.
        strength: Depth of the darkest part, 0 to 1.
    """
    factor, (window, shadow) = np.ones_like(legs), _cast_on(shoes, [legs], reach, strength)
    if shadow.size:
        soft = cv2.GaussianBlur(shoes[window].astype(np.float32), (0, 0), SHOE_EDGE)
        factor[window] = 1 - (1 - shadow) * soft
    return factor


def _cast_on(
    surface: NDArray[np.float32], covers: list[NDArray[np.float32]], reach: float, strength: float
) -> tuple[tuple[slice, slice], NDArray[np.float32]]:
    """`contact_shadow` of covers together in the window in which it may fall on a surface, and that window."""
    window = window_of(surface > 0, round(SHADOW_GONE * reach))
    casting = np.maximum.reduce([cover[window] for cover in covers])
    return window, contact_shadow(casting, reach, strength) if casting.size else casting


def shadow_of_arms(arms: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    """Soft darkening of the torso next to arms that hang in front of it or beside it.

    Args:
        arms: ``(h, w)`` float32 cover of sleeves and bare arms, 0 to 1.
        body: The body.
    """
    lower = arms * ease((body.heights - 0.2) / 0.2)
    soft = _widely_soft(lower.astype(np.float32), 0.035 * body.shoulder_width)
    return np.asarray(1.0 - ARM_SHADOW * soft, dtype=np.float32)


def _widely_soft(cover: NDArray[np.float32], reach: float) -> NDArray[np.float32]:
    """A cover blurred by a standard deviation in pixels; on a smaller copy where nobody can tell."""
    if reach < 2 * REDUCTION:
        return np.asarray(cv2.GaussianBlur(cover, (0, 0), max(reach, 0.5)), dtype=np.float32)
    height, width = cover.shape
    small = cv2.resize(cover, (width // REDUCTION, height // REDUCTION), interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), reach / REDUCTION)
    return np.asarray(cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)
