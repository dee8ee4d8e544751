"""The outline of a bare leg that clothes hid: thigh, knee, calf and ankle bones, whose outer and inner edges differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.limbs import Edges, Limb
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease

OUTER = ((1.02, 0.12, -0.006), (1.27, 0.18, 0.013), (1.78, 0.17, -0.016), (1.975, 0.05, 0.006))
"""Where the outer edge bulges: the place, 1 at the knee and 2 at the ankle, the reach along the leg in the same units,
and how far, in shoulder widths."""

INNER = ((0.84, 0.12, 0.008), (1.07, 0.11, -0.010), (1.37, 0.19, 0.022), (1.80, 0.17, -0.017), (1.935, 0.05, 0.008))
"""The same of the inner edge: its calf is lower, and its ankle bone higher."""

LONG_SHIN, SHORT_SHIN = 0.95, 0.65
"""Knee to ankle in shoulder widths from which a leg has its whole form, and down to which it has none: a shin that is
short in the picture points towards the camera.
"""

SEEN_WITHIN = 0.06
"""Share of a leg over which its seen edges go over into those that are formed."""


def formed(labels: NDArray[np.uint8], leg: Limb, edges: Edges, unit: float) -> Edges:
    """Give the hidden part of a leg the form of a leg; what is seen of it stays as it is.

    Args:
        labels: ``(height, width)`` of `Label`.
        leg: The leg.
        edges: Its outer and inner distances from the centre line, ``(n,)`` each, pixels.
        unit: Shoulder width in pixels.
    """
    there, framed = values_at(labels, leg.line)
    seen = np.flatnonzero(framed & (there == Label.LEGS))
    away = np.abs(leg.shares[:, None] - leg.shares[seen][None]).min(axis=1, initial=np.inf)
    shin_length = leg.length * (1.0 - leg.bend) / unit
    upright = float(ease((shin_length - SHORT_SHIN) / (LONG_SHIN - SHORT_SHIN)))
    hidden = ease(away / SEEN_WITHIN) * np.float32(unit * upright)
    shin = 1.0 + (leg.shares - leg.bend) / max(1.0 - leg.bend, 0.1)
    position = np.where(leg.shares < leg.bend, leg.shares / max(leg.bend, 0.1), shin)
    outer, inner = (
        np.asarray(edge + hidden * _bulges(position, bulges), np.float32)
        for edge, bulges in zip(edges, (OUTER, INNER), strict=True)
    )
    return outer, inner


def _bulges(position: NDArray[np.float32], bulges: tuple[tuple[float, float, float], ...]) -> NDArray[np.float32]:
    """Sum of the bulges at ``(n,)`` places, in shoulder widths."""
    places, reaches, sizes = (np.array(column, np.float32)[:, None] for column in zip(*bulges, strict=True))
    return np.asarray((sizes * np.exp(-(((position[None] - places) / reaches) ** 2))).sum(axis=0), np.float32)
