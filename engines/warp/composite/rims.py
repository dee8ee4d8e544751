"""Colours at the edge of what is cut out of a photo: free of what lay behind it there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, eroded, window_of
from engines.warp.plate.fill import carried_out

REACH = 0.9
"""Standard deviation over which colours are carried outwards, in widths of the rim."""

LEAST_WEIGHT = 0.02
"""Share of the surroundings that has to be sure for a colour to be carried there."""


def without_rim(
    picture: NDArray[np.float32], cover: NDArray[np.float32], rim: int, where: BoolMask | None = None
) -> NDArray[np.float32]:
    """The picture with the rim of a cover, and a little beyond it, in the colours found further inside.

    The outermost pixels of a hand or an arm are mixed with what it was seen before; laid over new cloth they would
    draw a pale or dark line around it. Everything deeper inside stays bit for bit.

    Args:
        picture: ``(h, w, 3)`` float32, 0 to 1.
        cover: ``(h, w)`` float32, 0 to 1.
        rim: Width of the rim inside the cover, pixels.
        where: ``(h, w)`` bool, the only places to change.
    """
    clean = picture.copy()
    window = window_of(cover > 0)
    if not cover[window].size:
        return clean
    part, sure = picture[window], eroded(cover[window] > 0.5, rim)
    carried, weight = carried_out(part, sure.astype(np.float32), REACH * rim)
    found = (weight > LEAST_WEIGHT) & ~sure
    if where is not None:
        found &= where[window]
    clean[window][found] = carried[found]
    return clean
