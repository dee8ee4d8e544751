"""A hood that is worn down: it lies on the shoulders round the neck and does not stand up behind the head."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.upper_landmarks import UpperLandmarks

HEIGHT = 0.21
"""How high above its foot on the shoulders a hood that is worn down reaches, in shoulder widths: to below the jaw."""


def lowered(lengths: NDArray[np.float64], standing: float, shoulder_width: float) -> NDArray[np.float64]:
    """Lengths along the cloth with those above the hood's foot shortened, until it is as high as one that is worn down.

    On a table, and over the empty neck of a picture of the garment alone, a hood stands up as if a head were in it.

    Args:
        lengths: Along the cloth below the foot of the hood, pixels; negative above it.
        standing: Height of the standing hood above its foot, pixels.
        shoulder_width: Distance of the shoulder joints in pixels.

    Returns:
        As many; those below the foot are as they were.
    """
    share = min(1.0, HEIGHT * shoulder_width / max(standing, 1.0))
    return np.asarray(np.where(lengths < 0, lengths * share, lengths))


def hood_height(marks: UpperLandmarks) -> float:
    """How high a hood stands above its foot in the picture of the garment, canvas pixels."""
    return float(marks.shoulders.neck_foot[1] - marks.frame.top)
