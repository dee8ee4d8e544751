"""A bare leg lies within the trousers that hid it: what stood out of them would be cut off along their folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.limbs import Edges, Limb
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease, reach
from engines.warp.pieces import Reals

CLOTH = (Label.LOWER, Label.FULL)

SLACK = 0.008
"""How far a leg may stand out where the cloth comes in, in shoulder widths: folds do that."""

FOLDS, EASED = 4.0, 2.5
"""Sigma in samples with which folds of the cloth are levelled, and with which a leg is led back into it."""

SEEN_ABOVE, SEEN_NEAR = 0.9, 0.22
"""Share of a leg above which seen skin is that of a leg in short clothes, and the share of it beside that skin over
which the leg is not held to its clothes."""

MOST_MOVED, KNEE_TO_CALF = 0.010, 0.12
"""How far a calf moves at most to keep its width, in shoulder widths, and the share of the leg below the knee over
which that begins."""

PAST = 4.0
"""How far beyond the edge of the cloth is looked for a hand that lies on it, pixels."""

FARTHEST = 0.5
"""Distance in which an edge of the cloth is looked for, in shoulder widths."""


def within_cloth(labels: NDArray[np.uint8], leg: Limb, edges: Edges, unit: float) -> Edges:
    """Lead the edges of a leg back into its trousers; where there is room on the other side it keeps its width.

    Args:
        labels: ``(height, width)`` of `Label`.
        leg: The leg.
        edges: Its outer and inner distances from the centre line, ``(n,)`` each, pixels.
        unit: Shoulder width in pixels.
    """
    there, framed = values_at(labels, leg.line)
    on_cloth = np.asarray(framed & labelled_as(there, CLOTH))
    if not on_cloth.any():
        return edges
    # What is seen of a leg tells better than its clothes where it goes on.
    seen = leg.shares[framed & (there == Label.LEGS) & (leg.shares < SEEN_ABOVE)]
    hidden = ease((np.abs(leg.shares[:, None] - seen).min(axis=1, initial=np.inf) - SEEN_NEAR) / SEEN_NEAR)
    rooms = [_room(labels, leg, way, on_cloth, unit) for way in (1.0, -1.0)]
    beyond = [_eased(hidden * np.maximum(edge - room, 0.0)) for edge, room in zip(edges, rooms, strict=True)]
    spare = [np.clip(room - edge, 0.0, MOST_MOVED * unit) for edge, room in zip(edges, rooms, strict=True)]
    calf = ease((leg.shares - leg.bend) / KNEE_TO_CALF)
    return (
        np.asarray(edges[0] - beyond[0] + calf * _eased(np.minimum(beyond[1], spare[0])), np.float32),
        np.asarray(edges[1] - beyond[1] + calf * _eased(np.minimum(beyond[0], spare[1])), np.float32),
    )


def _room(
    labels: NDArray[np.uint8], leg: Limb, way: float, on_cloth: NDArray[np.bool_], unit: float
) -> NDArray[np.float64]:
    """``(n,)`` distances to the edge of the cloth on one side, without its folds; infinite where it has none."""
    limit = FARTHEST * unit
    ends = reach(labelled_as(labels, CLOTH), leg.line, way * leg.outward, limit)
    known = on_cloth & np.isfinite(ends) & (ends < limit)
    known &= ~below_hand(labels, leg, way, np.where(known, ends, 0.0))
    if not known.any():
        return np.full(len(ends), np.inf)
    index = np.arange(len(ends))
    level = ndimage.gaussian_filter1d(np.interp(index, index[known], ends[known]), FOLDS, mode="nearest")
    return np.where(known, level + SLACK * unit, np.inf)


def below_hand(labels: NDArray[np.uint8], leg: Limb, way: float, ends: Reals) -> NDArray[np.bool_]:
    """``(n,)`` whether a hand or an arm lies where the cloth seems to end on one side, and hides its edge.

    Args:
        labels: ``(height, width)`` of `Label`.
        leg: The leg.
        way: 1 for its outer side, -1 for its inner one.
        ends: ``(n,)`` distances from its line at which the cloth is last seen, pixels.
    """
    beyond, framed = values_at(labels, leg.line + way * leg.outward * (np.asarray(ends) + PAST)[:, None])
    return np.asarray(framed & labelled_as(beyond, (Label.HANDS, Label.ARMS)))


def _eased(beyond: Reals) -> NDArray[np.float64]:
    """What an edge is taken back by, ``(n,)``, led up to and away from its peaks."""
    widened = ndimage.maximum_filter1d(beyond, 2 * round(EASED) + 1, mode="nearest")
    return np.asarray(ndimage.gaussian_filter1d(widened, EASED, mode="nearest"))
