"""The hem of hanging cloth is a ring around the legs: seen from above it, its middle is lower than its ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engines.garment.cloth import Cloth
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Reals
from engines.warp.ribbon import Ribbon

RING = 0.15
"""How much lower the middle of a hem at the knees is seen than its ends, over half its width: photos are taken from the
height of the chest."""

MIDDLE, CORNER = 0.25, (0.84, 0.95)
"""Where a hem's middle and its corners are looked at, in half widths from its middle."""

HEM = 0.14
"""Share of a garment's height above its lowest row in which columns of cloth that end there end in its hem."""

RAISED = 0.5
"""Share of the bow by which the ends rise; the middle falls by the rest, so that the cloth stays as long."""


def with_hem_ring(ribbon: Ribbon, begins: Reals, half: float, own: float, down: NDArray[np.float32]) -> Ribbon:
    """Bend the rows of a ribbon, the more the further down they are.

    Args:
        ribbon: From above to below the hem, rows square to ``down``.
        begins: ``(rows,)`` how far rows lie on the way from where they begin to bend, 0, to the hem, 1.
        half: Half width of the laid hem, pixels.
        own: How much lower the middle of the hem is than its ends in the garment's picture, pixels as laid.
        down: ``(2,)`` unit vector.
    """
    lacking = np.clip(RING * half - own, 0, RING * half)
    across = np.asarray(ribbon.across, np.float64)
    ring = np.sqrt(np.maximum(1 - np.minimum(across * across, 1), 0)) - RAISED
    lower = lacking * ease(np.asarray(begins, np.float32))[:, None] * ring
    return replace(ribbon, target=np.asarray(ribbon.target + lower[..., None] * down, np.float32))


def bow_of_hem(cloth: Cloth) -> float:
    """How much lower the middle of a garment's hem is than its corners in its picture, canvas pixels."""
    solid = cloth.alpha > 0.5
    rows = np.flatnonzero(solid.any(axis=1))
    if not len(rows):
        return 0.0
    lowest = solid.shape[0] - 1 - solid[::-1].argmax(axis=0)
    hem = np.flatnonzero(solid.any(axis=0) & (lowest > rows[-1] - HEM * (rows[-1] - rows[0])))
    if len(hem) < 8:
        return 0.0
    place = np.abs(2 * (hem - hem[0]) / (hem[-1] - hem[0]) - 1)
    middle, corners = lowest[hem[place < MIDDLE]], lowest[hem[(place > CORNER[0]) & (place < CORNER[1])]]
    if not len(middle) or not len(corners):
        return 0.0
    return float(np.median(middle) - np.median(corners))
