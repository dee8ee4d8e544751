"""Whether a leg stands on its foot, so that cloth that is too long for it is held up by the shoe."""

from __future__ import annotations

import numpy as np

from engines.warp.body.limbs import Limb
from engines.warp.body.model import RIGHT
from engines.warp.body.silhouette import ease

UPRIGHT = (0.75, 0.92)
"""Cosine of a shin's angle to the vertical from which it stands, not at all to wholly."""


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
