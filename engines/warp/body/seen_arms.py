"""The outlines of arms that are bare in the photo, and where they pass behind the clothes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.limbs import Limb, arm_half_width
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.sampling import values_at

CLOTHES = (Label.UPPER, Label.LOWER, Label.FULL)

ACROSS, STEP = 1.9, 0.75
"""Reach of a ray across an arm to either side, in usual half widths, and distance of its samples, pixels."""

OFF_LINE = 1.25
"""How far the middle of the skin may lie from the arm's centre line, in usual half widths."""

BEHIND_BELOW = 0.68
"""Width over the person's own below which cloth hides a part of the arm: there it is behind the body."""

OWN_WIDTH = (0.55, 1.0)
"""Range of a person's own arm width over the usual one."""

OWN_FROM, OWN_UNTIL = 0.30, 0.92
"""Shares of the arm between which that width is read."""

LEAST_SEEN = 8
"""Samples of both arms together from which that width is believed."""

SMOOTH = 2.0
"""Samples over which an outline is smoothed: an arm has no teeth."""

MIXED_RIM = 1.0
"""Width of the rim of an arm that is mixed with the old cloth, pixels."""


@dataclass(frozen=True)
class SeenArm:
    """A bare arm or what is seen of it, at the ``n`` samples of its limb.

    Attributes:
        outer: ``(n,)`` distance of its outer edge from the centre line in pixels; nan where no skin is seen.
        inner: ``(n,)`` the same of the inner edge, as far as the arm is in front of the body; an edge on the far
            side of the line is negative.
        edge: ``(n,)`` the same of the inner end of the skin, be it the arm's own edge or that of the cloth before it.
        own_half: ``(n,)`` half width of the whole arm, in pixels, as wide as this person's arms are.
        front: ``(n,)`` share that is in front of the body: 0 where clothes hide a part of the arm, 1 where none does.
    """

    outer: NDArray[np.float64]
    inner: NDArray[np.float64]
    edge: NDArray[np.float64]
    own_half: NDArray[np.float64]
    front: NDArray[np.float64]


def seen_arms(body: BodyModel) -> dict[int, SeenArm]:
    """Outlines of both arms, by picture side."""
    usual = {side: arm_half_width(body.arms[side], body.shoulder_width) for side in SIDES}
    runs = {side: _runs(body.labels, body.arms[side], usual[side]) for side in SIDES}
    ratios = []
    for side in SIDES:
        shares = body.arms[side].shares
        ratio = (runs[side][0] + runs[side][1]) / (2 * usual[side])
        ratios.append(ratio[np.isfinite(ratio) & (shares > OWN_FROM) & (shares < OWN_UNTIL)])
    every = np.concatenate(ratios)
    own = float(np.clip(np.percentile(every, 75), *OWN_WIDTH)) if len(every) >= LEAST_SEEN else 1.0
    return {side: _outline(*runs[side], own * usual[side]) for side in SIDES}


def _outline(
    outer: NDArray[np.float64], inner: NDArray[np.float64], at_cloth: NDArray[np.bool_], half: NDArray[np.float64]
) -> SeenArm:
    """Smooth edges from the raw ones; ``half`` is the arm's own half width at its samples."""
    known = np.isfinite(outer)
    if known.sum() < 4:
        nothing = np.full(len(outer), np.nan)
        return SeenArm(nothing, nothing, nothing, half, np.zeros(len(outer)))
    hidden = known & at_cloth & (outer + inner < 2 * BEHIND_BELOW * half)
    index = np.arange(len(outer))
    steady = {}
    for name, edge in (("outer", outer), ("inner", inner)):
        filled = np.interp(index, index[known], edge[known])
        filled = ndimage.median_filter(filled, 5, mode="nearest")
        steady[name] = ndimage.gaussian_filter1d(filled, SMOOTH, mode="nearest")
    mostly = ndimage.median_filter(np.interp(index, index[known], hidden[known].astype(np.float64)), 9, mode="nearest")
    front = 1 - ndimage.gaussian_filter1d(mostly, 1.5 * SMOOTH, mode="nearest")
    # Where the arm goes behind the body, the body's edge crosses it; it does not end in a step.
    shown = steady["inner"] - MIXED_RIM - (1 - front) * (steady["inner"] + steady["outer"])
    unseen = ~ndimage.binary_closing(known, np.ones(5, bool))
    outer_edge, inner_edge, edge = (
        np.asarray(np.where(unseen, np.nan, values)) for values in (steady["outer"], shown, steady["inner"])
    )
    return SeenArm(outer_edge, inner_edge, edge, half, front)


def _runs(
    labels: NDArray[np.uint8], arm: Limb, usual: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Outer and inner ends of the skin nearest to the centre line at every sample, and whether cloth follows inside.

    Ends are distances from the line in pixels, nan where no skin is.
    """
    most = ACROSS * float(usual.max())
    offsets = np.arange(-most, most + STEP, STEP)
    points = arm.line[:, None] + arm.outward[:, None] * offsets[None, :, None]
    there, framed = values_at(labels, points)
    bare = framed & labelled_as(there, (Label.ARMS, Label.HANDS))
    cloth = framed & labelled_as(there, CLOTHES)
    outer, inner = np.full(len(usual), np.nan), np.full(len(usual), np.nan)
    at_cloth = np.zeros(len(usual), bool)
    changes = np.diff(np.pad(bare.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    rows, begins = np.nonzero(changes > 0)
    ends = np.nonzero(changes < 0)[1]
    middles, lengths = (offsets[begins] + offsets[ends - 1]) / 2, (ends - begins) * STEP
    on_line = np.abs(middles) < OFF_LINE * usual[rows]
    # A finger or a scrap beside the arm is shorter than the arm.
    merit = np.where(on_line, lengths - np.abs(middles), -np.inf)
    order = np.lexsort((-merit, rows))
    best = order[np.unique(rows[order], return_index=True)[1]]
    best = best[on_line[best] & (lengths[best] >= 0.25 * usual[rows[best]])]
    row, begin, end = rows[best], begins[best], ends[best]
    outer[row], inner[row] = offsets[end - 1] + STEP / 2, -(offsets[begin] - STEP / 2)
    clothed = np.pad(np.cumsum(cloth, axis=1), ((0, 0), (1, 0)))
    at_cloth[row] = clothed[row, begin] > clothed[row, np.maximum(begin - 4, 0)]
    return outer, inner, at_cloth
