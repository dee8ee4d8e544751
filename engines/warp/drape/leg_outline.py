"""The two edges of a trouser leg on the body, from the waistband to the hem.

Cloth does not follow every dent of a leg: its edges run smoothly from the waist over the hip and down the leg, as
wide as the garment is, and never inside the bare leg.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.limbs import usual_leg
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease, reach, towards
from engines.warp.drape.behind_arms import half_behind_arm
from engines.warp.drape.hang import is_seated
from engines.warp.drape.leg_length import LONGEST_SHORTS
from engines.warp.pieces import Reals
from engines.warp.sizing import TIGHTEST_EASE, sized

GROIN = 0.16
"""Share of the leg below the crotch over which the torso's direction turns into the leg's."""

HIP_EASE = (1.02, 1.10)
"""Least and largest width of the cloth over that of the body, from waistband to crotch."""

HIPS_MOST, HIPS_PER_WAIST = 0.55, 1.25
"""Half width of the hips inside old clothes is at most the larger of these: in shoulder widths, and over that of
the waist."""

LEG_EASE, WIDEST_LEG, WIDEST_SHORT_LEG = 1.03, 1.9, 1.32
"""Least and largest width of a trouser leg over the leg inside; shorts stand off less."""

THIGH_TO_HIP = 0.95
"""Half width of the hips at the crotch over how far the thigh's outer edge lies from the axis, at least."""

HIP_TO_THIGH = 1.08
"""Half width of the hips at the crotch over the same at most, for a thigh that points down; old
clothes hang further out."""

UPRIGHT = (0.96, 0.99)
"""Cosine of a thigh's angle to the torso from which it counts as pointing down, not at all to fully."""

THICKEST_LEG, THICKEST_SEATED = 1.06, 1.5
"""Largest leg assumed under old trousers, over an average bare one; knees of somebody who sits are nearer to the
camera than the shoulders, and the seat presses the thighs flat."""

CLOSED = 0.35
"""Share of the leg over which the thighs' cloth opens; on shorts it does so before the hem."""

HELD = 0.35
"""Share of that over which it does not open at all: cloth hangs together between thighs that do not touch."""

NOTCH = 0.022
"""Half width of the gap between two short hems at least, in shoulder widths."""

WIDEST_FORK = 1.10
"""Largest width of the cloth between legs that stand apart over that of the leg's inner half."""

OVER_SKIN, TOWARDS_OTHER, WIDEST_SKIN = 0.012, 0.75, 0.35
"""How far past bare skin the cloth reaches at least, in shoulder widths; the share of the way to the line of the other
leg from which what is seen is that leg; and how far skin is looked for, in shoulder widths."""

SHARPEST_FOLD = 0.65
"""Cloth on the inner side of a bent knee reaches at most this share of the way to where its rows would meet."""

LEG_STEADIED = 5.0
"""Samples of a leg over which its half widths are smoothed; calves and folds of old trousers do not shape cloth."""

FOLD_STEADIED = 2.0
"""Rows over which the bend of a knee is smoothed."""

EDGE_STEADIED = 0.05
"""Length over which the cloth's edges are smoothed, in torso lengths."""


@dataclass(frozen=True)
class LegOutline:
    """The cloth of one leg on the body, row by row.

    Attributes:
        outer: ``(n, 2)`` pixels, from the waistband to the hem.
        inner: ``(n, 2)`` the body's axis down to the crotch, the inseam below.
        touching: ``(n,)`` how much the two legs' cloth touches, 0 to 1; 0 above the crotch.
    """

    outer: NDArray[np.float32]
    inner: NDArray[np.float32]
    touching: NDArray[np.float32]


@dataclass(frozen=True)
class LegRows:
    """Where the rows of a leg's cloth lie along the body, and how wide they are.

    Attributes:
        heights: ``(r,)`` of the rows above the body's crotch, torso lengths.
        shares: ``(l,)`` of the rows from there down, shares of the leg.
        width: ``(r + l,)`` of the cloth, pixels of the working photo.
        end: Share of the leg at which the hem lies.
        short: Whether these are shorts.
        girth: By what the garment is wider than one that fits.
        crotch: Share of the leg at which the garment's own crotch hangs; the cloth above it is one.
    """

    heights: Reals
    shares: Reals
    width: Reals
    end: float
    short: bool
    girth: float = 1.0
    crotch: float = 0.0


def outline_of_leg(body: BodyModel, side: int, rows: LegRows) -> LegOutline:
    """String the edges of a leg's cloth along the body."""
    rise = len(rows.heights)
    leg_outer, leg_inner, touching = _around_leg(body, side, rows)
    rise_half, crotch_half = _hips(body, side, rows, leg_outer)
    # Just below the crotch the rows still lie square to the torso; they turn into the leg's own over the groin.
    drop = body.crotch_height + rows.shares * body.legs[side].length / body.torso_length
    turned = ease((rows.shares - rows.crotch) / GROIN)[:, None]
    level = np.full(len(rows.shares), side * crotch_half)
    leg_outer = body.point(drop, level) * (1.0 - turned) + leg_outer * turned
    leg_inner = body.point(drop, _between_legs(body, drop)) * (1.0 - turned) + leg_inner * turned
    outer = np.concatenate([body.point(rows.heights, side * rise_half), leg_outer])
    steadied = EDGE_STEADIED * body.torso_length
    outer, leg_inner = _smoothed(outer, steadied), _smoothed(leg_inner, steadied)
    return LegOutline(
        outer,
        np.concatenate([body.point(rows.heights), leg_inner]),
        np.concatenate([np.zeros(rise, np.float32), touching]),
    )


def _between_legs(body: BodyModel, heights: Reals) -> NDArray[np.float64]:
    """Offset from the axis, ``(n,)`` pixels, of what lies half way between the thighs a little below the crotch."""
    bone = body.skeleton
    if is_seated(body):
        return np.zeros(len(heights))
    thighs = np.mean([body.legs[side].points(np.array([0.0, GROIN], np.float32)) for side in SIDES], axis=0)
    away = thighs - bone.shoulders
    below = (away @ bone.down) / body.torso_length
    return np.asarray(np.interp(heights, below, [0.0, float(away[1] @ bone.right)]), np.float64)


def _hips(
    body: BodyModel, side: int, rows: LegRows, leg_outer: NDArray[np.float32]
) -> tuple[NDArray[np.float32], float]:
    """Half width of the cloth in the rows above the crotch, and at the crotch: hips run out into the thighs."""
    bone, rise = body.skeleton, len(rows.heights)
    half = _hip_half(body, np.append(rows.heights, body.crotch_height), rows, side)
    rise_half, crotch_half = half[:-1], float(half[-1])
    thigh = float(np.interp(GROIN, rows.shares, ((leg_outer - bone.shoulders) @ bone.right) * side))
    root, groin = body.legs[side].points(np.array([0.0, GROIN], np.float32))
    upright = float(ease((towards(groin - root) @ bone.down - UPRIGHT[0]) / (UPRIGHT[1] - UPRIGHT[0])))
    most = HIP_TO_THIGH * thigh * upright + crotch_half * (1.0 - upright)
    crotch_half = max(min(crotch_half, most), THIGH_TO_HIP * thigh)
    bounded = rise_half * (1.0 - upright) + 1.02 * crotch_half * upright
    rise_half = np.minimum(rise_half, np.maximum(rise_half[0], bounded))
    rise_half = np.maximum(rise_half, crotch_half * ease((rows.heights - 0.8) / (body.crotch_height - 0.8)))
    # From where they are widest they go over into the thigh without a dent; below, rays from the axis may end in the
    # gap between the legs.
    hip = int(np.argmax(rise_half))
    rise_half[hip:] = np.maximum(rise_half[hip:], np.linspace(rise_half[hip], crotch_half, rise - hip + 1)[:-1])
    return rise_half.astype(np.float32), crotch_half


def _hip_half(body: BodyModel, heights: Reals, rows: LegRows, side: int) -> NDArray[np.float64]:
    """Half width of the cloth between waistband and crotch."""
    half = half_behind_arm(body, heights, side)
    # Old clothes may be loose; a body's hips go with its waist.
    waist = float(body.half_width(min(body.waist.height, 0.85), side))
    half = np.minimum(half, max(HIPS_MOST * body.shoulder_width, HIPS_PER_WAIST * waist))
    most = HIP_EASE[1] * half + 0.01 * body.shoulder_width
    fitting = np.clip(rows.width[: len(heights)], HIP_EASE[0] * half, most)
    down = (heights - heights[0]) / max(float(heights[-1] - heights[0]), 1e-3)
    return sized(fitting, rows.girth, half, ease(down))


def _inside_old_clothes(body: BodyModel, side: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Half widths of the leg itself at its samples: as measured where bare, else no wider than a leg can be."""
    leg = body.legs[side]
    labels, framed = values_at(body.labels, leg.line)
    bare = framed & (labels == Label.LEGS)
    bareness = ndimage.gaussian_filter1d(bare.astype(np.float32), 2.0, mode="nearest")
    thickest = THICKEST_SEATED if is_seated(body) else THICKEST_LEG
    most = thickest * usual_leg(leg, body.shoulder_width)
    halves = []
    for measured in (leg.outer, leg.inner):
        bounded = np.minimum(measured, most)
        half = bounded + (measured - bounded) * bareness
        halves.append(half.astype(np.float32))
    return halves[0], halves[1]


def _around_leg(
    body: BodyModel, side: int, rows: LegRows
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Outer and inner edge of the cloth around a leg, and how much the two legs' cloth touches, 0 to 1.

    What the garment is wider than the leg goes half outwards and half inwards, but not beyond the middle between
    the legs.
    """
    leg, unit, shares = body.legs[side], body.shoulder_width, rows.shares
    line, outwards = leg.points(shares), leg.outwards(shares)
    half_gap = np.linalg.norm(line - body.legs[-side].points(shares), axis=1) / 2.0
    outer, inner = (
        np.interp(shares, leg.shares, ndimage.gaussian_filter1d(half, LEG_STEADIED, mode="nearest"))
        for half in _inside_old_clothes(body, side)
    )
    need = (outer + inner) * LEG_EASE + 0.012 * unit
    # Below the knee cloth hangs straight past the thinner shin.
    knee = float(np.interp(leg.bend, shares, need))
    widest = np.where(shares > leg.bend, np.maximum(need, knee), need)
    widest = widest * (WIDEST_SHORT_LEG if rows.short else WIDEST_LEG)
    wanted = np.clip(rows.width[len(rows.heights) :], need, widest) * rows.girth
    excess = np.maximum(wanted, np.minimum(need, TIGHTEST_EASE * (outer + inner))) - need
    inwards = np.minimum(0.5 * excess, np.maximum(half_gap - inner, 0.0))
    below = shares - rows.crotch
    closed = min(CLOSED, 0.6 * (rows.end - rows.crotch))
    touching = np.asarray(1.0 - ease((below - HELD * closed) / ((1.0 - HELD) * closed)), np.float32)
    forked = ease(below / GROIN) if rows.crotch > 0.0 else np.ones_like(touching)
    fork = half_gap + (np.minimum(half_gap, WIDEST_FORK * inner) - half_gap) * forked
    cloth_inner = np.maximum(1.02 * inner + inwards, fork * (0.5 + 0.5 * touching))
    cloth_inner = np.minimum(cloth_inner, SHARPEST_FOLD * _fold_radius(line, outwards))
    if rows.end < LONGEST_SHORTS:
        # Two hems and not one, or shorts would be taken for a skirt.
        cloth_inner = np.minimum(cloth_inner, half_gap - NOTCH * unit * (1.0 - touching))
    cloth_outer = 1.02 * outer + 0.01 * unit + 0.5 * excess + 0.35 * (0.5 * excess - inwards)
    bare_outer, bare_inner = _around_skin(body, side, shares)
    cloth_outer, cloth_inner = np.maximum(cloth_outer, bare_outer), np.maximum(cloth_inner, bare_inner)
    return (
        (line + outwards * cloth_outer[:, None]).astype(np.float32),
        (line - outwards * cloth_inner[:, None]).astype(np.float32),
        touching,
    )


def _around_skin(body: BodyModel, side: int, shares: Reals) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least distance of the cloth from a leg's line, outwards and inwards, to cover the skin that the photo shows.

    ``(n,)`` pixels each at the shares of the leg, 0 where no skin is seen.
    """
    leg, unit = body.legs[side], body.shoulder_width
    worn = labelled_as(body.labels, (Label.LEGS, Label.LOWER))
    line, outwards = leg.points(shares), leg.outwards(shares)
    apart = np.linalg.norm(line - body.legs[-side].points(shares), axis=1)
    edges = []
    for way, room in ((outwards, np.full(len(shares), np.inf)), (-outwards, TOWARDS_OTHER * apart)):
        seen = np.nan_to_num(reach(worn, line, way, WIDEST_SKIN * unit), nan=0.0)
        ends = values_at(body.labels, line + way * np.maximum(seen - 2.0, 0.0)[:, None])[0] == Label.LEGS
        ends &= (seen > 0) & (seen < np.minimum(WIDEST_SKIN * unit - 1.0, room))
        edge = ndimage.median_filter(np.where(ends, seen + OVER_SKIN * unit, 0.0), 5, mode="nearest")
        edges.append(ndimage.gaussian_filter1d(ndimage.maximum_filter1d(edge, 5), 1.5, mode="nearest"))
    return edges[0], edges[1]


def _fold_radius(line: NDArray[np.float32], outwards: NDArray[np.float32]) -> NDArray[np.float64]:
    """How far inwards the rows across a bent leg meet, ``(n,)`` pixels; infinite where it is straight."""
    steps = np.diff(line, axis=0)
    gained = np.einsum("nk,nk->n", np.diff(outwards, axis=0), towards(steps))
    bend = gained / np.maximum(np.linalg.norm(steps, axis=1), 1e-3)
    steady = ndimage.gaussian_filter1d(np.append(bend, bend[-1]), FOLD_STEADIED, mode="nearest")
    return np.asarray(np.where(steady > 1e-6, 1.0 / np.maximum(steady, 1e-6), np.inf), np.float64)


def _smoothed(curve: NDArray[np.float32], reach: float) -> NDArray[np.float32]:
    """A curve without kinks: in every point the straight line that fits its neighbours best.

    Args:
        curve: ``(n, 2)`` pixels; how densely it is sampled does not matter.
        reach: Standard deviation of the weights along the curve, pixels.
    """
    steps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    spacing = np.gradient(along) if len(along) > 2 else np.ones(len(along))
    away = along[None] - along[:, None]
    weight = np.exp(-0.5 * (away / max(reach, 1e-3)) ** 2) * np.maximum(spacing, 1e-3)
    total, first, second = (np.sum(weight * away**power, axis=1) for power in (0, 1, 2))
    slope = np.maximum(total * second - first**2, 1e-9)
    share = weight * (second[:, None] - first[:, None] * away) / slope[:, None]
    return np.asarray(share @ curve, np.float32)
