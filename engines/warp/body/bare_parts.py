"""Where a bare body would be seen: arms, legs and torso as fields over the picture.

What the photo shows of a limb is taken; where clothes hid it, its usual widths are led over into those that are seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label, Mask
from engines.warp.body.limbs import ARM_BARE, LEG_BARE, Limb
from engines.warp.body.model import LEFT, NECK_HALF_WIDTH, NECK_RISE, SIDES, BodyModel
from engines.warp.body.seen_arms import hand_hidden, skin_across
from engines.warp.body.silhouette import ease, values_at
from engines.warp.ribbon import OUTSIDE, Reals, rasterise

CLOTH_THICKNESS = 0.012
"""How far skin lies below the silhouette of what is worn on it, in shoulder widths."""

CAP_SLEEVE = 0.25
"""A garment that covers less than this share of the arm leaves the round of the shoulder bare."""

COVERED = 0.5
"""Cover of the drape on a limb's axis from which the limb counts as clothed there."""

BEGINS_WITHIN, LARGEST_BREAK = 0.30, 0.06
"""Cloth on a limb begins within the first share of its length and has no breaks longer than the second."""

CARRIED_OVER = (0.85, 1.15)
"""How far a person's own width, as seen, changes the usual one where the limb was hidden."""

LEAST_WIDTH, MOST_ARM, MOST_LEG = 0.3, 1.8, 1.4
"""Width of the skin over the usual one from which it is no sliver, and up to which it is this limb alone; an arm may be
that of an athlete, or be bent, but beside a leg there is another one."""

LEAST_SEEN, CUFF_SAMPLES = 3, 2
"""Samples of an edge that have to be seen in a row to learn from; and those just below a cuff, which may cut them, that
are not trusted where there are more."""

UNDER_CLOTH, FOLDS = 0.95, 6.0
"""Room for a limb within the silhouette of what is worn on it, and samples over which that is smoothed."""

WRIST_END, HAND_END, FOOT_END = 1.03, 1.12, 1.18
"""Share of the limb at which invented skin ends: of an arm where no hand is seen, where one is, under which it ends
unseen, and of a leg, within the shoe."""

IN_SHOE, SHOE_FROM = 0.10, 0.80
"""How far below the upper edge of its shoe a leg may still be seen, in shoulder widths, and the share of the leg from
which its shoe may begin."""

OFF_MIDDLE = 0.25
"""Least distance of the line that counts as a limb's middle from its edges, as a share of its width."""

TORSO_BARE_MOST = ((0.10, 0.46), (0.35, 0.44), (0.66, 0.375), (0.88, 0.405), (1.10, 0.46))
"""Largest half width of a bare torso at heights, in shoulder widths: what is measured may be a loose top's."""

STRIP_ROWS, STRIP_COLUMNS = 48, 9


@dataclass(frozen=True)
class BarePart:
    """One part of the bare body.

    Attributes:
        on: ``(height, width)``, the pixels of this part.
        across: ``(height, width)`` float32, -1 at its left edge in the picture to 1 at its right one; 0 elsewhere.
        share: ``(height, width)`` float32, position along a limb, 0 at its root to 1 at wrist or ankle; 0 on the
            torso.
        begin: Share at which a sleeve or trouser leg ends; 0 where the limb is bare from its root, or a torso.
        bend: Share at which the knee lies; negative for arms and the torso.
        length: Of the limb in pixels; 1 for the torso.
        side: Side of the picture, -1 or 1, that the outer side of a limb faces; 0 for the torso.
    """

    on: NDArray[np.bool_]
    across: NDArray[np.float32]
    share: NDArray[np.float32]
    begin: float = 0.0
    bend: float = -1.0
    length: float = 1.0
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
    end = WRIST_END if hand_hidden(body, side) else HAND_END
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
    part = _strip(body.shape, limb, edges, (max(begin, 0.0), FOOT_END), side, bend=limb.bend)
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
    field = rasterise(grid, across, body.shape)[..., 0]
    on = np.asarray(field > OUTSIDE)
    return BarePart(on, np.where(on, field, 0.0).astype(np.float32), np.zeros(body.shape, np.float32))


def _strip(
    shape: tuple[int, int],
    limb: Limb,
    halves: tuple[NDArray[np.float32], NDArray[np.float32]],
    span: tuple[float, float],
    side: int,
    *,
    bend: float = -1.0,
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
    field = rasterise(grid, values, shape)
    on = np.asarray(field[..., 0] > OUTSIDE)
    across, share = (np.where(on, field[..., k], 0.0).astype(np.float32) for k in range(2))
    return BarePart(on, across, share, begin=begin, bend=bend, length=limb.length, side=side)
