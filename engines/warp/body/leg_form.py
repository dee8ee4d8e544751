"""The outline of a bare leg that clothes hid: thigh, knee, calf and ankle bones, whose outer and inner edges differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.in_cloth import below_hand
from engines.warp.body.limbs import Edges, Limb
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease, reach

OUTER = ((1.02, 0.12, -0.006), (1.27, 0.18, 0.013), (1.78, 0.17, -0.016), (1.975, 0.05, 0.006))
"""Where the outer edge bulges: the place, 1 at the knee and 2 at the ankle, the reach along the leg in the same units,
and how far, in shoulder widths."""

INNER = ((0.84, 0.12, 0.008), (1.07, 0.11, -0.010), (1.37, 0.19, 0.022), (1.80, 0.17, -0.017), (1.935, 0.05, 0.008))
"""The same of the inner edge: its calf is lower, and its ankle bone higher."""

LONG_SHIN, SHORT_SHIN = 0.95, 0.65
"""Knee to ankle in shoulder widths from which a leg has its whole form, and down to which it has none: a shin that is
short in the picture points towards the camera.
"""

RAISED_DROP, RAISED_MOST, IN_CLOTH = 0.5, 2.0, 0.96
"""Knee below the top of the thigh over the length of the shin, under which the thigh is raised; by what a raised knee,
which is nearer to the camera, may then be thicker; and its width over that of the cloth around it."""

RAISED_FROM, RAISED_UNTIL = (0.35, 0.65), (1.15, 1.65)
"""Where along the leg, 1 at the knee and 2 at the ankle, that width comes up, and where it is lost again."""

BESIDE_HAND, UNDER_HAND = 3, 0.05
"""Samples of a leg beside a hand on it that count as under the hand, and how far it goes on there, in shoulder widths.
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
    raised = _raised(labels, leg, edges, position, unit) if _is_raised(leg) else edges
    outer, inner = (
        np.asarray(edge + hidden * _bulges(position, bulges), np.float32)
        for edge, bulges in zip(raised, (OUTER, INNER), strict=True)
    )
    return outer, inner


def _is_raised(leg: Limb) -> bool:
    """Whether a thigh points towards the camera or aside, as of somebody who sits."""
    top, knee, ankle = leg.points(np.array([0.0, leg.bend, 1.0], np.float32))
    return float(knee[1] - top[1]) < RAISED_DROP * float(np.linalg.norm(ankle - knee))


def _raised(labels: NDArray[np.uint8], leg: Limb, edges: Edges, position: NDArray[np.float32], unit: float) -> Edges:
    """Edges of a leg whose thigh and knee fill the cloth that the photo shows on them."""
    cloth = labelled_as(labels, (Label.LOWER, Label.FULL, Label.LEGS))
    share = ease((position - RAISED_FROM[0]) / (RAISED_FROM[1] - RAISED_FROM[0]))
    share *= ease((RAISED_UNTIL[1] - position) / (RAISED_UNTIL[1] - RAISED_UNTIL[0]))
    filled = []
    for edge, way in zip(edges, (1.0, -1.0), strict=True):
        room = reach(cloth, leg.line, way * leg.outward, 0.5 * unit)
        room = _past_hands(labels, leg, way, np.where(np.isfinite(room), IN_CLOTH * room, edge), unit)
        wider = np.clip(room, edge, RAISED_MOST * edge)
        filled.append(edge + share * (ndimage.gaussian_filter1d(wider, 3.0, mode="nearest") - edge))
    return np.asarray(filled[0], np.float32), np.asarray(filled[1], np.float32)


def _past_hands(
    labels: NDArray[np.uint8], leg: Limb, way: float, room: NDArray[np.float32], unit: float
) -> NDArray[np.float32]:
    """Room on one side of a leg, ``(n,)`` pixels; where a hand lies on the cloth it is as wide as beside the hand."""
    hidden = below_hand(labels, leg, way, room / IN_CLOTH)
    if hidden.all() or not hidden.any():
        return room
    hidden = ndimage.binary_dilation(hidden, iterations=BESIDE_HAND)
    beside = np.interp(leg.shares, leg.shares[~hidden], room[~hidden]) if not hidden.all() else room
    # The hand rests on the leg: nothing is seen between them.
    return np.asarray(np.where(hidden, np.maximum(room, beside) + UNDER_HAND * unit, room), np.float32)


def _bulges(position: NDArray[np.float32], bulges: tuple[tuple[float, float, float], ...]) -> NDArray[np.float32]:
    """Sum of the bulges at ``(n,)`` places, in shoulder widths."""
    places, reaches, sizes = (np.array(column, np.float32)[:, None] for column in zip(*bulges, strict=True))
    return np.asarray((sizes * np.exp(-(((position[None] - places) / reaches) ** 2))).sum(axis=0), np.float32)
