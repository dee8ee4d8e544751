"""Cloth that comes down from the neck first runs forwards: seen from the front, it is shorter there than on a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FORWARDS, TAKEN_BACK = 0.34, 0.50
"""By what share of its length cloth lies higher near the collar, and within which length that is taken back, since the
hem keeps its place, in shoulder widths. Crew necks that people wear are 0.12 deep in the median, and the same ones on a
table 0.19; round they are on both, so that all of a neckline becomes shallower by one share: were its ends pressed
more than its middle, it would become a V."""


def raised(lengths: NDArray[np.float64], shoulder_width: float) -> NDArray[np.float64]:
    """How much higher than its length says cloth lies that comes down from the foot of the collar.

    Args:
        lengths: Along the cloth below the foot of the collar, pixels; what stands above it is negative and not raised.
        shoulder_width: Distance of the shoulder joints in pixels.

    Returns:
        As many, pixels, 0 and more; lengths less what they are raised still rise.
    """
    below = np.maximum(lengths, 0.0) / shoulder_width
    return np.asarray(FORWARDS * shoulder_width * below * np.exp(-((below / TAKEN_BACK) ** 2)))
