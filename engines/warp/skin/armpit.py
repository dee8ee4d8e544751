"""The crease between a hanging arm and the chest: dark and warm in the armpit, from where it runs up and is lost."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.channels import on_channels
from engines.garment.regions import BoolMask, dilated, eroded, window_of
from engines.warp.body.bare_parts import COVERED, BarePart
from engines.warp.body.silhouette import ease

CORE, CORE_DEPTH = 0.011, 0.14
"""Half width of the dark line in which the skin of arm and chest meet, in shoulder widths, and how dark it is."""

AROUND, DEPTH = 0.050, 0.20
"""The same of the soft shade on both sides of it."""

REACH = 2.5
"""Distance from the line at which nothing is left of that shade, over its half width."""

APART = 0.015
"""How far arm and torso may be apart where they still meet in it, in shoulder widths."""

LENGTH, ARMPIT, ENDS = 0.24, (0.22, 0.42), 0.85
"""How far the crease runs up from the armpit, between which places that lies, whatever the outlines of arm and torso
say, and where the last of it is lost, in shares of the upper arm."""

BENT = 0.05
"""How far the crease is bent outwards over the arm at its upper end, in shoulder widths."""

ONE_SURFACE = 0.035
"""Over what distance arm and chest go over into one another above the crease, in shoulder widths."""

OF_RED, OF_BLUE = 0.62, 1.15
"""Powers to which red and blue are darkened, of what green is: light that comes out of one skin into the other is red.
"""


@dataclass(frozen=True)
class _Meeting:
    """Where an arm lies before the torso.

    Attributes:
        window: Rows and columns of the picture.
        line: ``(h, w)``, the inner edge of the arm, as far as no cloth lies on it.
        along: ``(h, w)``, 0 at the shoulder to 1 at the elbow.
        armpit: Where on that way the armpit lies.
        side: Side of the picture, -1 or 1, of the arm.
    """

    window: tuple[slice, slice]
    line: BoolMask
    along: NDArray[np.float32]
    armpit: float
    side: int


def draw_armpits(
    colour: NDArray[np.float32],
    arms: dict[int, BarePart],
    torso: BoolMask,
    *,
    hidden: NDArray[np.float32],
    clothed: NDArray[np.float32],
    unit: float,
) -> None:
    """Draw the creases of both armpits into invented skin, in place.

    Args:
        colour: ``(height, width, 3)`` sRGB, 0 to 1.
        arms: Both whole arms by picture side.
        torso: ``(height, width)``, the bare torso; arms are before it.
        hidden: ``(height, width)`` 1 on skin that is invented, to 0 on skin that is seen.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1; it throws a shadow of its own.
        unit: Shoulder width in pixels.
    """
    for part in arms.values():
        meeting = _meeting(part, torso, clothed, unit)
        if meeting is None:
            continue
        strength, away = _strength(meeting, meeting.line, meeting.along, unit)
        # Above the crease there is no edge between them.
        one = np.exp(-((away / (2.0 * ONE_SURFACE)) ** 2)) * (1.0 - strength)
        own = colour[meeting.window]
        blurred = np.asarray(cv2.GaussianBlur(own, (0, 0), max(ONE_SURFACE * unit, 1.0)), np.float32)
        own += (blurred - own) * on_channels(one.astype(np.float32) * hidden[meeting.window])
        light = np.log1p(-_shade(meeting, strength, unit) * hidden[meeting.window])
        own *= cv2.exp(cv2.merge([OF_RED * light, light, OF_BLUE * light]))


def _meeting(part: BarePart, torso: BoolMask, clothed: NDArray[np.float32], unit: float) -> _Meeting | None:
    """Where an arm lies before the torso; None where it does not."""
    arm = window_of(part.on & (part.share < ENDS * part.elbow), round(APART * unit) + 1)
    if not part.on[arm].any():
        return None
    inner = part.on[arm] & (part.across[arm] * np.float32(part.side) < 0.0) & (part.share[arm] < ENDS * part.elbow)
    line = np.zeros(torso.shape, bool)
    line[arm] = inner & ~eroded(inner, 1)
    line[arm] &= dilated(torso[arm] & ~part.on[arm], max(1, round(APART * unit)))
    open_ = line & (clothed < COVERED)
    window = window_of(open_, round(REACH * AROUND * unit) + 1)
    if not open_[window].any():
        return None
    armpit = float(np.clip(part.share[arm][line[arm]].max() / part.elbow, *ARMPIT))
    return _Meeting(window, open_[window], part.share[window] / np.float32(part.elbow), armpit, part.side)


def _strength(
    meeting: _Meeting, line: BoolMask, along: NDArray[np.float32], unit: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How much of a crease there is, and how far it is away in shoulder widths, ``(h, w)`` each."""
    distance, (rows, columns) = ndimage.distance_transform_edt(~line, return_indices=True)
    there = along[rows, columns]
    strength = ease((there - meeting.armpit) / np.float32(LENGTH) + 1.0) * ease((ENDS - there) / 0.3)
    # At its upper end it does not stop across: both its sides go out softly.
    soft = cv2.GaussianBlur(strength, (0, 0), max(AROUND * unit / 2.0, 1.0))
    return np.asarray(soft, np.float32), (distance / unit).astype(np.float32)


def _shade(meeting: _Meeting, strength: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    """``(h, w)`` loss of brightness in a crease, which bends outwards to where it is lost.

    Args:
        meeting: Arm and torso.
        strength: ``(h, w)`` of the crease along the line where they meet, 0 to 1.
        unit: Shoulder width in pixels.
    """
    rows, columns = np.nonzero(meeting.line)
    bend = np.rint(BENT * unit * (1.0 - strength[rows, columns]) ** 2).astype(np.int64)
    aside = np.clip(columns + meeting.side * bend, 0, meeting.line.shape[1] - 1)
    bent = np.zeros_like(meeting.line)
    bent[rows, aside] = True
    bent_along = np.zeros_like(meeting.along)
    bent_along[rows, aside] = meeting.along[rows, columns]
    strength, away = _strength(meeting, bent, bent_along, unit)
    shade = CORE_DEPTH * np.exp(-((away / CORE) ** 2)) * strength + DEPTH * np.exp(-((away / AROUND) ** 2))
    return np.asarray(shade * strength, np.float32)
