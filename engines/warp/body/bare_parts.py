"""The visible parts of arms, hands and legs, and where a bare body would be visible, as fields over the picture.

A limb has its visible width; where clothes hid it, its usual width is blended into the visible one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label, Mask
from engines.regions import labelled_as
from engines.warp.body.limbs import ARM_BARE, END_OF_HAND, LEG_BARE, Limb
from engines.warp.body.model import LEFT, NECK_HALF_WIDTH, NECK_RISE, SIDES, BodyModel
from engines.warp.body.silhouette import ease, values_at
from engines.warp.ribbon import OUTSIDE, Reals, rasterise

CLOTHES = (Label.UPPER, Label.LOWER, Label.FULL)

ACROSS, STEP = 2.2, 0.75
"""Reach of a ray across a limb to either side, in usual half widths, and distance of its samples, pixels."""

OFF_LINE = 1.25
"""How far the middle of the skin may lie from the limb's centre line, in usual half widths."""

BEHIND_BELOW = 0.68
"""Width over the person's own below which cloth hides a part of the arm, because the arm is behind the body there."""

OWN_WIDTH = (0.7, 1.25)
"""Range of a person's own arm width over the usual one."""

OWN_FROM, OWN_UNTIL, OWN_SAMPLES = 0.30, 0.92, 8
"""Shares of the arm between which that width is read, and samples of both arms together that are enough for it."""

SMOOTH = 2.0
"""Samples over which an arm's outline is smoothed."""

MIXED_RIM = 1.0
"""Width of the rim of an arm that is mixed with the old cloth, pixels."""

HAND_RADIUS = 0.22
"""How far around the wrist a hand is looked for, in shoulder widths."""

LEAST_HAND, LEAST_POCKET = 0.08, 0.10
"""Share of skin around the wrist from which a hand is seen, and of trousers from which a hidden one is in a pocket."""

CAP_SLEEVE = 0.25
"""A garment that covers less than this share of the arm leaves the round of the shoulder bare."""

COVERED = 0.5
"""Cover of the drape on a limb's axis from which the limb counts as clothed there."""

BEGINS_WITHIN, LARGEST_BREAK = 0.30, 0.06
"""Cloth on a limb begins within the first share of its length and has no breaks longer than the second."""

CARRIED_OVER = (0.85, 1.15)
"""How far a person's visible width may change the usual one where the limb was hidden."""

LEAST_WIDTH, MOST_ARM, MOST_LEG = 0.3, 1.8, 1.4
"""Width of the skin over the usual one from which it is no sliver, and up to which it is this limb alone; an arm may be
that of an athlete, or be bent, but beside a leg there is another one."""

LEAST_SEEN, CUFF_SAMPLES = 3, 2
"""Samples of an edge that have to be seen in a row to learn from; and those just below a cuff, which may cut them, that
are not trusted where there are more."""

UNDER_CLOTH, FOLDS = 0.95, 6.0
"""Room for a limb within the silhouette of what is worn on it, and samples over which that is smoothed."""

WRIST_END, FOOT_END = 1.03, 1.18
"""Share of the limb at which invented skin ends: of an arm where no hand is seen (one that is seen ends it unseen), and
of a leg, within the shoe."""

IN_SHOE, SHOE_FROM = 0.10, 0.80
"""How far below the upper edge of its shoe a leg may still be seen, in shoulder widths, and the share of the leg from
which its shoe may begin."""

OFF_MIDDLE = 0.25
"""Least distance of the line that counts as a limb's middle from its edges, as a share of its width."""

TORSO_BARE_MOST = ((0.10, 0.46), (0.35, 0.44), (0.66, 0.375), (0.88, 0.405), (1.10, 0.46))
"""Largest half width of a bare torso at heights, in shoulder widths: what is measured may be a loose top's."""

STRIP_ROWS, STRIP_COLUMNS = 48, 9


@dataclass(frozen=True)
class SeenArm:
    """A bare arm or what is seen of it, at the ``n`` samples of its limb.

    Attributes:
        outer: ``(n,)`` distance of its outer edge from the centre line in pixels; nan where no skin is seen.
        inner: ``(n,)`` the same of the inner edge, as far as the arm is in front of the body; an edge on the far
            side of the line is negative.
        edge: ``(n,)`` the inner edge where no clothes hide a part of the arm; nan elsewhere.
    """

    outer: NDArray[np.float64]
    inner: NDArray[np.float64]
    edge: NDArray[np.float64]


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
    own = float(np.clip(np.percentile(every, 75), *OWN_WIDTH)) if len(every) >= OWN_SAMPLES else 1.0
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
    framed &= (limb.shares <= END_OF_HAND)[:, None]
    bare, cloth = framed & labelled_as(there, seen), framed & labelled_as(there, CLOTHES)
    changes = np.diff(np.pad(bare.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    rows, begins = np.nonzero(changes > 0)
    stops = np.nonzero(changes < 0)[1]
    middles, lengths = (offsets[begins] + offsets[stops - 1]) / 2, (stops - begins) * STEP
    on_line = np.abs(middles) < OFF_LINE * usual[rows]
    # Shorter runs beside the limb are fingers or scraps.
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
        return SeenArm(nothing, nothing, nothing)
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
    hidden_edge = unseen | (front <= 0.5)
    return SeenArm(*(np.where(no, np.nan, at) for no, at in ((unseen, outer), (unseen, inner), (hidden_edge, edge))))


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


@dataclass(frozen=True)
class BarePart:
    """One part of the bare body.

    Attributes:
        on: ``(height, width)``, the pixels of this part.
        across: ``(height, width)`` float32, -1 at its left edge in the picture to 1 at its right one; 0 elsewhere.
        share: ``(height, width)`` float32, position along a limb, 0 at its root to 1 at wrist or ankle; 0 on the
            torso.
        begin: Share at which a sleeve or trouser leg ends; 0 where the limb is bare from its root, or a torso.
        side: Side of the picture, -1 or 1, that the outer side of a limb faces; 0 for the torso.
    """

    on: NDArray[np.bool_]
    across: NDArray[np.float32]
    share: NDArray[np.float32]
    begin: float = 0.0
    side: int = 0


def clothed_until(
    limb: Limb, clothed: NDArray[np.float32] | NDArray[np.bool_], longest_break: float = LARGEST_BREAK
) -> float:
    """Share of a limb down to which a garment lies on its centre line without a break; -1 when it does not begin.

    Cloth further down is not the limb's own: a forearm may lie on the skirt.

    Args:
        limb: Arm or leg.
        clothed: ``(height, width)`` cover of a new garment, or where an old one is.
        longest_break: Share of the limb up to which an opening in the cloth is none of its ends.
    """
    on_axis, framed = values_at(clothed, limb.line)
    covered = limb.shares[framed & (on_axis > COVERED)]
    if len(covered) == 0 or covered[0] > BEGINS_WITHIN:
        return -1.0
    breaks = np.flatnonzero(np.diff(covered) > longest_break)
    return float(covered[breaks[0]] if len(breaks) else covered[-1])


def bare_arm(body: BodyModel, side: int, begin: float) -> BarePart:
    """An arm from a share of its length to the wrist; from the round of the shoulder where that is bare too."""
    limb = body.arms[side]
    usual = limb.usual(ARM_BARE, body.shoulder_width)
    outer, inner = bare_edges(body.labels, (Label.ARMS, Label.HANDS), limb, usual)
    end = WRIST_END if hand_hidden(body, side) else END_OF_HAND
    if begin > CAP_SLEEVE:
        return _strip(body.shape, limb, (outer, inner), (begin, end), side)
    arm = _strip(body.shape, limb, (outer, inner), (0.0, end), side)
    radius = max(float(outer[0] + inner[0]) / 2.0, 1.0)
    middle = body.skeleton.shoulder[side] + limb.outward[0] * (float(outer[0]) - radius)
    rows, columns = np.ogrid[: body.shape[0], : body.shape[1]]
    ball = ~arm.on & (np.hypot(columns - middle[0], rows - middle[1]) < radius)
    # Towards the chest the shoulder has no edge.
    outwards = np.clip((columns - middle[0]) * side / radius, 0.0, 1.0) * side
    return replace(arm, on=arm.on | ball, across=np.where(ball, outwards, arm.across).astype(np.float32))


def bare_leg(body: BodyModel, side: int, begin: float) -> BarePart:
    """A leg from a share of its length to the ankle, or to where its shoe is seen."""
    limb = body.legs[side]
    edges = bare_edges(body.labels, (Label.LEGS,), limb, limb.usual(LEG_BARE, body.shoulder_width))
    part = _strip(body.shape, limb, edges, (max(begin, 0.0), FOOT_END), side)
    shares = np.linspace(SHOE_FROM, FOOT_END, 64)
    label, framed = values_at(body.labels, limb.points(shares))
    shoe = framed & (label == Label.FEET)
    if not shoe.any():
        return part
    # In its shoe an ankle is round: it ends beside the shoe's opening, and deeper in its middle.
    depth = IN_SHOE * body.shoulder_width / limb.length * np.sqrt(np.maximum(1.0 - part.across**2, 0.0))
    return replace(part, on=part.on & (part.share - float(shares[int(np.argmax(shoe))]) < depth))


def bare_edges(
    labels: Mask, seen: tuple[Label, ...], limb: Limb, usual: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Distances of a bare limb's edges from its centre line.

    Where an edge is seen it is taken. Elsewhere it eases from there into the usual taper at the person's own
    thickness, within what is worn on it; an edge that cloth hides lies one limb's width beside the one that is seen.

    Args:
        labels: ``(height, width)`` of `Label`.
        seen: Labels of this limb's bare skin.
        limb: Arm or leg.
        usual: ``(n,)`` usual half widths in pixels at the limb's samples.

    Returns:
        Outer and inner distances, ``(n,)`` each, in pixels; an edge on the far side of the line is negative.
    """
    skin = skin_across(labels, seen, limb, usual.astype(np.float64))
    ratio = np.nan_to_num(skin.ends.sum(axis=0) / (2.0 * usual))
    most = MOST_ARM if Label.ARMS in seen else MOST_LEG
    aside = np.nan_to_num(np.abs(skin.ends[0] - skin.ends[1]) / (2.0 * usual))
    believed = (ratio > LEAST_WIDTH) & (ratio < most) & (aside < 1.0) & (limb.shares <= 1.0)
    known = np.stack([ndimage.binary_opening(believed & ~cloth, np.ones(LEAST_SEEN, bool)) for cloth in skin.at_cloth])
    whole = known.all(axis=0)
    own = float(np.clip(np.median(ratio[whole]), *CARRIED_OVER)) if whole.any() else 1.0
    taper = np.asarray(usual * own, np.float64)
    # Folds of the cloth are no form of the limb.
    room = [np.minimum(1.0, UNDER_CLOTH * half / taper) for half in (limb.outer, limb.inner)]
    within = [taper * ndimage.gaussian_filter1d(share, FOLDS, mode="nearest") for share in room]
    surer = 0 if known[0].sum() >= known[1].sum() else 1
    edges = [within[0], within[1]]
    edges[surer] = led_over(within[surer], skin.ends[surer], known[surer])
    facing = np.where(known[surer], 2.0 * taper - edges[surer], within[1 - surer])
    edges[1 - surer] = led_over(facing, skin.ends[1 - surer], known[1 - surer])
    return edges[0].astype(np.float32), edges[1].astype(np.float32)


def led_over(expected: Reals, ends: Reals, known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """An edge of a limb, ``(n,)``: as seen where it is known, bridged between, led over into the expected one above."""
    if not known.any():
        return np.asarray(ndimage.gaussian_filter1d(expected, 2.5, mode="nearest"))
    index = np.arange(len(ends))
    at = index[known]
    at = at[CUFF_SAMPLES:] if len(at) > CUFF_SAMPLES + LEAST_SEEN and at[0] > 0 else at
    beyond = np.interp(index, at, ndimage.median_filter((ends - expected)[at], 5, mode="nearest"))
    beyond *= np.where(index < at[0], ease(index / max(int(at[0]), 1)), 1.0)
    return np.asarray(ndimage.gaussian_filter1d(expected + beyond, 1.0, mode="nearest"))


def bare_half_width(body: BodyModel, heights: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """Half width of a bare torso below the armpits at heights ``(n,)``, on one side, in pixels."""
    most = np.interp(heights, *np.transpose(TORSO_BARE_MOST)) * body.shoulder_width
    return np.asarray(np.minimum(body.half_width(heights, side) * 0.97, most), np.float32)


def bare_torso(body: BodyModel) -> BarePart:
    """Neck, shoulders, chest and midriff down to the crotch."""
    unit, length, bone = body.shoulder_width, body.torso_length, body.skeleton
    tip_rises = [float((bone.shoulders - body.tips[side]) @ bone.down) / length for side in SIDES]
    # The sloping muscle beside the neck stands above the straight shoulder line.
    neck = NECK_RISE * unit / length
    above = [-2.3 * neck, -1.35 * neck, -neck, -max(min(float(np.mean(tip_rises)), 0.9 * neck), 0.0), 0.02, 0.08]
    heights = np.concatenate([above, np.linspace(0.12, body.crotch_height, 30)]).astype(np.float32)
    in_armpit = ease((heights - 0.05) / 0.22)
    position = np.linspace(-1.0, 1.0, 17, dtype=np.float32)
    halves, foot = {}, NECK_HALF_WIDTH * unit
    for side in SIDES:
        tip = body.tip_offset(side)
        line = [0.17 * unit, foot, max(1.45 * foot, 0.5 * tip), 0.84 * tip, 0.92 * tip, 0.92 * tip]
        shoulders = np.interp(heights, above, line)
        halves[side] = shoulders * (1.0 - in_armpit) + bare_half_width(body, heights, side) * in_armpit
    reach = np.where(position < 0, halves[LEFT][:, None], halves[-LEFT][:, None]) * position
    grid = body.point(np.broadcast_to(heights[:, None], reach.shape), reach)
    across = np.broadcast_to(position[None, :, None], (*reach.shape, 1)).astype(np.float32)
    field = rasterise(grid, across, np.s_[0 : body.shape[0], 0 : body.shape[1]])[0]
    on = np.asarray(field > OUTSIDE)
    return BarePart(on, np.where(on, field, 0.0).astype(np.float32), np.zeros(body.shape, np.float32))


def _strip(
    shape: tuple[int, int],
    limb: Limb,
    halves: tuple[NDArray[np.float32], NDArray[np.float32]],
    span: tuple[float, float],
    side: int,
) -> BarePart:
    """A limb between two shares; halves are its outer and inner distances from the centre line."""
    begin, end = span
    if begin >= end - 0.02:
        nothing = np.zeros(shape, np.float32)
        return BarePart(nothing > 0, nothing, nothing)
    shares = np.linspace(begin, end, STRIP_ROWS, dtype=np.float32)
    line, out = limb.points(shares), limb.outwards(shares)
    outer, inner = (np.interp(shares, limb.shares, half)[:, None] for half in halves)
    # The joints may lie at the edge of an arm that is held behind the body, or beside it.
    margin = OFF_MIDDLE * (outer + inner)
    middle = np.clip(0.0, np.minimum(margin - inner, outer - margin), np.maximum(margin - inner, outer - margin))
    position = np.linspace(-1.0, 1.0, STRIP_COLUMNS, dtype=np.float32)
    reach = middle + np.where(position < 0, position * (middle + inner), position * (outer - middle))
    grid = (line[:, None] + out[:, None] * reach[..., None]).astype(np.float32)
    values = np.stack(np.broadcast_arrays(position[None] * side, shares[:, None]), axis=-1).astype(np.float32)
    field = rasterise(grid, values, np.s_[0 : shape[0], 0 : shape[1]])
    on = np.asarray(field[0] > OUTSIDE)
    across, share = (np.where(on, field[k], 0.0).astype(np.float32) for k in range(2))
    return BarePart(on, across, share, begin=begin, side=side)
