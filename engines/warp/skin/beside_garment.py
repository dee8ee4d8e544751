"""Where a garment goes round the body: beside it there is an arm or the wall, and no torso."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import closed
from engines.warp.body.model import BodyModel

BELOW_ARMPIT = 0.38
"""Height from which a garment goes round the body, torso lengths below the shoulders; above it armholes are open."""

WORN = 0.5
"""Cover from which a pixel of the axis is cloth."""

LACE = 0.03
"""Radius of the holes that cloth may have, in shoulder widths."""

ROUND_HEM = 0.12
"""How far above the middle of a hem its ends may lie, in shoulder widths; below them is the body and not the wall."""


def beside_garment(body: BodyModel, clothed: NDArray[np.float32]) -> NDArray[np.bool_]:
    """What lies to the left and the right of a closed garment.

    The body in the photo is as wide as its old clothes; a new garment may be narrower.

    Args:
        body: The body in the photo.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.

    Returns:
        ``(height, width)``; nothing in rows where the axis of the body is bare.
    """
    bone = body.skeleton
    height, width = body.shape
    along = (np.arange(height) - bone.shoulders[1]) / max(float(bone.down[1]), 0.1)
    axis = np.rint(bone.shoulders[0] + along * bone.down[0]).astype(np.int64)
    worn = (axis >= 0) & (axis < width) & (along > BELOW_ARMPIT * body.torso_length)
    worn[worn] = clothed[worn, axis[worn]] > WORN
    beside = np.zeros(body.shape, bool)
    rows = np.flatnonzero(worn)
    if not len(rows):
        return beside
    span = slice(int(rows[0]), int(rows[-1]) + 1)
    cloth = closed(clothed[span] > WORN, max(1, round(LACE * body.shoulder_width)))
    right_of = np.arange(width)[None] >= axis[span, None]
    right, left = np.logical_or.accumulate(~cloth & right_of, axis=1), ~cloth & ~right_of
    left = np.logical_or.accumulate(left[:, ::-1], axis=1)[:, ::-1]
    # A hem goes round the body: what lies below its higher ends is not beside it.
    hem = cloth[-max(1, round(ROUND_HEM * body.shoulder_width)) :]
    under = np.zeros_like(cloth)
    under[len(cloth) - len(hem) :] = np.logical_or.accumulate(hem, axis=0) & ~hem
    beside[span] = (right | left) & worn[span, None] & ~under
    return beside
