"""Skin on the outside of a sleeve: an arm is drawn a little wider than the sleeve laid around it, and would show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, opened, pieces, window_of
from engines.warp.pieces import Drape, Piece

THIN = 0.035
"""Width up to which skin beside a sleeve is no arm, in shoulder widths."""

LONG = 1.5
"""Length of such a strip at least, over that width."""

HEM_ROW = 2
"""The row of a sleeve's mesh, from its end, that lies on its hem: cloth fades out in the last one."""

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
        outside &= np.asarray(sleeve.any(axis=1))[:, None] & ~_below_hem(piece, window)
        skin = (bare[window] > 0) & ~cloth
        for place, strip in pieces(outside & skin & ~opened(skin, radius)):
            # The corner of an arm that comes out of its sleeve is narrow as well, and short.
            if strip.shape[0] > LONG * THIN * unit:
                strips[window][place] |= strip
    return strips


def _below_hem(sleeve: Piece, window: tuple[slice, slice]) -> BoolMask:
    """``(h, w)`` of a window: beyond the line, which may slant, on which a sleeve ends and its arm comes out."""
    rows, columns = (np.arange(side.start, side.stop, dtype=np.float32) for side in window)
    if len(sleeve.mesh) <= HEM_ROW:
        return np.zeros((len(rows), len(columns)), bool)
    hem, before = sleeve.mesh[-HEM_ROW], sleeve.mesh[-HEM_ROW - 1]
    chord = hem[-1] - hem[0]
    way = np.array([-chord[1], chord[0]])
    way *= np.sign(way @ (hem - before).mean(axis=0))
    return np.asarray((columns[None] - hem[0, 0]) * way[0] + (rows[:, None] - hem[0, 1]) * way[1] > 0)
