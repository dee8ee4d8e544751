"""How far down the arm a sleeve reaches: to the wrist, or as far as its own length takes it."""

from __future__ import annotations

import numpy as np

from engines.garment.curves import lengths_along
from engines.garment.sleeves import Sleeve
from engines.garment.upper_landmarks import UpperLandmarks
from engines.warp.body.limbs import Limb
from engines.warp.body.model import SIDES, BodyModel

LEAST_ARM, ELBOW = 1.5, 0.53
"""Length of an arm from shoulder to wrist, in shoulder widths, below which it is drawn foreshortened; and the share of
an arm at which its elbow lies where it is not."""

SURELY_WHOLE, MAYBE_WHOLE = 1.03, 0.62
"""A sleeve that would end beyond the first share of the arm ends at the wrist, however loose the clothes are by which
the garment was sized; one that would end before the second does not."""

SEAM = 0.06
"""Share of an arm at which sleeves begin; what is measured differs from arm to arm, and by that much would long sleeves
differ in length."""

WHOLE_ON_AVERAGE, WHOLE_ALONE = 0.93, 0.86
"""A sleeve that may be a whole one is one if its length, and the way from the middle of the garment over the shoulder
to its cuff, are on average at least the first share of the garment's length, or the sleeve alone at least the second:
of dropped shoulders the one is short, of narrow ones the other."""

BEYOND_WRIST, ABOVE_WRIST = 1.03, 0.88
"""Where on the arm a whole sleeve ends, and how far down any other one reaches at most: the forearm is seen."""


def cuff_share(
    marks: UpperLandmarks, sleeves: tuple[Sleeve, Sleeve], body: BodyModel, side: int, *, start: float, scale: float
) -> float:
    """Share of an arm at which the cuff of a sleeve lies.

    The size of a garment follows the chest, which may be that of loose old clothes: whether its sleeves are whole
    ones is read off the garment's own proportions first. Both sleeves of a garment are equally long.

    Args:
        marks: Landmarks of the garment.
        sleeves: Both sleeves on the canvas.
        body: The body.
        side: Picture side.
        start: Share of the arm at which the sleeve begins.
        scale: Photo pixels per canvas pixel.
    """
    whole_arm = max([body.arms[each].length for each in SIDES] + [LEAST_ARM * body.shoulder_width])
    length = float(np.mean([sleeve.length for sleeve in sleeves])) * scale / whole_arm
    if SEAM + length > SURELY_WHOLE or (SEAM + length > MAYBE_WHOLE and _are_whole(marks, sleeves)):
        return BEYOND_WRIST
    begin = SEAM if SEAM + length > MAYBE_WHOLE else start
    return _as_drawn(body.arms[side], min(begin + length, ABOVE_WRIST))


def _are_whole(marks: UpperLandmarks, sleeves: tuple[Sleeve, Sleeve]) -> bool:
    """Whether the sleeves are as long as sleeves to the wrist are beside a body of the garment's length."""
    outer = float(np.mean([lengths_along(sleeve.upper)[-1] for sleeve in sleeves]))
    alone = float(np.mean([sleeve.length for sleeve in sleeves]))
    reach = float(marks.shoulders.tip[0]) + outer
    return (reach + alone) / 2 >= WHOLE_ON_AVERAGE * marks.length or alone > WHOLE_ALONE * marks.length


def _as_drawn(arm: Limb, share: float) -> float:
    """Share of an arm that is drawn foreshortened, from that of one which is not: elbows lie where elbows are."""
    return float(np.interp(share, [0.0, ELBOW, 1.0], [0.0, arm.bend, 1.0]))
