"""The surface of a leg seen from the front: what stands out of its round, and what is hollow, as heights.

Places are given along the leg, 0 at the crotch, 1 at the knee and 2 at the ankle, and across it, -1 at its inner edge
to 1 at its outer one; heights in shoulder widths.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

ROWS, COLUMNS, END = 176, 64, 2.2
"""Size of the table of heights, and the place along the leg of its last row."""

KNEE = (
    (0.985, 0.03, 0.060, 0.36, 0.0120),
    (1.075, 0.04, 0.040, 0.15, 0.0032),
    (1.135, 0.08, 0.032, 0.19, 0.0050),
    (1.050, -0.36, 0.030, 0.20, 0.0030),
    (1.045, 0.40, 0.028, 0.18, 0.0024),
    (0.985, -0.60, 0.070, 0.17, -0.0060),
    (0.965, 0.62, 0.060, 0.15, -0.0046),
    (0.895, 0.06, 0.035, 0.38, -0.0012),
    (1.052, 0.04, 0.026, 0.42, -0.0048),
)
"""Kneecap, the sinew below it and where that ends on the shin, the pads beside it, the hollows to both sides of the
kneecap, the dip above it and the fold below: place along and across, reach along and across, and height."""

FLESH = (
    (0.850, -0.54, 0.110, 0.28, 0.0068),
    (0.770, 0.52, 0.140, 0.26, 0.0050),
    (1.360, -0.74, 0.190, 0.24, 0.0105),
    (1.270, 0.84, 0.160, 0.20, 0.0065),
    (1.620, -0.80, 0.130, 0.20, 0.0040),
    (1.935, -0.66, 0.034, 0.26, 0.0075),
    (1.980, 0.72, 0.034, 0.24, 0.0065),
    (1.925, 0.34, 0.060, 0.20, -0.0036),
    (1.895, -0.40, 0.055, 0.17, -0.0030),
)
"""Muscles of the thigh above the knee, inner and outer calf, ankle bones and the hollows before them, in the same way:
the outer calf is higher than the inner one, and the outer ankle bone lower."""

CORDS = (
    ((0.15, 0.10), (0.80, 0.05), 0.34, 0.0055),
    ((1.13, 0.10), (1.88, -0.22), 0.20, 0.0042),
    ((1.17, 0.42), (1.66, 0.16), 0.28, 0.0044),
    ((1.20, 0.74), (1.66, 0.46), 0.16, -0.0012),
    ((1.18, -0.34), (1.66, -0.50), 0.20, -0.0020),
    ((1.80, 0.02), (2.02, -0.10), 0.14, 0.0045),
)
"""Muscle along the thigh, edge of the shinbone, the muscle beside it, the furrows outside that and inside the bone, and
the sinew before the ankle: both ends along and across, half width, and height."""

ENDING = 0.12
"""Over how much of the leg these begin and end."""

ALIKE, WANDERING, SIZES = 0.10, (0.010, 0.07), (0.30, 0.14)
"""Nobody's two legs are the same: standard deviation of a feature's height, over it, how far places wander along and
across, and over which distances, in the same units."""

HALF_WIDTH, PART_LENGTH = 0.15, 1.05
"""Half width of a leg, and its length from crotch to knee or from knee to ankle, in shoulder widths, for slopes."""

VALLEY = 0.055
"""Radius within which a place lies above or below what is around it, in shoulder widths."""

Table = NDArray[np.float32]


@lru_cache(maxsize=2)
def leg_surface(side: int) -> tuple[Table, Table, Table]:
    """Of the leg on one side of the picture.

    Returns:
        ``(ROWS, COLUMNS)`` each: how steeply the surface rises towards the outer edge and towards the foot, as slopes,
        and how far it lies above what is around it, in shoulder widths.
    """
    heights = _heights(np.random.default_rng(2 + side))
    step_along, step_across = END * PART_LENGTH / (ROWS - 1), 2.0 * HALF_WIDTH / (COLUMNS - 1)
    down, out = np.gradient(heights, step_along, step_across)
    around = cv2.GaussianBlur(
        heights, (0, 0), sigmaX=VALLEY / step_across, sigmaY=VALLEY / step_along, borderType=cv2.BORDER_REPLICATE
    )
    return np.asarray(out, np.float32), np.asarray(down, np.float32), np.asarray(heights - around, np.float32)


def _heights(random: np.random.Generator) -> Table:
    """``(ROWS, COLUMNS)`` heights of a leg, a little unlike any other."""
    along, across = np.meshgrid(np.linspace(0.0, END, ROWS), np.linspace(-1.0, 1.0, COLUMNS), indexing="ij")
    along, across = (
        place + wandering * _smooth_noise(random) for place, wandering in zip((along, across), WANDERING, strict=True)
    )
    total = np.zeros((ROWS, COLUMNS))
    for place, aside, length, width, height in (*KNEE, *FLESH):
        size = height * (1.0 + ALIKE * random.standard_normal())
        total += size * np.exp(-(((along - place) / length) ** 2) - ((across - aside) / width) ** 2)
    for (begin, first), (end, last), width, height in CORDS:
        size = height * (1.0 + ALIKE * random.standard_normal())
        line = first + (last - first) * (along - begin) / (end - begin)
        ends = _ease((along - begin) / ENDING + 0.5) * _ease((end - along) / ENDING + 0.5)
        total += size * ends * np.exp(-(((across - line) / width) ** 2))
    return total.astype(np.float32)


def _smooth_noise(random: np.random.Generator) -> NDArray[np.float64]:
    """``(ROWS, COLUMNS)`` of standard deviation 1."""
    noise = random.standard_normal((ROWS, COLUMNS))
    sigma = SIZES[0] * ROWS / END, SIZES[1] * COLUMNS
    smooth = cv2.GaussianBlur(noise, (0, 0), sigmaX=sigma[1], sigmaY=sigma[0])
    return np.asarray(smooth / max(float(smooth.std()), 1e-9))


def _ease(position: NDArray[np.float64]) -> NDArray[np.float64]:
    bounded = np.clip(position, 0.0, 1.0)
    return np.asarray(bounded * bounded * (3.0 - 2.0 * bounded))
