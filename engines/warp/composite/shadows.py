"""Shadows that one thing throws on the next one below it; they only ever darken."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import on_channels
from engines.warp.painting import lowered_by

SHADOW_GONE = 4.0
"""Distance at which a shadow ends, over its reach."""

REDUCTION = 2
"""Wide shadows are blurred on a copy this many times smaller."""

LOWERED = 1.5
"""How far below a cover its wide shadow lies, over its reach: light falls from above, and skin beside a neckline lies
above it."""

OWN_LIGHT, POWERS = 0.75, (0.7, 1.3)
"""How much of a shadow is lit by the surface itself, which throws its own colour into it, and bounds of the power of a
shadow in a channel that follows: a grey shadow looks like soot on skin and like dirt on cloth."""

TIGHT_REACH, TIGHT_SHARE = 0.35, 0.4
"""Where cloth touches, the shadow is darkest within this share of its reach, by this share of its depth."""

WHOLE = 0.9
"""Cover from which a layer is opaque."""


def contact_shadow(cover: NDArray[np.float32], reach: float, strength: float) -> NDArray[np.float32]:
    """Darkening just outside and a little below a cover, as a factor; inside the cover, beyond its soft edge, it is 1.

    A wide part that lies below, as light falls from above, and a narrow one all around where hardly any light comes.

    Args:
        cover: ``(h, w)`` float32, 0 to 1.
        reach: Standard deviation of the shadow in pixels.
        strength: Depth of the darkest part, 0 to 1.
    """
    # The surface behind the soft edge of the cover lies in its shadow too; otherwise a pale line would run along the
    # edge.
    whole = np.clip((cover - WHOLE) / (1 - WHOLE), 0, 1).astype(np.float32)
    within = np.asarray(cv2.erode(whole, np.ones((3, 3), np.uint8)), dtype=np.float32)
    lowered = lowered_by(cover, max(1, round(LOWERED * reach)))
    wide = np.asarray(np.clip(_widely_soft(lowered, reach) - within, 0, 1), dtype=np.float32)
    narrow = np.asarray(cv2.GaussianBlur(cover, (0, 0), max(TIGHT_REACH * reach, 0.5)), dtype=np.float32)
    tight = np.asarray(np.clip(narrow - within, 0, 1), dtype=np.float32)
    return np.asarray((1.0 - strength * wide) * (1.0 - TIGHT_SHARE * strength * tight), dtype=np.float32)


def shaded(surface: NDArray[np.float32], shadow: NDArray[np.float32]) -> NDArray[np.float32]:
    """A surface in a shadow, whose colour is that of the light that the surface throws on itself.

    Args:
        surface: ``(h, w, 3)`` float32, 0 to 1, premultiplied or not.
        shadow: ``(h, w)`` factor, above 0; where it is above 1 it is light.
    """
    darkened = np.multiply(surface, on_channels(shadow), order="C")
    places = np.flatnonzero(shadow < 0.985)
    colours = surface.reshape(-1, 3).take(places, axis=0)
    mean = colours.mean(axis=1, keepdims=True, dtype=np.float32)
    powers = np.clip(1.0 + OWN_LIGHT * (mean - colours) / np.maximum(mean, 1e-3), *POWERS)
    depth = np.log(np.maximum(shadow.take(places), 1e-3))
    darkened.reshape(-1, 3)[places] = colours * np.exp(depth[:, None] * powers)
    return np.asarray(darkened, dtype=np.float32)


def _widely_soft(cover: NDArray[np.float32], reach: float) -> NDArray[np.float32]:
    """A cover blurred by a standard deviation in pixels; a wide blur is computed on a smaller copy."""
    if reach < 2 * REDUCTION:
        return np.asarray(cv2.GaussianBlur(cover, (0, 0), max(reach, 0.5)), dtype=np.float32)
    height, width = cover.shape
    small = cv2.resize(cover, (width // REDUCTION, height // REDUCTION), interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), reach / REDUCTION)
    return np.asarray(cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)
