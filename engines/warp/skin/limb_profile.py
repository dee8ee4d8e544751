"""How the seen part of a limb is coloured from one edge to the other, carried on to the part that clothes hid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.regions import BoolMask
from engines.warp.body.bare_parts import BarePart

STRIPS, LEAST_IN_STRIP = 13, 12
"""Strips across a limb, and seen pixels from which one is known."""

LEARNT = (0.04, 0.34)
"""Part of the limb that is learnt from, behind the first that is seen of it, as shares of its length: right below a
cuff skin lies in its shadow."""

FIRST_SEEN = 2.0
"""Percentile of the shares of what is seen that is where it begins; crumbs lie above."""

REACH = 1.2
"""Distance over which the difference fades, in shoulder widths."""

SMOOTHED = 0.8
"""Standard deviation of the profile's smoothing, in strips."""

LARGEST = 0.16
"""Largest difference that is one of light, in units of full white; a tattoo is not carried on."""


def along_limb(beyond: NDArray[np.float32], limb: BarePart, seen: BoolMask, unit: float) -> NDArray[np.float32]:
    """What has to be added to the invented skin of a limb.

    Args:
        beyond: ``(n, 3)``, the photo less the invented skin without its grain, for the pixels of ``limb.on``.
        limb: The whole of it.
        seen: ``(height, width)``, its seen skin.
        unit: Shoulder width in pixels.

    Returns:
        ``(n, 3)`` for the same pixels.
    """
    across, share = limb.across[limb.on], limb.share[limb.on]
    known = seen[limb.on]
    added = np.zeros((len(share), 3), np.float32)
    if known.sum() < LEAST_IN_STRIP * STRIPS:
        return added
    first = float(np.percentile(share[known], FIRST_SEEN))
    known &= (share > first + LEARNT[0]) & (share < first + LEARNT[1])
    strip = np.clip(((across[known] + 1.0) * (STRIPS / 2.0)).astype(np.int64), 0, STRIPS - 1)
    counts = np.bincount(strip, minlength=STRIPS)
    told = np.flatnonzero(counts >= LEAST_IN_STRIP)
    if not len(told):
        return added
    fading = np.exp(-np.maximum(first - share, 0.0) * np.float32(limb.length / (REACH * unit)))
    centres = (np.arange(STRIPS) + 0.5) * (2.0 / STRIPS) - 1.0
    for channel in range(3):
        values = np.bincount(strip, beyond[known, channel], minlength=STRIPS)
        profile = np.interp(np.arange(STRIPS), told, values[told] / counts[told])
        profile = np.clip(ndimage.gaussian_filter1d(profile, SMOOTHED, mode="nearest"), -LARGEST, LARGEST)
        added[:, channel] = np.interp(across, centres, profile) * fading
    return added
