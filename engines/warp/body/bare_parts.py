"""Where a bare body would be seen: arms, legs and torso as fields over the picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.bare_limbs import bare_edges
from engines.warp.body.hidden_hands import hand_hidden
from engines.warp.body.limbs import Limb, prolonged, usual_arm, usual_leg
from engines.warp.body.model import LEFT, NECK_HALF_WIDTH, NECK_RISE, SIDES, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease, reach
from engines.warp.body.torso_width import bare_half_width
from engines.warp.ribbon import OUTSIDE, rasterise

CLOTH_THICKNESS = 0.012
"""How far skin lies below the silhouette of what is worn on it, in shoulder widths."""

CAP_SLEEVE = 0.25
"""A garment that covers less than this share of the arm leaves the round of the shoulder bare."""

SHOULDER_REACH = 0.32
"""Share of the arm over which the round of the shoulder goes over into the upper arm."""

COVERED = 0.5
"""Cover of the drape on a limb's axis from which the limb counts as clothed there."""

BEGINS_WITHIN, LARGEST_BREAK = 0.30, 0.06
"""Cloth on a limb begins within the first share of its length and has no breaks longer than the second."""

NECK_PER_FACE = 0.82
"""Half width of a neck below the chin over that of the lower face."""

NECK_FLARE = 1.1
"""Width of a neck where it meets the shoulders over the width seen of it above."""

LEAST_FACE_ROWS = 12
"""Rows of face from which its place is believed, pixels."""

WRIST_END, HAND_END = 1.03, 1.12
"""Share of the arm at which invented skin ends where no hand is seen, and where one is, under which it ends unseen."""

FOOT_END = 1.18
"""Share of the leg at which invented skin ends, within the shoe."""

IN_SHOE = 0.10
"""How far below the upper edge of its shoe a leg may still be seen, in shoulder widths."""

SHOE_FROM = 0.80
"""Share of the leg from which its shoe may begin."""

LOWEST_HEM, UNDER_HEM = 1.35, 0.03
"""Share of a leg's length beyond which no hem of trousers hangs, and how far below it a leg goes on."""

LEG_SMOOTHED, KNEE_SMOOTHED = 2.5, 4.0
"""Sigma in samples with which the taper of a bare leg is made one curve, and with which its centre line is."""

OFF_MIDDLE = 0.25
"""Least distance of the line that counts as a limb's middle from its edges, as a share of its width."""

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
        elbow: Share at which the elbow of an arm lies; negative for all others.
        side: Side of the picture, -1 or 1, that the outer side of a limb faces; 0 for the torso.
    """

    on: NDArray[np.bool_]
    across: NDArray[np.float32]
    share: NDArray[np.float32]
    begin: float = 0.0
    bend: float = -1.0
    length: float = 1.0
    elbow: float = -1.0
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
    limb, unit = body.arms[side], body.shoulder_width
    usual = usual_arm(limb, unit)
    outer, inner = bare_edges(body.labels, (Label.ARMS, Label.HANDS), limb, usual, (Label.UPPER, Label.FULL))
    outer = _under_cloth(outer, limb, body)
    end = WRIST_END if hand_hidden(body, side) else HAND_END
    if begin > CAP_SLEEVE:
        return replace(_strip(body.shape, limb, (outer, inner), (begin, end), side), elbow=limb.bend, side=side)
    radius = max(min(float(outer[0] + inner[0]) / 2.0, 1.1 * float(usual[0])), 1.0)
    at_shoulder = 1.0 - ease(limb.shares / SHOULDER_REACH)
    inner = (inner + np.maximum(radius - inner, 0.0) * at_shoulder).astype(np.float32)
    arm = _strip(body.shape, limb, (outer, inner), (0.0, end), side)
    middle = body.skeleton.shoulder[side] + limb.outward[0] * (float(outer[0]) - radius)
    # The round of the shoulder stays below the cloth that lay on it.
    solid = (body.matte > 0.5) & (body.labels != Label.HAIR)
    room = float(reach(solid, middle[None], -body.skeleton.down, 0.4 * unit)[0])
    if np.isfinite(room):
        middle = middle + body.skeleton.down * float(np.clip(radius + CLOTH_THICKNESS * unit - room, 0.0, radius))
    on, across = arm.on.copy(), arm.across.astype(np.float32)
    window = _around(middle, radius, body.shape)
    columns = np.arange(window[1].start, window[1].stop, dtype=np.float32)[None] - middle[0]
    rows = np.arange(window[0].start, window[0].stop, dtype=np.float32)[:, None] - middle[1]
    ball = ~on[window] & (np.hypot(columns, rows) < radius)
    # Towards the chest the shoulder has no edge.
    outwards = np.clip(columns * side / np.float32(radius), 0.0, 1.0) + np.zeros_like(rows)
    across[window] = np.where(ball, outwards * side, across[window])
    on[window] |= ball
    return BarePart(on=on, across=across, share=arm.share, length=arm.length, elbow=limb.bend, side=side)


def _around(point: NDArray[np.float32], radius: float, shape: tuple[int, int]) -> tuple[slice, slice]:
    """Rows and columns of a picture within a radius of a point; empty where it lies outside."""
    starts = [min(max(int(place - radius) - 1, 0), end) for place, end in zip(point[::-1], shape, strict=True)]
    stops = [min(max(int(place + radius) + 2, 0), end) for place, end in zip(point[::-1], shape, strict=True)]
    return slice(starts[0], max(stops[0], starts[0])), slice(starts[1], max(stops[1], starts[1]))


def _under_cloth(outer: NDArray[np.float32], limb: Limb, body: BodyModel) -> NDArray[np.float32]:
    """Outer edges of an arm, no further out than a little below the cloth over it."""
    person = reach(body.matte > 0.5, limb.line, limb.outward, 0.4 * body.shoulder_width)
    clothed = labelled_as(values_at(body.labels, limb.line)[0], (Label.UPPER, Label.FULL))
    room = np.where(np.isfinite(person) & clothed, person - CLOTH_THICKNESS * body.shoulder_width, np.inf)
    held = np.minimum(outer, np.maximum(room, 0.6 * outer))
    smooth = ndimage.gaussian_filter1d(held, 2.0, mode="nearest")
    return np.asarray(np.where(clothed, smooth, outer), dtype=np.float32)


def bare_leg(body: BodyModel, side: int, begin: float) -> BarePart:
    """A leg from a share of its length to the ankle, or to where its shoe is seen."""
    limb = _down_to_hem(body.labels, _smooth_line(body.legs[side]))
    usual = ndimage.gaussian_filter1d(usual_leg(limb, body.shoulder_width), LEG_SMOOTHED, mode="nearest")
    edges = bare_edges(body.labels, (Label.LEGS,), limb, usual, (Label.LOWER, Label.FULL))
    span = max(begin, 0.0), max(FOOT_END, float(limb.shares[-1]))
    part = replace(_strip(body.shape, limb, edges, span, side, bend=limb.bend), side=side)
    shoe = _shoe_below(body.labels, limb)
    if not np.isfinite(shoe):
        return part
    # In its shoe an ankle is round: it ends beside the shoe's opening, and deeper in its middle.
    rounded = np.sqrt(np.maximum(1.0 - part.across**2, 0.0))
    depth = IN_SHOE * body.shoulder_width / limb.length
    return replace(part, on=part.on & (part.share - shoe < depth * rounded))


def _down_to_hem(labels: NDArray[np.uint8], leg: Limb) -> Limb:
    """A leg with samples down to the hem of its trousers, where that hangs so far below the ankle."""
    shares = np.linspace(1.0, LOWEST_HEM, 64)
    way = (leg.line[-1] - leg.line[-4]) / float(leg.shares[-1] - leg.shares[-4])
    label, framed = values_at(labels, leg.line[-1] + (shares - float(leg.shares[-1]))[:, None] * way)
    clothed = framed & (label == Label.LOWER)
    if not clothed[0] or clothed.all():
        return leg
    return prolonged(leg, float(shares[int(np.argmin(clothed))]) + UNDER_HEM)


def _shoe_below(labels: NDArray[np.uint8], leg: Limb) -> float:
    """Share of a leg at which its line comes to a shoe; infinite where none is seen there."""
    shares = np.linspace(SHOE_FROM, max(FOOT_END, float(leg.shares[-1])), 64)
    label, framed = values_at(labels, leg.points(shares))
    shoe = framed & (label == Label.FEET)
    return float(shares[int(np.argmax(shoe))]) if shoe.any() else np.inf


def _smooth_line(leg: Limb) -> Limb:
    """The leg with a knee that is bent in a curve and not in a corner."""
    span = np.linspace(0.0, 1.0, len(leg.line), dtype=np.float32)[:, None]
    chord = leg.line[0] + (leg.line[-1] - leg.line[0]) * span
    aside = ndimage.gaussian_filter1d(leg.line - chord, KNEE_SMOOTHED, axis=0, mode="nearest")
    # Both ends stay where they are.
    aside = aside - aside[0] * (1.0 - span) - aside[-1] * span
    return replace(leg, line=np.asarray(chord + aside, np.float32))


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
    halves = {}
    for side in SIDES:
        chest = bare_half_width(body, heights, side)
        tip = body.tip_offset(side)
        foot = _neck_foot(body)
        line = [0.17 * unit, foot, max(1.45 * foot, 0.5 * tip), 0.84 * tip, 0.92 * tip, 0.92 * tip]
        shoulders = np.interp(heights, above, line)
        halves[side] = shoulders * (1.0 - in_armpit) + chest * in_armpit
    reach = np.where(position < 0, halves[LEFT][:, None], halves[-LEFT][:, None]) * position
    middle, half = _face_across(body)
    # The neck leads to the head, which may be held aside, and is narrower than it.
    to_head = ease((-heights - neck) / (1.3 * neck))[:, None]
    narrower = np.minimum(1.0, NECK_PER_FACE * half / np.maximum(halves[LEFT], 1.0))[:, None]
    reach = reach * (1.0 + (narrower - 1.0) * to_head) + middle * to_head
    grid = body.point(np.broadcast_to(heights[:, None], reach.shape), reach)
    across = np.broadcast_to(position[None, :, None], (*reach.shape, 1)).astype(np.float32)
    field = rasterise(grid, across, body.shape)[..., 0]
    on = np.asarray(field > OUTSIDE)
    return BarePart(on, np.where(on, field, 0.0).astype(np.float32), np.zeros(body.shape, np.float32))


def _neck_foot(body: BodyModel) -> float:
    """How far the neck reaches to either side where it meets the shoulders, pixels; above, it may lean aside."""
    usual = NECK_HALF_WIDTH * body.shoulder_width
    neck = (body.labels == Label.NECK) & (body.heights < -NECK_RISE * body.shoulder_width / body.torso_length)
    rows = neck.any(axis=1)
    if rows.sum() < LEAST_FACE_ROWS:
        return usual
    left, right = np.percentile(body.laterals[neck], (3, 97)) * body.shoulder_width
    return float(np.clip(NECK_FLARE * (right - left) / 2, 0.6 * usual, usual))


def _face_across(body: BodyModel) -> tuple[float, float]:
    """Middle and half width of the lower face across the axis, pixels; the usual ones where no face is seen."""
    face = body.labels == Label.FACE
    rows = np.flatnonzero(face.any(axis=1))
    if len(rows) < LEAST_FACE_ROWS:
        return 0.0, NECK_HALF_WIDTH * body.shoulder_width / NECK_PER_FACE
    face[: int(rows[0] + 0.5 * len(rows))] = False
    left, right = np.percentile(body.laterals[face], (3, 97)) * body.shoulder_width
    return float(left + right) / 2, float(right - left) / 2


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
    outer = np.interp(shares, limb.shares, halves[0])[:, None]
    inner = np.interp(shares, limb.shares, halves[1])[:, None]
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
    return BarePart(on, across, share, begin=begin, bend=bend, length=limb.length)
