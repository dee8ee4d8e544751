"""How wide the torso is seen to be beside a bare arm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import reach
from engines.warp.body.torso_width import torso_half_width

WORN_ON_TORSO = (Label.UPPER, Label.FULL, Label.LOWER, Label.TORSO_SKIN)

FROM_HEIGHT = 0.28
"""Above, in torso lengths below the shoulders, what ends at a bare arm may be the old garment's sleeve."""

MOST_ADDED, MOST = 0.08, 0.60
"""Farthest that the torso is widened, and its largest half width then, in shoulder widths."""

BESIDE_PIXELS = 3
"""How far beyond the torso's edge the arm has to begin."""


def seen_half_width(body: BodyModel, heights: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Half width of the torso in pixels at heights; where it ends at a bare arm that is seen, as far as there.

    A bare arm behind the torso or the hip has no inner edge of its own, and its usual width would cut into the torso
    in front of it.

    Args:
        body: The body.
        heights: ``(n,)`` torso lengths below the shoulders, rising.
        side: Picture side.
    """
    unit, bone = body.shoulder_width, body.skeleton
    usual = torso_half_width(body, heights, side)
    centres = body.point(heights.astype(np.float32))
    worn = labelled_as(body.labels, WORN_ON_TORSO)
    seen = reach(worn, centres, bone.right * side, (MOST + MOST_ADDED) * unit).astype(np.float64)
    beside = centres + bone.right * side * (np.nan_to_num(seen) + BESIDE_PIXELS)[:, None]
    label, _ = values_at(body.labels, beside)
    at_arm = np.isfinite(seen) & labelled_as(label, (Label.ARMS, Label.HANDS)) & (heights > FROM_HEIGHT)
    added = np.where(at_arm, np.minimum(seen, MOST * unit) - usual, 0.0)
    added = np.clip(np.nan_to_num(added), 0.0, MOST_ADDED * unit)
    # Single rows are mistakes of the labels; a torso's edge has no steps.
    window = max(3, round(0.06 * len(heights)))
    steady = ndimage.gaussian_filter1d(ndimage.median_filter(added, window, mode="nearest"), 0.3 * window)
    return np.asarray(usual + steady)
