"""Skin on the outside of a sleeve: an arm is drawn a little wider than the sleeve laid around it, and would show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, opened, pieces, window_of
from engines.warp.pieces import Drape

THIN = 0.035
"""Width up to which skin beside a sleeve is no arm, in shoulder widths."""

LONG = 1.5
"""Length of such a strip at least, over that width."""

SEEN = 0.5
"""Cover from which skin or cloth is seen."""


def beside_sleeves(bare: NDArray[np.float32], drape: Drape, unit: float) -> BoolMask:
    """Thin strips of skin along the outer edge of sleeves.

    Args:
        bare: ``(height, width)`` cover of skin that comes to light.
        drape: The new garment.
        unit: Shoulder width in pixels.
    """
    strips = np.zeros(bare.shape, bool)
    radius = max(1, round(THIN * unit / 2))
    for piece in drape.pieces:
        if not piece.name.endswith("sleeve"):
            continue
        window = window_of(piece.alpha > SEEN, 3 * radius)
        sleeve, cloth = piece.alpha[window] > SEEN, drape.alpha[window] > SEEN
        if not sleeve.any():
            continue
        inwards = slice(None) if piece.name.startswith("left") else slice(None, None, -1)
        outside = ~np.logical_or.accumulate(sleeve[:, inwards], axis=1)[:, inwards]
        outside &= np.asarray(sleeve.any(axis=1))[:, None]
        skin = (bare[window] > 0) & ~cloth
        for place, strip in pieces(outside & skin & ~opened(skin, radius)):
            # The corner of an arm that comes out of its sleeve is narrow as well, and short.
            if strip.shape[0] > LONG * THIN * unit:
                strips[window][place] |= strip
    return strips
