"""Trouser legs as ribbons from the waistband to the hem.

The outer edge of a leg's ribbon is the garment's outer edge all the way down; its inner edge is the garment's
centre line to the crotch, shared by both legs, and the inseam below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.lower_landmarks import LowerLandmarks
from engines.warp.body.limbs import usual_leg
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease, towards
from engines.warp.drape.behind_arms import half_behind_arm
from engines.warp.pieces import Reals
from engines.warp.ribbon import Ribbon, string_ribbon

RISE_ROWS, LEG_ROWS, COLUMNS = 16, 56, 11

HIP_EASE = (1.02, 1.10)
"""Least and largest width of the cloth over that of the body, from waistband to crotch."""

HIPS_MOST, HIPS_PER_WAIST = 0.55, 1.25
"""Half width of the hips inside old clothes is at most the larger of these: in shoulder widths, and over that of
the waist."""

LEG_EASE, WIDEST_LEG, WIDEST_SHORT_LEG = 1.03, 1.9, 1.32
"""Least and largest width of a trouser leg over the leg inside; shorts stand off less."""

SHORT_RATIO = 1.0
"""Crotch to hem over the waistband's width; below it a garment counts as shorts."""

FULL_LENGTH_FROM, FULL_LENGTH_OVER = 0.75, 0.55
"""Over this range of the same ratio a garment's length goes over from its own to that of the person's legs."""

ROUND_WAIST = 1.34
"""How much longer cloth is on the body than its width there tells: a waistband as wide as the body lies around an
ellipse 0.7 as deep as wide, whose half girth is so many times its width."""

SHORTEST_SHORTS, LONGEST_SHORTS = 0.15, 0.80
"""End of short legs at least and at most, as a share of crotch to ankle."""

THIGH_TO_HIP = 0.95
"""Half width of the hips at the crotch over how far the thigh's outer edge lies from the axis, at least."""

GROIN = 0.16
"""Share of the leg below the crotch over which the torso's direction turns into the leg's."""

HIP_TO_THIGH = 1.18
"""Half width of the hips at the crotch over the same at most, for a thigh that points down; old
clothes hang further out."""

UPRIGHT = (0.96, 0.99)
"""Cosine of a thigh's angle to the torso from which it counts as pointing down, not at all to fully."""

RAISED = (0.45, 0.80)
"""Sine of a thigh's angle to the torso from which it counts as raised sideways, not at all to fully."""

THICKEST_LEG = 1.06
"""Largest leg assumed under old trousers, over an average bare one."""

CLOSED = 0.30
"""Share of the leg over which the thighs' cloth opens; on shorts it does so before the hem."""

NOTCH = 0.022
"""Half width of the gap between two short hems at least, in shoulder widths."""

SEAM_INSET = 3.0
"""Canvas pixels by which the inseam is taken inside the cloth where the legs touch, so that no soft edges meet."""


def leg_end(marks: LowerLandmarks, body: BodyModel, waistband: float, scale: float) -> float:
    """Where the hem lies on the legs: 0 at the crotch, 1 at the ankle.

    Long trousers end by proportion (long legs over a narrow waistband reach over the shoe); shorts keep their own
    length, lengthened by half of the rise for which the body has no room.
    """
    leg = float(np.mean([body.legs[side].length for side in (-1, 1)]))
    rise = max(marks.crotch[1] - marks.top, 1.0)
    room = (body.crotch_height - waistband) * body.torso_length
    down = scale * ROUND_WAIST
    no_room = max(0.0, rise * down - room) / leg
    short = float(np.clip(marks.leg_length * down / leg + 0.5 * no_room, SHORTEST_SHORTS, LONGEST_SHORTS))
    ratio = marks.leg_length / max(marks.waist_width, 1.0)
    full = float(np.clip(1.02 + 0.10 * (ratio - 1.5), 1.02, 1.07))
    fullness = float(ease((ratio - FULL_LENGTH_FROM) / FULL_LENGTH_OVER))
    return short * (1.0 - fullness) + full * fullness


def lay_leg(marks: LowerLandmarks, body: BodyModel, side: int, *, waistband: float, scale: float, end: float) -> Ribbon:
    """The ribbon of one leg.

    Args:
        marks: Landmarks of the garment, with a crotch.
        body: The body.
        side: Side of the picture.
        waistband: Height of the waistband in torso lengths.
        scale: Working-photo pixels per canvas pixel across.
        end: Share of the leg at which the hem lies.
    """
    crotch_row = marks.crotch[1]
    rise_rows = np.linspace(marks.top - 6.0, crotch_row, RISE_ROWS, endpoint=False)
    # On the body a hem lies square to the leg, however it slants on the flat garment.
    ways = np.linspace(0.0, 1.0 + 8.0 / max(marks.leg_length, 1.0), LEG_ROWS)
    outer_rows, inner_rows = (
        np.concatenate([rise_rows, crotch_row + ways * (hem - crotch_row)]) for hem in marks.hems[side]
    )
    canvas_rows = np.arange(len(marks.left))
    outer = np.interp(outer_rows, canvas_rows, marks.outer(side))
    inner = np.interp(inner_rows, canvas_rows, marks.inseams[side])
    width = np.abs(outer - inner) * scale

    heights = waistband + (body.crotch_height - waistband) * (rise_rows - marks.top) / (crotch_row - marks.top)
    rise_half = _hip_half(body, heights, width[:RISE_ROWS], side)
    crotch_half = _hip_half(body, np.full(1, body.crotch_height), width[RISE_ROWS : RISE_ROWS + 1], side)
    shares = ways * end
    short = marks.leg_length < SHORT_RATIO * marks.waist_width
    leg_outer, leg_inner, touching = _around_leg(
        body, side, shares, width=width[RISE_ROWS:], widest=WIDEST_SHORT_LEG if short else WIDEST_LEG, end=end
    )
    # Hips run out into the thighs without a dent.
    bone = body.skeleton
    thigh = float(np.interp(GROIN, shares, ((leg_outer - bone.shoulders) @ bone.right) * side))
    upright = float(ease((_way_of_thigh(body, side) @ bone.down - UPRIGHT[0]) / (UPRIGHT[1] - UPRIGHT[0])))
    most = HIP_TO_THIGH * thigh * upright + crotch_half * (1.0 - upright)
    crotch_half = np.maximum(np.minimum(crotch_half, most), THIGH_TO_HIP * thigh)
    waist_half = float(rise_half[0])
    rise_half = np.minimum(
        rise_half, np.maximum(waist_half, rise_half * (1.0 - upright) + 1.02 * crotch_half * upright)
    )
    rise_half = np.maximum(rise_half, crotch_half[0] * ease((heights - 0.8) / (body.crotch_height - 0.8)))
    # Just below the crotch the rows still lie square to the torso; they turn into the leg's own over the groin.
    drop = body.crotch_height + shares * body.legs[side].length / body.torso_length
    turned = ease(shares / GROIN)[:, None]
    leg_outer = body.point(drop, side * np.full(LEG_ROWS, crotch_half[0])) * (1.0 - turned) + leg_outer * turned
    leg_inner = body.point(drop) * (1.0 - turned) + leg_inner * turned

    inset = np.concatenate([np.zeros(RISE_ROWS), SEAM_INSET * touching])
    below = np.concatenate([np.zeros(RISE_ROWS), ease(ways * marks.leg_length / (0.12 * marks.height))])
    ribbon = string_ribbon(
        (np.stack([outer, outer_rows], axis=1), np.stack([inner + side * inset, inner_rows], axis=1)),
        (
            _over_raised_thigh(body, side, np.concatenate([body.point(heights, side * rise_half), leg_outer]), shares),
            np.concatenate([body.point(heights), leg_inner]),
        ),
        columns=COLUMNS,
        overhang=(
            np.full(len(outer), 0.10),
            0.004 + 0.096 * below * (1.0 - np.concatenate([np.zeros(RISE_ROWS), touching])),
        ),
    )
    # Above the crotch a leg is one half of the body, below it has two edges of its own.
    share = (np.asarray(ribbon.across) + 1.0) / 2.0
    across = side * (1.0 - share * (1.0 + below[:, None]))
    return Ribbon(ribbon.source, ribbon.target, across.astype(np.float32))


def _over_raised_thigh(body: BodyModel, side: int, outer: NDArray[np.float32], shares: Reals) -> NDArray[np.float32]:
    """The outer edge of a leg's ribbon; over a thigh raised sideways it runs straight from waistband to thigh."""
    aside = float(_way_of_thigh(body, side) @ body.skeleton.right) * side
    raised = float(ease((aside - RAISED[0]) / (RAISED[1] - RAISED[0])))
    last = min(RISE_ROWS + int(np.searchsorted(shares, GROIN)), len(outer) - 1)
    straight = outer.copy()
    straight[: last + 1] = np.linspace(outer[0], outer[last], last + 1)
    return np.asarray(outer * (1.0 - raised) + straight * raised, np.float32)


def _way_of_thigh(body: BodyModel, side: int) -> NDArray[np.float32]:
    """Unit vector from the crotch's height down the thigh."""
    root, thigh = body.legs[side].points(np.array([0.0, GROIN], np.float32))
    return towards(thigh - root)


def _hip_half(body: BodyModel, heights: Reals, width: Reals, side: int) -> NDArray[np.float32]:
    """Half width of the cloth between waistband and crotch."""
    half = half_behind_arm(body, heights, side)
    # Old clothes may be loose; a body's hips go with its waist.
    waist = float(body.half_width(min(body.waist.height, 0.85), side))
    half = np.minimum(half, max(HIPS_MOST * body.shoulder_width, HIPS_PER_WAIST * waist))
    return np.clip(width, HIP_EASE[0] * half, HIP_EASE[1] * half + 0.01 * body.shoulder_width).astype(np.float32)


def _inside_old_clothes(body: BodyModel, side: int, shares: Reals) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Half widths of the leg itself: as measured where it is bare, else no wider than a leg in old clothes can be."""
    leg = body.legs[side]
    height, width = body.shape
    x, y = np.rint(leg.line).astype(int).T
    framed = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    bare = np.where(framed, body.labels[y.clip(0, height - 1), x.clip(0, width - 1)] == Label.LEGS, False)
    bareness = ndimage.gaussian_filter1d(bare.astype(np.float32), 2.0, mode="nearest")
    most = THICKEST_LEG * usual_leg(leg, body.shoulder_width)
    halves = []
    for measured in (leg.outer, leg.inner):
        bounded = np.minimum(measured, most)
        half = bounded + (measured - bounded) * bareness
        halves.append(np.interp(shares, leg.shares, half).astype(np.float32))
    return halves[0], halves[1]


def _around_leg(
    body: BodyModel, side: int, shares: Reals, *, width: Reals, widest: float, end: float
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Outer and inner edge of the cloth around a leg, and how much the two legs' cloth touches, 0 to 1.

    What the garment is wider than the leg goes half outwards and half inwards, but not beyond the middle between
    the legs.
    """
    leg, unit = body.legs[side], body.shoulder_width
    line, outwards = leg.points(shares), leg.outwards(shares)
    other = body.legs[-side].points(shares)
    half_gap = np.linalg.norm(line - other, axis=1) / 2.0
    outer, inner = _inside_old_clothes(body, side, shares)
    need = (outer + inner) * LEG_EASE + 0.012 * unit
    excess = np.clip(width, need, widest * need) - need
    inwards = np.minimum(0.5 * excess, np.maximum(half_gap - inner, 0.0))
    touching = np.asarray(1.0 - ease((shares - 0.02) / min(CLOSED, 0.6 * end)), np.float32)
    cloth_inner = np.maximum(1.02 * inner + inwards, half_gap * (0.5 + 0.5 * touching))
    if end < LONGEST_SHORTS:
        # Two hems and not one, or shorts would be taken for a skirt.
        cloth_inner = np.minimum(cloth_inner, half_gap - NOTCH * unit * (1.0 - touching))
    cloth_outer = 1.02 * outer + 0.01 * unit + 0.5 * excess + 0.35 * (0.5 * excess - inwards)
    return (
        (line + outwards * cloth_outer[:, None]).astype(np.float32),
        (line - outwards * cloth_inner[:, None]).astype(np.float32),
        touching,
    )
