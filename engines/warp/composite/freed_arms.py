"""Arms that an old sleeve hid: the shadow of the new garment falls on them as on the part of them that was seen."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, dilated, window_of
from engines.warp.composite.arms import ArmPlace

BESIDE = 1.35
"""Distance from the centre line up to which skin is that of the arm or of the crease beside it, in half arm widths."""

SOFT = 0.012
"""Softness of the edge of such an arm towards the chest, in shoulder widths."""


def freed_arms(
    old: BoolMask, seen: BoolMask, places: dict[int, ArmPlace], shoulder_width: float
) -> NDArray[np.float32]:
    """``(h, w)`` cover of what of the arms the old garment hid, 0 to 1, and of a little of what was seen below it.

    Its edge is soft, and would throw a line across the arm where the sleeve ended.

    Args:
        old: ``(h, w)``, the old garment.
        seen: ``(h, w)``, skin of arms that is seen.
        places: Both arms.
        shoulder_width: Pixels.
    """
    freed = np.zeros(old.shape, np.float32)
    for place in places.values():
        freed[old & (place.near < BESIDE)] = 1.0
    if not freed.any():
        return freed
    sigma = max(SOFT * shoulder_width, 0.7)
    reach = round(3 * sigma)
    window = window_of(freed > 0, 2 * reach)
    below = seen[window] & dilated(freed[window] > 0, reach)
    for place in places.values():
        freed[window][below & (place.near[window] < BESIDE)] = 1.0
    freed[window] = cv2.GaussianBlur(freed[window], (0, 0), sigma)
    return freed
