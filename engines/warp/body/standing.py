"""How limbs are held: whether a leg stands on its foot, so that a shoe holds up its cloth, is raised, or bent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.limbs import Limb
from engines.warp.body.model import RIGHT, BodyModel
from engines.warp.body.silhouette import ease, towards

UPRIGHT = (0.75, 0.92)
"""Cosine of a shin's angle to the vertical from which it stands, not at all to wholly."""

GROIN = 0.16
"""Share of the leg below the crotch over which the torso's direction turns into the leg's."""

RAISED = (0.45, 0.80)
"""Sine of a thigh's angle to the torso from which it counts as raised sideways, not at all to fully."""

FULLY_BENT = 75.0
"""Angle at elbow or knee from which it has the folds of a bent one alone, degrees."""

RIGHT_HIGHER = 1.25
"""How much higher trousers break on the right leg than on the left one: no two legs break alike."""


def shin_stands(leg: Limb) -> float:
    """How far a shin stands upright, 0 to 1."""
    knee, ankle = leg.points(np.array([leg.bend, 1.0], np.float32))
    shin = ankle - knee
    cosine = float(shin[1]) / max(float(np.linalg.norm(shin)), 1e-3)
    return float(ease((cosine - UPRIGHT[0]) / (UPRIGHT[1] - UPRIGHT[0])))


def break_height(side: int) -> float:
    """How high above its hem a leg of trousers breaks, over how high the left one does: its folds and its edges."""
    return RIGHT_HIGHER if side == RIGHT else 1.0


def way_of_thigh(body: BodyModel, side: int) -> NDArray[np.float32]:
    """Unit vector from the crotch's height down the thigh."""
    root, thigh = body.legs[side].points(np.array([0.0, GROIN], np.float32))
    return towards(thigh - root)


def raised_aside(body: BodyModel, side: int) -> float:
    """How much a thigh is raised sideways, 0 to 1."""
    aside = float(way_of_thigh(body, side) @ body.skeleton.right) * side
    return float(ease((aside - RAISED[0]) / (RAISED[1] - RAISED[0])))


def share_bent(limb: Limb) -> float:
    """How far an elbow or a knee is bent, 0 to 1."""
    root, bend, end = limb.points(np.array([0.0, limb.bend, 1.0], np.float32))
    upper, lower = bend - root, end - bend
    cosine = float(upper @ lower) / (float(np.linalg.norm(upper) * np.linalg.norm(lower)) + 1e-6)
    return float(np.clip(np.degrees(np.arccos(np.clip(cosine, -1, 1))) / FULLY_BENT, 0, 1))
