"""Where a garment goes round the body: beside it there is an arm or the wall, and no torso."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, closed
from engines.warp.body.model import BodyModel

ARMHOLES, CORNER = (0.10, 0.38), 0.01
"""Heights between which armholes end, torso lengths below the shoulders, and how much narrower than further down a
garment may be where they do, in shoulder widths; below, it goes round the body."""

DEEPEST_NECK = 0.60
"""Height down to which the axis of the body may be bare within a neckline, in torso lengths."""

WORN = 0.5
"""Cover from which a pixel is cloth."""

LACE = 0.03
"""Radius of the holes that cloth may have, in shoulder widths."""

ROUND_HEM = 0.12
"""How far above the middle of a hem its ends may lie, in shoulder widths; below them is the body and not the wall."""


def beside_garment(body: BodyModel, clothed: NDArray[np.float32]) -> BoolMask:
    """What lies to the left and the right of a closed garment.

    The body in the photo is as wide as its old clothes; a new garment may be narrower.

    Args:
        body: The body in the photo.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.

    Returns:
        ``(height, width)``; nothing in rows where the axis of the body is bare, but for those of a neckline.
    """
    bone = body.skeleton
    height, width = body.shape
    down = (np.arange(height) - bone.shoulders[1]) / max(float(bone.down[1]), 0.1)
    axis = np.rint(bone.shoulders[0] + down * bone.down[0]).astype(np.int64)
    heights = down / body.torso_length
    beside = np.zeros(body.shape, bool)
    asked = (axis >= 0) & (axis < width) & (heights > ARMHOLES[0])
    on_axis = asked.copy()
    on_axis[asked] = clothed[asked, axis[asked]] > WORN
    rows = np.flatnonzero(on_axis)
    if not len(rows):
        return beside
    span = slice(int(np.argmax(asked)), int(rows[-1]) + 1)
    heights = heights[span]
    cloth = closed(clothed[span] > WORN, max(1, round(LACE * body.shoulder_width)))
    right_of = np.arange(width)[None] >= axis[span, None]
    right, on_right = _beyond(cloth, right_of, heights, body.shoulder_width)
    left, on_left = _beyond(cloth[:, ::-1], ~right_of[:, ::-1], heights, body.shoulder_width)
    worn = on_axis[span] | (on_right & on_left & (heights < DEEPEST_NECK))
    # A hem goes round the body: what lies below its higher ends is not beside it.
    hem = cloth[-max(1, round(ROUND_HEM * body.shoulder_width)) :]
    under = np.zeros_like(cloth)
    under[len(cloth) - len(hem) :] = np.logical_or.accumulate(hem, axis=0) & ~hem
    beside[span] = (right | left[:, ::-1]) & worn[:, None] & ~under
    return beside


def _beyond(
    cloth: BoolMask, aside: BoolMask, heights: NDArray[np.float64], unit: float
) -> tuple[BoolMask, NDArray[np.bool_]]:
    """What lies beyond a garment on one side of the axis, from the end of its armhole down.

    Args:
        cloth: ``(h, w)``, columns running outwards on this side.
        aside: ``(h, w)``, this side of the axis.
        heights: ``(h,)`` of the rows, in torso lengths below the shoulders.
        unit: Shoulder width in pixels.

    Returns:
        ``(h, w)``, and ``(h,)`` in which rows cloth lies on this side.
    """
    met = np.logical_or.accumulate(cloth & aside, axis=1)
    beyond = np.logical_or.accumulate(met & ~cloth, axis=1)
    # An armhole runs outwards to its corner, and the side of the garment down from there.
    reach = np.where(met.any(axis=1), (aside & ~beyond).sum(axis=1), 0)
    shoulder = heights < ARMHOLES[1]
    if shoulder.any() and reach[shoulder].max() > 0:
        corner = int(np.argmax(reach >= reach[shoulder].max() - CORNER * unit))
        beyond[:corner] = False
    return beyond, met.any(axis=1)
