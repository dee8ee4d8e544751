"""The crease between a hanging arm and the chest: it runs up from the armpit, dark and warm, and is lost in the shoulder."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.regions import BoolMask, dilated, eroded, window_of
from engines.warp.body.bare_parts import BarePart
from engines.warp.body.silhouette import ease

CORE, CORE_DEPTH = 0.011, 0.14
"""Half width of the dark line in which the skin of arm and chest meet, in shoulder widths, and how dark it is."""

AROUND, DEPTH = 0.050, 0.20
"""The same of the soft shade on both sides of it."""

APART = 0.015
"""How far arm and torso may be apart where they still meet in it, in shoulder widths."""

LENGTH, ARMPIT, ENDS = 0.24, (0.22, 0.42), 1.0
"""How far the crease runs up from the armpit, between which places that lies, whatever the outlines of arm and torso
say, and where the last of it is lost, in shares of the upper arm."""

OF_RED, OF_BLUE = 0.72, 1.12
"""Powers to which red and blue are darkened, of what green is: light that comes out of one skin into the other is red.
"""


def armpit_creases(
    arms: dict[int, BarePart], torso: BoolMask, window: tuple[slice, slice], unit: float
) -> NDArray[np.float32]:
    """Brightness factors per channel, ``(h, w, 3)`` of a window; 1 away from the armpits.

    Args:
        arms: Both whole arms by picture side.
        torso: ``(height, width)``, the bare torso; arms are before it.
        window: Rows and columns of the picture that are wanted.
        unit: Shoulder width in pixels.
    """
    green = np.zeros(torso[window].shape, np.float32)
    for part in arms.values():
        inner = part.on & (part.across * np.float32(part.side) < 0.0) & (part.share < ENDS * part.elbow)
        # The outermost pixels of the arm before the torso, in its own window: a crease is short.
        near = window_of(inner[window], round(4.0 * AROUND * unit) + 2)
        if not green[near].size:
            continue
        on = part.on[window][near]
        line = inner[window][near] & dilated(torso[window][near] & ~on, max(1, round(APART * unit)))
        line &= ~eroded(inner[window][near], 1)
        if line.any():
            green[near] += _shade(line, part.share[window][near] / np.float32(part.elbow), unit)
    light = np.log1p(-np.minimum(green, 0.6))
    return np.asarray(cv2.exp(cv2.merge([OF_RED * light, light, OF_BLUE * light])), np.float32)


def _shade(line: BoolMask, along: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    """``(h, w)`` loss of brightness around a crease.

    Args:
        line: ``(h, w)``, its pixels.
        along: ``(h, w)`` share of the upper arm.
        unit: Shoulder width in pixels.
    """
    armpit = float(np.clip(along[line].max(), *ARMPIT))
    distance, (rows, columns) = ndimage.distance_transform_edt(~line, return_indices=True)
    there = along[rows, columns]
    strength = ease((there - armpit) / np.float32(LENGTH) + 1.0) * ease((ENDS - there) / 0.3)
    # At its upper end it does not stop across: both its sides go out softly.
    strength = cv2.GaussianBlur(strength, (0, 0), max(AROUND * unit / 2.0, 1.0))
    away = (distance / unit).astype(np.float32)
    shade = CORE_DEPTH * np.exp(-((away / CORE) ** 2)) * strength + DEPTH * np.exp(-((away / AROUND) ** 2))
    return np.asarray(shade * strength, np.float32)

