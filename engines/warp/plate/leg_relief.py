"""The form of a bare leg seen from the front: kneecap, the hollows around it, shin and calf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.bare_parts import BarePart
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Reals

CAP, CAP_LIGHT = (0.030, 0.42), 0.085
"""Half height of the kneecap in lengths of the leg and half width in half widths of it, and how much lighter it is."""

BESIDE_CAP, BESIDE_SHADE = (0.050, 0.26), 0.175
"""Size of the hollows to both sides of it, and how dark they are."""

BELOW_CAP, BELOW_SHADE = (0.016, 0.50), 0.145
"""Size of the fold below it, which hangs down in the middle, and how dark it is."""

THIGH_SHADE = 0.045
"""How dark the shallow dip above the kneecap is, between the muscles."""

SHIN_LIGHT, SHIN_WIDTH = 0.065, 0.20
"""How much lighter the edge of the shinbone is, and its half width in half widths of the leg."""

CALF_SHADE = 0.105
"""How much darker the flesh to both sides of the shin is."""


def leg_relief(part: BarePart) -> NDArray[np.float32]:
    """Brightness factors of about 1 for the pixels of a leg, in the order of ``part.on``.

    Args:
        part: A leg; its knee lies at ``part.bend``.
    """
    aside = np.abs(part.across[part.on])
    along = part.share[part.on] - part.bend
    cap = _spot(along + 0.012, CAP[0]) * _spot(aside, CAP[1])
    beside = _spot(along - 0.002, BESIDE_CAP[0]) * _spot(aside - 0.64, BESIDE_CAP[1])
    # The fold is lowest in the middle.
    below = _spot(along - 0.046 + 0.022 * aside**2, BELOW_CAP[0]) * _spot(aside, BELOW_CAP[1])
    thigh = _spot(along + 0.085, 0.030) * _spot(aside, 0.45)
    on_shin = ease((along - 0.07) / 0.10) * ease((0.48 - along) / 0.12)
    shin = _spot(aside, SHIN_WIDTH) * on_shin
    calf = _spot(aside - 0.52, 0.24) * on_shin
    relief = CAP_LIGHT * cap - BESIDE_SHADE * beside - BELOW_SHADE * below - THIGH_SHADE * thigh
    relief = (relief + SHIN_LIGHT * shin - CALF_SHADE * calf) * ease((1.0 - aside) / 0.25)
    return np.asarray(1.0 + relief, np.float32)


def _spot(distance: Reals, width: float) -> NDArray[np.float32]:
    return np.asarray(np.exp(-((distance / np.float32(width)) ** 2)), np.float32)
