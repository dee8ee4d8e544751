"""Parts of a garment cut a little larger than they are, so that they overlap where they were sewn together."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from engines.garment.cloth import Cloth
from engines.garment.regions import BoolMask, dilated, eroded

SOFT = 0.8
"""Standard deviation with which a part ends, canvas pixels."""

FRINGE = 2
"""How far a soft outline reaches beyond its part, canvas pixels."""


def with_overlap(cloth: Cloth, part: BoolMask, overlap: int, bending: BoolMask | None = None) -> Cloth:
    """The cloth with everything transparent but one part, and what lies beside it at its seam.

    Args:
        cloth: The whole garment.
        part: ``(h, w)`` bool, the part of it.
        overlap: How far it goes on under its neighbour, canvas pixels.
        bending: ``(h, w)`` bool, neighbours that bend away from it: the outline of a torso goes straight on past the
            tip of the shoulder while that of a sleeve bends down. What overlaps there would be a corner beside it.
    """
    cover = dilated(part, overlap)
    if bending is not None:
        rim = dilated(bending, FRINGE) & ~eroded(cloth.alpha > 0.5, overlap + 1)
        cover &= part | ~rim
    soft = cv2.GaussianBlur(cover.astype(np.float32), (0, 0), SOFT)
    return replace(cloth, alpha=(cloth.alpha * soft).astype(np.float32))
