"""Skin in the creases between two parts of the body: between an arm and the chest, between two thighs."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.filling import carried_out
from engines.garment.regions import BoolMask, closed, reaching, window_of, windows_of
from engines.labels import labelled_as
from engines.warp.body.bare_parts import COVERED
from engines.warp.body.model import BodyModel
from engines.warp.skin.tone import SKIN_LABELS

CREASE, POINT, POINTED_FROM = 0.022, 0.010, 0.15
"""Half the width of the narrowest gap between two parts of the body, in shoulder widths, in the armpit, and further
down, from the third on, in torso lengths: there the gap between an arm and a waist or a dress has a point."""

SLIT, SLIT_FROM, BESIDE_OLD = 0.058, 0.12, 0.025
"""Width of the widest slit between an arm and a garment that is closed, in shoulder widths, the height in torso
lengths from which there are any, and how far from the old garment they lie at most, in shoulder widths: a strip of wall
there looks torn."""

OPENING = 0.045
"""Width of the wall from which on a strip that ends on it is open there, in shoulder widths."""

CREASE_BLUR, FAR = 0.012, 3.0
"""Over how far the colours of both sides are mixed in a crease, in shoulder widths, and by how much farther where it
is wide."""

LEAST_SHARE = 0.05
"""Share of the body around a pixel beside it from which that lies in the body's shade."""


def across_creases(
    colour: NDArray[np.float32], cover: NDArray[np.bool_], parts: NDArray[np.bool_], unit: float
) -> NDArray[np.float32]:
    """The colour with what lies between two parts of the body in the shade of both of their edges.

    Args:
        colour: ``(height, width, 3)`` of the skin.
        cover: ``(height, width)``, where it is wanted.
        parts: ``(height, width)``, where a part of the body says how it is shaded.
        unit: Shoulder width in pixels.
    """
    between = cover & ~parts
    if not between.any():
        return colour
    mixed = colour.copy()
    # Creases lie far apart, at both sides of the body.
    for window in windows_of(between, round(3 * FAR * CREASE_BLUR * unit) + 1):
        near = parts[window].astype(np.float32)
        # In the point of a gap the edges are further away; the broad mean comes first, and the near one over it.
        for blur in (FAR * CREASE_BLUR, CREASE_BLUR):
            carried, weight = carried_out(colour[window], near, max(blur * unit, 1.0))
            known = between[window] & (weight > LEAST_SHARE)
            mixed[window][known] = carried[known]
    return mixed


def gaps(cover: NDArray[np.bool_], body: BodyModel, clothed: NDArray[np.float32]) -> NDArray[np.bool_]:
    """What is left open between an arm and the torso by a hair's breadth: it is skin in both.

    Where the gap beside a waist, bare or in a dress, is wide somewhere it runs on to a point above and below. The wall
    that is seen between two fingers stays.

    Args:
        cover: ``(height, width)``, where skin is wanted.
        body: The body in the photo.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.

    Returns:
        ``(height, width)``, all skin with these gaps.
    """
    skin = cover | labelled_as(body.labels, SKIN_LABELS)
    wide, narrow = (max(1, round(crease * body.shoulder_width)) for crease in (CREASE, POINT))
    filled = closed(skin, wide)
    hands = body.labels == Label.HANDS
    around = window_of(hands, 2 * wide)
    if hands[around].size:
        filled[around] &= ~closed(hands[around], wide) | (body.labels[around] != Label.BACKGROUND)
    pointed = filled & ~closed(skin | (clothed > COVERED), narrow) & (body.heights > POINTED_FROM)
    if not pointed.any():
        return filled
    window = window_of(pointed, 2)
    pointed[window] = reaching(pointed[window] | ~filled[window], ~filled[window]) & pointed[window]
    return np.asarray(filled & ~pointed)


def slits(
    cover: BoolMask, arms: BoolMask, body: BodyModel, clothed: NDArray[np.float32], from_old: NDArray[np.float32]
) -> BoolMask:
    """Narrow strips that the old garment leaves open between an arm and the new one: they are skin.

    A strip that opens on the wall somewhere stays.

    Args:
        cover: ``(height, width)``, where skin is wanted.
        arms: ``(height, width)``, both arms, seen and bared.
        body: The body in the photo.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.
        from_old: ``(height, width)`` distance from the old garment, pixels.

    Returns:
        ``(height, width)``.
    """
    filled = np.zeros(body.shape, bool)
    asked = (body.heights > SLIT_FROM) & (body.heights < body.crotch_height)
    asked &= from_old < BESIDE_OLD * body.shoulder_width
    size = max(2, round(SLIT * body.shoulder_width))
    window = window_of(asked, 2 * size)
    if not asked[window].size:
        return filled
    arm, cloth = arms[window], clothed[window] > COVERED
    skin = cover[window] | labelled_as(body.labels[window], SKIN_LABELS)
    row = np.ones((1, size), np.uint8)
    both, *alone = (
        cv2.morphologyEx(part.astype(np.uint8), cv2.MORPH_CLOSE, row) > 0 for part in (arm | cloth, arm, cloth)
    )
    free = ~(arm | cloth | skin)
    narrow = free & both & ~alone[0] & ~alone[1]
    wide = free & ~narrow
    # Only what is wide opens a strip; the rims of arm and cloth beside it do not.
    broad = np.ones((1, max(2, round(OPENING * body.shoulder_width))), np.uint8)
    opening = cv2.morphologyEx(wide.astype(np.uint8), cv2.MORPH_OPEN, broad) > 0
    open_ = reaching(narrow | opening, opening) & narrow
    filled[window] = narrow & ~open_ & asked[window]
    return filled
