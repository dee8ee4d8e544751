"""What the photo shows of arms and hands: bare outlines, where clothes hide them, and hands that are not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label, Mask
from engines.labels import labelled_as
from engines.warp.body.limbs import ARM_BARE, Limb
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import values_at

CLOTHES = (Label.UPPER, Label.LOWER, Label.FULL)

ACROSS, STEP = 2.2, 0.75
"""Reach of a ray across a limb to either side, in usual half widths, and distance of its samples, pixels."""

OFF_LINE = 1.25
"""How far the middle of the skin may lie from the limb's centre line, in usual half widths."""

HAND_END = 1.12
"""Share of a limb beyond which nothing is looked for: there are fingers, or a shoe."""

BEHIND_BELOW = 0.68
"""Width over the person's own below which cloth hides a part of the arm: there it is behind the body."""

OWN_WIDTH = (0.7, 1.25)
"""Range of a person's own arm width over the usual one."""

OWN_FROM, OWN_UNTIL = 0.30, 0.92
"""Shares of the arm between which that width is read."""

LEAST_SEEN = 8
"""Samples of both arms together from which that width is believed."""

SMOOTH = 2.0
"""Samples over which an outline is smoothed: an arm has no teeth."""

MIXED_RIM = 1.0
"""Width of the rim of an arm that is mixed with the old cloth, pixels."""

HAND_RADIUS = 0.22
"""How far around the wrist a hand is looked for, in shoulder widths."""

LEAST_HAND, LEAST_POCKET = 0.08, 0.10
"""Share of skin around the wrist from which a hand is seen, and of trousers from which a hidden one is in a pocket."""


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
    usual = {side: body.arms[side].usual(ARM_BARE, body.shoulder_width).astype(np.float64) for side in SIDES}
    runs = {side: skin_across(body.labels, (Label.ARMS, Label.HANDS), body.arms[side], usual[side]) for side in SIDES}
    ratios = []
    for side in SIDES:
        shares = body.arms[side].shares
        ratio = runs[side].ends.sum(axis=0) / (2 * usual[side])
        ratios.append(ratio[np.isfinite(ratio) & (shares > OWN_FROM) & (shares < OWN_UNTIL)])
    every = np.concatenate(ratios)
    own = float(np.clip(np.percentile(every, 75), *OWN_WIDTH)) if len(every) >= LEAST_SEEN else 1.0
    return {side: _outline(runs[side], own * usual[side]) for side in SIDES}


@dataclass(frozen=True)
class SkinAcross:
    """The skin across a limb at its ``n`` samples.

    Attributes:
        ends: ``(2, n)`` distances of its outer and inner end from the centre line in pixels, nan where none is seen;
            an end on the far side of the line is negative.
        at_cloth: ``(2, n)`` whether cloth follows there: then the end is that of the cloth and not the limb's own.
    """

    ends: NDArray[np.float64]
    at_cloth: NDArray[np.bool_]


def skin_across(labels: Mask, seen: tuple[Label, ...], limb: Limb, usual: NDArray[np.float64]) -> SkinAcross:
    """Find the run of bare skin nearest to a limb's centre line at every sample.

    Args:
        labels: ``(height, width)`` of `Label`.
        seen: Labels of the limb's skin.
        limb: Arm or leg.
        usual: ``(n,)`` usual half widths in pixels at the limb's samples.
    """
    most = ACROSS * float(usual.max())
    offsets = np.arange(-most, most + STEP, STEP)
    there, framed = values_at(labels, limb.line[:, None] + limb.outward[:, None] * offsets[None, :, None])
    framed &= (limb.shares <= HAND_END)[:, None]
    bare, cloth = framed & labelled_as(there, seen), framed & labelled_as(there, CLOTHES)
    changes = np.diff(np.pad(bare.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    rows, begins = np.nonzero(changes > 0)
    stops = np.nonzero(changes < 0)[1]
    middles, lengths = (offsets[begins] + offsets[stops - 1]) / 2, (stops - begins) * STEP
    on_line = np.abs(middles) < OFF_LINE * usual[rows]
    # A finger or a scrap beside the limb is shorter than the limb.
    merit = np.where(on_line, lengths - np.abs(middles), -np.inf)
    order = np.lexsort((-merit, rows))
    best = order[np.unique(rows[order], return_index=True)[1]]
    best = best[on_line[best] & (lengths[best] >= 0.25 * usual[rows[best]])]
    row, begin, stop = rows[best], begins[best], stops[best]
    ends, at_cloth = np.full((2, len(usual)), np.nan), np.zeros((2, len(usual)), bool)
    ends[:, row] = offsets[stop - 1] + STEP / 2, -(offsets[begin] - STEP / 2)
    before = np.pad(np.cumsum(cloth, axis=1), ((0, 0), (1, 0)))
    at_cloth[0, row] = before[row, np.minimum(stop + 4, len(offsets))] > before[row, stop]
    at_cloth[1, row] = before[row, begin] > before[row, np.maximum(begin - 4, 0)]
    return SkinAcross(ends, at_cloth)


def _outline(skin: SkinAcross, half: NDArray[np.float64]) -> SeenArm:
    """Smooth edges from the raw ones; ``half`` is the arm's own half width at its samples."""
    # Cloth outside of the skin is a cuff.
    known = np.isfinite(skin.ends[0]) & ~skin.at_cloth[0]
    if known.sum() < 4:
        nothing = np.full(len(half), np.nan)
        return SeenArm(nothing, nothing, nothing, half, np.zeros(len(half)))
    index = np.arange(len(half))
    hidden = known & skin.at_cloth[1] & (skin.ends.sum(axis=0) < 2 * BEHIND_BELOW * half)
    mostly = ndimage.median_filter(np.interp(index, index[known], hidden[known].astype(np.float64)), 9, mode="nearest")
    front = 1 - ndimage.gaussian_filter1d(mostly, 1.5 * SMOOTH, mode="nearest")
    filled = np.stack([np.interp(index, index[known], ends[known]) for ends in skin.ends])
    filled = ndimage.median_filter(filled, (1, 5), mode="nearest")
    outer, edge = ndimage.gaussian_filter1d(filled, SMOOTH, axis=1, mode="nearest")
    # Where the arm goes behind the body, the body's edge crosses it; it does not end in a step.
    inner = edge - MIXED_RIM - (1 - front) * (edge + outer)
    unseen = ~ndimage.binary_closing(known, np.ones(5, bool))
    outer, inner, edge = (np.asarray(np.where(unseen, np.nan, values)) for values in (outer, inner, edge))
    return SeenArm(outer, inner, edge, half, front)


def around_wrist(body: BodyModel, side: int) -> Mask:
    """The labels around a wrist, as far as they are in the photo, ``(n,)``."""
    wrist = body.arms[side].points(np.ones(1, np.float32))[0]
    rows, columns = np.indices(body.shape, np.float32)
    near = np.hypot(columns - wrist[0], rows - wrist[1]) < HAND_RADIUS * body.shoulder_width
    return np.asarray(body.labels[near], np.uint8)


def hand_hidden(body: BodyModel, side: int) -> bool:
    """Whether an arm's wrist is under the old garment or out of the frame, and no hand is seen at it."""
    wrist, framed = values_at(body.labels, body.arms[side].points(np.ones(1, np.float32)))
    if not framed[0]:
        return True
    skin = labelled_as(around_wrist(body, side), (Label.HANDS, Label.ARMS)).mean()
    return bool(wrist[0] in (Label.UPPER, Label.FULL) and skin < LEAST_HAND)


def in_pocket(body: BodyModel, side: int) -> bool:
    """Whether a hidden hand is in a pocket: its wrist is in the photo, and trousers are around it."""
    framed = values_at(body.labels, body.arms[side].points(np.ones(1, np.float32)))[1][0]
    if not (framed and hand_hidden(body, side)):
        return False
    return bool((around_wrist(body, side) == Label.LOWER).mean() > LEAST_POCKET)
