"""Skin of an arm in which the outline of the old garment runs: its rim has the colours and the shade of that."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.filling import carried_out, relaxed
from engines.garment.regions import BoolMask, closed, dilated, windows_of
from engines.warp.blending import blended

OLD_EDGE = 0.032
"""Width of the rim on either side of an old garment's outline that has its colours and shade, in shoulder widths."""

CRACK = 2
"""Half the width of cracks between what is seen of an arm and what comes to light beside it, pixels."""

NONE_NEAR = 0.01
"""Share of skin around a pixel below which none is near."""


def without_old_edge(
    plate: NDArray[np.float32], uncovered: NDArray[np.float32], arms: BoolMask, old: BoolMask, unit: float
) -> NDArray[np.float32]:
    """The plate with skin instead of the old garment's outline, where that runs across what comes to light of an arm.

    Args:
        plate: ``(h, w, 3)`` float32, 0 to 1.
        uncovered: ``(h, w)`` cover of what comes to light.
        arms: ``(h, w)`` where arms are seen, with what comes to light of them.
        old: ``(h, w)`` the old garment.
        unit: Shoulder width in pixels.
    """
    rim = max(2, round(OLD_EDGE * unit))
    mended = plate.copy()
    for window in windows_of(uncovered > 0, 3 * rim):
        cloth, light = old[window], uncovered[window] > 0
        skin = closed(arms[window], CRACK)
        outline = dilated(cloth, rim) & dilated(~cloth, rim) & dilated(light, 2 * rim) & skin
        if outline.any():
            part, known = mended[window], skin & ~outline
            guess, weight = carried_out(part, known.astype(np.float32), rim)
            filled = relaxed(np.where(known[..., None], part, guess).astype(np.float32), known | (weight < NONE_NEAR))
            near = cv2.GaussianBlur(dilated(light, rim).astype(np.float32), (0, 0), rim / 2)
            mended[window] = blended(part, filled, np.asarray(near * outline, np.float32))
    return mended
