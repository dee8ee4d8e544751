"""The form of a bare arm: the round of the shoulder, biceps, the crook of the elbow, and the flesh of the forearm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.bare_parts import BarePart
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Reals

DELTOID_LIGHT, DELTOID_SHADE = 0.070, 0.120
"""How light the round of the shoulder is, and how dark the furrow in which it ends on the outer side."""

BICEPS_LIGHT, BICEPS_SHADE = 0.100, 0.110
"""How light the belly of the biceps is, and how dark the furrow between it and the muscle behind it."""

CROOK_SHADE, CREASE_SHADE = 0.140, 0.110
"""How dark the hollow of the elbow is, and the crease through it."""

ELBOW_LIGHT = 0.080
"""How light the bone on the outer side of the elbow is."""

FOREARM_LIGHT, FOREARM_SHADE = 0.100, 0.120
"""How light the muscle is that runs from there to the thumb, and how dark the furrow beside it."""

WRIST_RELIEF = 0.060
"""How light the tendons of the wrist are, and how dark the hollow between them."""


def arm_relief(part: BarePart) -> NDArray[np.float32]:
    """Brightness factors of about 1 for the pixels of an arm, in the order of ``part.on``.

    Args:
        part: An arm; its elbow lies at ``part.elbow``.
    """
    # Outwards from the body, and along the upper arm (0 to 1) and the forearm (1 to 2).
    out = part.across[part.on] * np.float32(part.side)
    share, elbow = part.share[part.on], np.float32(part.elbow)
    along = np.where(share < elbow, share / elbow, 1.0 + (share - elbow) / (1.0 - elbow))
    deltoid = _spot(along - 0.22, 0.20) * _spot(out - 0.25, 0.45)
    insertion = _spot(along - 0.56 + 0.10 * out, 0.10) * _spot(out - 0.55, 0.30)
    biceps = _spot(along - 0.66, 0.20) * _spot(out + 0.10, 0.34)
    behind = _spot(out - 0.52 - 0.10 * (along - 0.7), 0.16) * ease((along - 0.50) / 0.2) * ease((1.0 - along) / 0.2)
    crook = _spot(along - 1.0, 0.10) * _spot(out + 0.18, 0.34)
    # The crease hangs down in its middle.
    crease = _spot(along - 1.02 + 0.05 * (out + 0.15) ** 2, 0.018) * _spot(out + 0.15, 0.40)
    bone = _spot(along - 1.0, 0.07) * _spot(out - 0.62, 0.22)
    muscle = _spot(along - 1.24, 0.20) * _spot(out - 0.32, 0.30)
    beside = _spot(out + 0.12 - 0.25 * (along - 1.2), 0.15) * ease((along - 1.06) / 0.15) * ease((1.75 - along) / 0.3)
    at_wrist = ease((along - 1.68) / 0.15) * ease((2.1 - along) / 0.1)
    tendons = (_spot(out + 0.10, 0.10) + _spot(out - 0.22, 0.10) - _spot(out - 0.06, 0.09)) * at_wrist
    relief = DELTOID_LIGHT * deltoid - DELTOID_SHADE * insertion + BICEPS_LIGHT * biceps - BICEPS_SHADE * behind
    relief = relief - CROOK_SHADE * crook - CREASE_SHADE * crease + ELBOW_LIGHT * bone
    relief = relief + FOREARM_LIGHT * muscle - FOREARM_SHADE * beside + WRIST_RELIEF * tendons
    return np.asarray(1.0 + relief * ease((1.0 - np.abs(out)) / 0.25), np.float32)


def _spot(distance: Reals, width: float) -> NDArray[np.float32]:
    return np.asarray(np.exp(-((distance / np.float32(width)) ** 2)), np.float32)
