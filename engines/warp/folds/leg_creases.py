"""Which creases a trouser leg has: from the crotch, down the thigh, round the knee and down the calf.

Places are in shoulder widths on a leg's sheet: ``x`` from its middle towards the body's, `HALF` at its inner edge,
``y`` from its upper edge, over `CROTCH` and `KNEE` to `ANKLE`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from engines.warp.folds.creases import Crease
from engines.warp.folds.excess import Sheet
from engines.warp.folds.reliefs import Relief, relief_of

HALF = 0.25
"""Half width of the leg on its sheet."""

CROTCH, KNEE, ANKLE = 0.35, 1.40, 2.40
"""Where they are on the sheet."""

SHEET = Sheet(0.56, 2.90, 0.008, 0.0, (), 0)
"""A little wider than the leg, and longer."""

IN_CREASE = 0.42
"""How much of what a valley is darkened by a crease adds, over its depth for its width: cloth nearly touches in it."""

BENT_DEEPER = 1.0
"""How many times deeper creases of the knee are where it is bent by a right angle."""

LEFT = (
    # From the crotch: a whisker up towards the hip, and down round the thigh. Level ones would read as a seat.
    Crease((0.28, 0.37), (0.18, 0.32), (0.02, 0.18), 0.0050, 0.022, 0.013),
    Crease((0.29, 0.42), (0.13, 0.52), (-0.12, 0.66), 0.0105, 0.026, 0.014),
    Crease((0.29, 0.54), (0.14, 0.70), (-0.02, 0.78), 0.0060, 0.026, 0.015),
    Crease((0.29, 0.66), (0.16, 0.86), (-0.04, 1.02), 0.0080, 0.032, 0.020),
    # From the hip, and down the front.
    Crease((-0.29, 0.46), (-0.17, 0.58), (0.00, 0.66), 0.0040, 0.030, 0.020),
    Crease((-0.12, 0.66), (-0.02, 0.95), (-0.03, 1.26), 0.0095, 0.075, 0.050, 0.45),
)
LEFT_KNEE = (
    Crease((0.30, 1.27), (0.14, 1.40), (-0.08, 1.44), 0.0085, 0.024, 0.013),
    Crease((0.30, 1.50), (0.17, 1.51), (0.02, 1.44), 0.0060, 0.022, 0.013),
)
LEFT_CALF = (
    Crease((-0.29, 1.60), (-0.14, 1.80), (0.08, 2.00), 0.0060, 0.034, 0.022),
    Crease((0.10, 1.56), (0.02, 1.80), (0.05, 2.08), 0.0070, 0.070, 0.045, 0.4),
    Crease((0.29, 2.02), (0.15, 2.10), (-0.02, 2.10), 0.0040, 0.026, 0.016),
)
RIGHT = (
    Crease((0.28, 0.40), (0.12, 0.54), (-0.12, 0.62), 0.0095, 0.026, 0.013),
    Crease((0.29, 0.36), (0.19, 0.30), (0.06, 0.20), 0.0040, 0.022, 0.013),
    Crease((0.29, 0.54), (0.17, 0.74), (-0.05, 0.88), 0.0085, 0.028, 0.017),
    Crease((-0.29, 0.58), (-0.18, 0.74), (-0.02, 0.84), 0.0040, 0.030, 0.020),
    Crease((-0.02, 0.62), (0.07, 0.95), (0.03, 1.22), 0.0090, 0.075, 0.050, 0.45),
)
RIGHT_KNEE = (
    Crease((0.30, 1.20), (0.18, 1.30), (0.02, 1.34), 0.0055, 0.026, 0.015),
    Crease((-0.30, 1.30), (-0.15, 1.40), (0.05, 1.42), 0.0075, 0.024, 0.014),
    Crease((-0.30, 1.50), (-0.18, 1.52), (-0.05, 1.47), 0.0055, 0.022, 0.013),
)
RIGHT_CALF = (
    Crease((0.29, 1.68), (0.14, 1.90), (-0.06, 2.06), 0.0060, 0.034, 0.022),
    Crease((-0.10, 1.60), (-0.06, 1.85), (-0.10, 2.08), 0.0065, 0.070, 0.045, 0.4),
    Crease((-0.29, 1.96), (-0.16, 2.06), (0.00, 2.08), 0.0040, 0.026, 0.016),
)

CREASES = {"left": (LEFT, LEFT_KNEE, LEFT_CALF), "right": (RIGHT, RIGHT_KNEE, RIGHT_CALF)}
"""Of each leg, those of the knee in the middle: no two legs crease alike."""


LAP = (
    # Across the groin, and from there along the thigh.
    Crease((0.16, 0.40), (0.00, 0.36), (-0.26, 0.44), 0.0170, 0.030, 0.018),
    Crease((0.20, 0.50), (0.02, 0.56), (-0.18, 0.82), 0.0150, 0.032, 0.018),
    Crease((0.28, 0.62), (0.14, 0.76), (-0.02, 1.04), 0.0120, 0.034, 0.020),
    # From the hollow of the knee like a fan; the knee itself is hidden in it.
    Crease((0.29, 1.12), (0.14, 1.02), (-0.06, 0.90), 0.0130, 0.030, 0.018),
    Crease((0.29, 1.21), (0.10, 1.18), (-0.17, 1.08), 0.0160, 0.026, 0.015),
    Crease((0.29, 1.60), (0.10, 1.62), (-0.15, 1.56), 0.0160, 0.026, 0.015),
    Crease((0.29, 1.69), (0.15, 1.78), (-0.08, 1.88), 0.0120, 0.030, 0.018),
)
"""Of either leg whose thigh is raised sideways, as of somebody who sits."""


@cache
def leg_reliefs(side: str) -> tuple[Relief, Relief, Relief]:
    """The creases of a straight leg, of one whose knee is bent by a right angle, and of one whose thigh is raised.

    Args:
        side: ``left`` or ``right``.
    """
    thigh, knee, calf = CREASES[side]
    straight, bent = (_relief([(1.0, thigh + calf), (deeper, knee)]) for deeper in (1.0, 1.0 + BENT_DEEPER))
    return straight, bent, _relief([(1.0, LAP + calf)])


def _relief(parts: list[tuple[float, tuple[Crease, ...]]]) -> Relief:
    """Creases, each so many times as deep, on the sheet of a leg."""
    rows, columns = SHEET.shape
    x, y = np.meshgrid(
        np.linspace(-SHEET.wide / 2, SHEET.wide / 2, columns, dtype=np.float32),
        np.linspace(0, SHEET.high, rows, dtype=np.float32),
    )
    heights, closed = np.zeros((2, *SHEET.shape), np.float32)
    for deeper, creases in parts:
        for crease in creases:
            one = np.float32(deeper) * crease.heights(x, y)
            heights += one
            closed += np.minimum(one, 0) * np.float32(IN_CREASE / (crease.above + crease.below))
    relief = relief_of(SHEET, heights)
    relief.form[..., 2] += closed
    return relief
