"""The outer side of a short wide sleeve: from where the arm is widest it hangs down and does not follow it inwards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.curves import Polyline
from engines.warp.body.model import BodyModel

MOST_OFF = 0.07
"""Farthest that cloth hangs off the arm beyond the sleeve's usual room, in shoulder widths."""

AROUND = 0.92
"""Width at which a sleeve is seen at most, over its width laid flat."""


def hung(upper: Polyline, lower: Polyline, cloth_width: NDArray[np.float64], body: BodyModel, side: int) -> Polyline:
    """The outer edge of a short sleeve, hanging straight down where the arm below the shoulder runs inwards.

    Args:
        upper: ``(n, 2)`` outer edge from the shoulder tip to the cuff, along the arm.
        lower: ``(n, 2)`` inner edge from the armpit to the cuff.
        cloth_width: ``(n,)`` width of the sleeve laid flat, in pixels of the photo.
        body: The body.
        side: Picture side.
    """
    across = body.skeleton.right.astype(np.float64) * side
    out = upper @ across
    spare = AROUND * cloth_width - np.linalg.norm(upper - lower, axis=1)
    off = np.clip(np.maximum.accumulate(out) - out, 0.0, np.clip(spare, 0.0, MOST_OFF * body.shoulder_width))
    return np.asarray(upper + ndimage.gaussian_filter1d(off, 2.0, mode="nearest")[:, None] * across)
