"""Skin in the creases between two parts of the body: between an arm and the chest, between two thighs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.filling import carried_out
from engines.garment.regions import windows_of

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
