"""Which creases a top has: long ones from the armpits and the waist over the torso, and round the arms of its sleeves.

Places are in shoulder widths. On the torso's sheet ``x`` is from its middle and ``y`` from its upper edge: armpits are
at 0.35, the waist is at 0.94 and the hem below the hips at 1.6. On a sleeve's, ``x`` is from its middle towards the
body's and ``y`` from the shoulder joint over `ELBOW` to `WRIST`.
"""

from __future__ import annotations

from functools import cache

from engines.warp.folds.creases import Crease, Wandering, relief_of_creases
from engines.warp.folds.excess import Sheet
from engines.warp.folds.reliefs import Relief

TORSO_SHEET = Sheet(1.20, 1.80, 0.006, 0.0, (), 0)
SLEEVE_SHEET = Sheet(0.36, 1.60, 0.006, 0.0, (), 0)

ELBOW, WRIST = 0.75, 1.47
"""Where elbow and wrist are on a sleeve's sheet."""

IN_TORSO, IN_SLEEVE = 0.30, 0.18
"""How much of what a valley is darkened creases of each add, over their depth for their width: light gets into those of
a sleeve from the side."""

BENT_DEEPER = 1.0
"""How many times deeper creases of the elbow are where it is bent by a right angle."""

ASIDE = ((0.016, 0.10), (0.005, 0.03))
"""How far creases wander, and over what length, shoulder widths: a curve that is drawn looks drawn."""

ON_TORSO, ON_SLEEVE = Wandering(70, ASIDE, 0.35, 0.09), Wandering(30, ASIDE, 0.35, 0.09)
"""How those of each differ from their curves."""

TORSO = (
    # From the right armpit over the chest, and down its side.
    Crease((0.47, 0.33), (0.34, 0.36), (0.14, 0.46), 0.0070, 0.022, 0.012),
    Crease((0.47, 0.40), (0.30, 0.50), (0.08, 0.74), 0.0135, 0.034, 0.017),
    Crease((0.47, 0.50), (0.36, 0.66), (0.16, 1.00), 0.0110, 0.038, 0.020, 0.30),
    # From the left one, down to the other hip.
    Crease((-0.47, 0.35), (-0.36, 0.41), (-0.18, 0.56), 0.0115, 0.026, 0.014),
    Crease((-0.47, 0.45), (-0.34, 0.62), (-0.20, 0.92), 0.0090, 0.036, 0.019, 0.25),
    Crease((-0.44, 0.54), (-0.20, 0.84), (0.20, 1.26), 0.0090, 0.060, 0.032, 0.35),
    Crease((-0.20, 0.56), (0.04, 0.86), (0.34, 1.10), 0.0050, 0.056, 0.030, 0.45),
    # From the waist, from both sides.
    Crease((0.50, 0.84), (0.36, 0.93), (0.20, 0.94), 0.0070, 0.022, 0.012),
    Crease((0.50, 0.93), (0.30, 1.08), (0.04, 1.13), 0.0135, 0.030, 0.015),
    Crease((0.50, 1.08), (0.36, 1.24), (0.16, 1.32), 0.0090, 0.034, 0.019),
    Crease((-0.50, 0.89), (-0.36, 0.97), (-0.20, 0.96), 0.0075, 0.024, 0.013),
    Crease((-0.50, 0.98), (-0.32, 1.14), (-0.06, 1.24), 0.0135, 0.032, 0.017),
    Crease((-0.50, 1.13), (-0.40, 1.28), (-0.24, 1.38), 0.0070, 0.032, 0.018),
    # Above the hem.
    Crease((0.29, 1.78), (0.23, 1.48), (0.31, 1.22), 0.0075, 0.044, 0.030, 0.30),
    Crease((-0.32, 1.78), (-0.28, 1.50), (-0.35, 1.26), 0.0065, 0.044, 0.028, 0.30),
    Crease((-0.04, 1.78), (0.00, 1.50), (-0.09, 1.28), 0.0050, 0.048, 0.032, 0.30),
)

LEFT = (
    # From the armpit round the upper arm.
    Crease((0.17, 0.15), (0.06, 0.18), (-0.10, 0.30), 0.0070, 0.020, 0.012),
    Crease((0.17, 0.22), (0.07, 0.30), (-0.06, 0.47), 0.0075, 0.024, 0.014),
    Crease((0.17, 0.34), (0.09, 0.46), (0.00, 0.64), 0.0060, 0.028, 0.016),
    Crease((-0.16, 0.42), (-0.09, 0.54), (0.02, 0.62), 0.0045, 0.024, 0.014),
    # Down the lower arm, and above the cuff.
    Crease((-0.17, 0.94), (-0.05, 1.04), (0.09, 1.16), 0.0070, 0.026, 0.015),
    Crease((0.17, 1.02), (0.08, 1.16), (-0.05, 1.26), 0.0060, 0.026, 0.015),
    Crease((-0.17, 1.20), (-0.05, 1.28), (0.08, 1.30), 0.0075, 0.020, 0.012),
    Crease((0.17, 1.33), (0.06, 1.38), (-0.10, 1.36), 0.0080, 0.018, 0.011),
)
LEFT_ELBOW = (
    Crease((0.17, 0.63), (0.05, 0.68), (-0.12, 0.63), 0.0065, 0.022, 0.013),
    Crease((0.17, 0.72), (0.03, 0.78), (-0.10, 0.78), 0.0090, 0.022, 0.013),
    Crease((0.17, 0.80), (0.06, 0.89), (-0.08, 0.97), 0.0070, 0.024, 0.014),
)
RIGHT = (
    Crease((0.17, 0.17), (0.05, 0.23), (-0.08, 0.38), 0.0090, 0.022, 0.013),
    Crease((0.17, 0.27), (0.08, 0.38), (-0.03, 0.56), 0.0070, 0.026, 0.015),
    Crease((-0.16, 0.30), (-0.10, 0.44), (0.00, 0.52), 0.0045, 0.026, 0.015),
    Crease((0.17, 0.96), (0.06, 1.08), (-0.09, 1.14), 0.0075, 0.026, 0.015),
    Crease((-0.17, 1.06), (-0.07, 1.18), (0.05, 1.26), 0.0060, 0.026, 0.015),
    Crease((0.17, 1.24), (0.05, 1.30), (-0.08, 1.29), 0.0075, 0.020, 0.012),
    Crease((-0.17, 1.36), (-0.06, 1.40), (0.09, 1.38), 0.0075, 0.018, 0.011),
)
RIGHT_ELBOW = (
    Crease((0.17, 0.66), (0.06, 0.70), (-0.09, 0.68), 0.0060, 0.022, 0.013),
    Crease((0.17, 0.75), (0.04, 0.83), (-0.12, 0.84), 0.0090, 0.022, 0.013),
    Crease((-0.17, 0.70), (-0.09, 0.77), (0.02, 0.80), 0.0050, 0.022, 0.013),
)

SLEEVES = {"left": (LEFT, LEFT_ELBOW), "right": (RIGHT, RIGHT_ELBOW)}
"""Of each sleeve, those of the elbow last: no two are put on alike."""


@cache
def torso_relief() -> Relief:
    """The creases of a top's torso."""
    return relief_of_creases(TORSO_SHEET, ((1.0, TORSO),), IN_TORSO, ON_TORSO)


@cache
def sleeve_reliefs(side: str) -> tuple[Relief, Relief]:
    """The creases of a straight sleeve, and of one whose elbow is bent by a right angle.

    Args:
        side: ``left`` or ``right``.
    """
    along, elbow = SLEEVES[side]
    straight, bent = (
        relief_of_creases(SLEEVE_SHEET, ((1.0, along), (deeper, elbow)), IN_SLEEVE, ON_SLEEVE)
        for deeper in (1.0, 1.0 + BENT_DEEPER)
    )
    return straight, bent
