"""Draping trousers, shorts and skirts.

A skirt is one ribbon from waistband to hem. The outer edge of a leg's ribbon is the garment's outer edge all the way
down; its inner edge is the garment's centre line to the crotch, shared by both legs, and the inseam below. On the body
cloth does not follow every dent of a leg: its edges run smoothly from the waist over the hip and down the leg, as wide
as the garment is, and never inside the bare leg.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.cloth import Cloth
from engines.garment.curves import smoothed
from engines.garment.lower_landmarks import LowerLandmarks, LowerShape, find_lower_landmarks
from engines.garment_kinds import GarmentKind
from engines.warp.body.limbs import LEG_BARE
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease, values_at
from engines.warp.drape.behind import behind_top
from engines.warp.drape.hang import FITTING, TIGHTEST_EASE, Sizing, drop_to, falling, hanging_rows, refuse_lap, sized
from engines.warp.ribbon import Drape, Piece, Reals, Ribbon, draw, string_ribbon

HIDDEN_WAISTBAND = 0.80
"""Height of a waistband under a top worn over it, in torso lengths."""

BELIEVABLE_WAISTBAND = (0.60, 0.92)
"""Range of heights for a waistband that is open to view."""

WIDEST_HIDDEN_WAIST = 0.80
"""Width of a waist under a loose top at most, in shoulder widths."""

WAIST_EASE = 1.03
"""Width of the waistband over that of the body there."""

LONGEST_SKIRT = 0.97
"""Largest length of a skirt as a share of the way to the ankles."""

SKIRT_ROWS = 64

RISE_ROWS, LEG_ROWS, COLUMNS = 16, 56, 17

BEYOND_HEM = 4.0
"""Canvas pixels by which a ribbon reaches beyond the hem, so that the cloth's own soft alpha ends it."""

SEAM_INSET, UNDER_NEAR_LEG = 3.0, 0.03
"""Where the legs touch, the inseam of the far one is taken so many canvas pixels inside its cloth and goes on under the
near leg by this share of its width: one soft edge lies on whole cloth, and no two meet."""

SHORT_RATIO, FULL_LENGTH_FROM, FULL_LENGTH_OVER = 1.0, 0.75, 0.55
"""Crotch to hem over the waistband's width, below which a garment counts as shorts; and the range of it over which its
length goes over from its own to that of the person's legs."""

ROUND_WAIST = 1.34
"""How much longer cloth is on the body than its width there tells: a waistband as wide as the body lies around an
ellipse 0.7 as deep as wide, whose half girth is so many times its width."""

SHORTEST_SHORTS, LONGEST_SHORTS = 0.15, 0.80
"""End of short legs at least and at most, as a share of crotch to ankle."""

OVER_OLD_HEM, LONGEST = 0.02, 1.10
"""Long trousers reach this much below the hem of those in the photo, but never further than the second: nobody knows
what the ankles behind them look like."""

GROIN = 0.16
"""Share of the leg below the crotch over which the torso's direction turns into the leg's."""

HIP_EASE = (1.02, 1.10)
"""Least and largest width of the cloth over that of the body, from waistband to crotch."""

HIPS_MOST, HIPS_PER_WAIST = 0.55, 1.25
"""Half width of the hips inside old clothes is at most the larger of these: in shoulder widths, and over that of
the waist."""

HIP_TO_THIGH = (0.95, 1.08)
"""Half width of the cloth at the crotch over how far the thigh's outer edge lies from the axis: old clothes hang
further out."""

LEG_EASE, WIDEST_LEG, WIDEST_SHORT_LEG = 1.03, 1.9, 1.32
"""Least and largest width of a trouser leg over the leg inside; shorts stand off less."""

THICKEST_LEG, THICKEST_SEATED = 1.06, 1.5
"""Largest leg assumed under old trousers, over an average bare one; knees of somebody who sits are nearer to the
camera than the shoulders, and the seat presses the thighs flat."""

CLOSED, HELD = 0.35, 0.35
"""Share of the leg over which the thighs' cloth opens, on shorts before the hem; and share of that over which it does
not open at all: cloth hangs together between thighs that do not touch."""

WIDEST_FORK = 1.10
"""Largest width of the cloth between legs that stand apart over that of the leg's inner half."""

NOTCH = 0.022
"""Half width of the gap between two short hems at least, in shoulder widths: two hems and not one, or shorts would be
taken for a skirt."""

LEG_STEADIED, EDGE_STEADIED = 5.0, 2.0
"""Samples of a leg over which its half widths are smoothed, for calves and folds of old trousers do not shape cloth;
and rows over which the cloth's edges are."""

LEG_SHADOW, SHADOW_REACH, SHADOW_FROM = 0.46, 0.016, 0.12
"""Depth of the shadow that the near leg throws on the far one, its width in shoulder widths, and over how many torso
lengths below the crotch it comes up: without it two plain legs flow into one."""


def drape_lower(
    cloth: Cloth,
    body: BodyModel,
    kind: GarmentKind | None = None,
    *,
    under_tucked_top: bool = False,
    sizing: Sizing = FITTING,
) -> Drape:
    """Lay a lower-body garment on a person.

    Args:
        cloth: The garment, cut out.
        body: The body, in pixels of the working photo.
        kind: As the caller named it; decides between legs and skirt where it says.
        under_tucked_top: Shows the waistband, as a top put on before was tucked in; otherwise as in the photo.
        sizing: How much larger or smaller than fitting it is.

    Returns:
        The far leg first, or the skirt alone.

    Raises:
        EngineError: ``garment_not_recognised`` when there is too little cloth to measure, ``pose_not_usable`` for a
            skirt on somebody who sits.
    """
    marks = find_lower_landmarks(cloth, kind)
    open_waist = under_tucked_top or body.waist.tucked
    waistband = waistband_height(body, open_waist)
    # Under a loose top what is measured is the top's width.
    width = min(body.width(waistband), np.inf if open_waist else WIDEST_HIDDEN_WAIST * body.shoulder_width)
    scale = WAIST_EASE * width / max(marks.waist_width, 1.0)
    legs = marks.shape is LowerShape.LEGS
    checks = {"waistband_height": waistband, "scale": scale, "legs": float(legs)}
    if not legs:
        refuse_lap(body)
        skirt = draw(_lay_skirt(marks, body, waistband, scale, sizing), cloth, body.shape, "skirt")
        return Drape((behind_top(skirt, body, waistband_open=open_waist),), checks)
    pieces, end = draw_legs(cloth, marks, body, waistband=waistband, scale=scale, sizing=sizing)
    hidden = tuple(behind_top(piece, body, waistband_open=open_waist) for piece in pieces)
    return Drape(hidden, {**checks, "leg_end": end})


def waistband_height(body: BodyModel, open_waist: bool) -> float:
    """Where the waistband sits, in torso lengths below the shoulders."""
    # A little above the line that was seen, so that no rim of the old waistband is left.
    at = body.waist.height - 0.02 if open_waist and body.waist.tucked else HIDDEN_WAISTBAND
    return float(np.clip(at, *BELIEVABLE_WAISTBAND))


def _lay_skirt(marks: LowerLandmarks, body: BodyModel, waistband: float, scale: float, sizing: Sizing) -> Ribbon:
    """One ribbon from the waistband to the hem."""
    length = min(marks.height * scale * sizing.length, LONGEST_SKIRT * drop_to(body, waistband, "ankle"))
    rows = np.linspace(marks.top - 6.0, marks.bottom + 8.0, SKIRT_ROWS)
    canvas_rows = np.arange(len(marks.left))
    left, right = (np.interp(rows, canvas_rows, edge) for edge in (marks.left, marks.right))
    # Half way between the garment's own middle in each row and the middle of the waistband.
    centre = 0.5 * (left + right) / 2.0 + 0.5 * marks.axis
    hanging = hanging_rows(body, waistband, (rows - marks.top) / marks.height * length)
    targets: dict[int, NDArray[np.float64]] = {}
    for side, edge in ((-1, left), (1, right)):
        natural = (edge - centre) * side * scale
        extent = hanging.extents[side]
        hanging_half = hanging.half_width(natural, float(body.half_width(1.0, side)), side)
        snug = np.clip(natural, 1.02 * extent, 1.12 * extent + 0.02 * body.shoulder_width)
        half = np.where(hanging.distances < 0.5 * hanging.hips_at, snug, hanging_half)
        half = sized(half, sizing.girth, extent, ease(hanging.distances / hanging.hips_at))
        half = ndimage.gaussian_filter1d(falling(half, natural), 2.0, mode="nearest")
        targets[side] = hanging.centres + side * half[:, None] * body.skeleton.right
    return string_ribbon(
        (np.stack([left, rows], axis=1), np.stack([right, rows], axis=1)),
        (targets[-1], targets[1]),
        columns=13,
        overhang=(0.06, 0.06),
    )


def draw_legs(
    cloth: Cloth,
    marks: LowerLandmarks,
    body: BodyModel,
    *,
    waistband: float,
    scale: float,
    sizing: Sizing,
) -> tuple[list[Piece], float]:
    """Both legs of trousers, the far one first and in the shadow of the other.

    Args:
        cloth: The garment, or what of it is below the waist.
        marks: Its landmarks, with a crotch.
        body: The body.
        waistband: Height of the waistband in torso lengths.
        scale: Working-photo pixels per canvas pixel across.
        sizing: How much larger or smaller than fitting it is.

    Returns:
        The legs, and the share of them at which their hems lie.
    """
    end = leg_end(marks, body, scale, sizing.length)
    rows, columns = np.indices(cloth.alpha.shape, dtype=np.float32)
    pieces: list[Piece] = []
    # z grows away from the camera.
    for side in sorted(SIDES, key=lambda side: -body.skeleton.depth[side]):
        far = not pieces
        ribbon = _lay_leg(marks, body, side, waistband=waistband, scale=scale, end=end, far=far, girth=sizing.girth)
        own = (rows < marks.crotch[1] - 1) | ((columns - marks.divider[:, None]) * side >= -0.5)
        soft = cv2.GaussianBlur(own.astype(np.float32), (0, 0), 0.7)
        leg = replace(cloth, alpha=(cloth.alpha * soft).astype(np.float32))
        pieces.append(draw(ribbon, leg, body.shape, "left_leg" if side < 0 else "right_leg"))
    return joined_at_crotch(pieces, body), end


def joined_at_crotch(pieces: list[Piece], body: BodyModel) -> list[Piece]:
    """The far leg in the shadow of the near one below the crotch, and the near one."""
    far, near = pieces
    beside = cv2.GaussianBlur(near.alpha, (0, 0), max(SHADOW_REACH * body.shoulder_width, 0.7))
    below = ease((body.heights - body.crotch_height) / SHADOW_FROM)
    shade = 1.0 - np.float32(LEG_SHADOW) * np.clip(2.0 * np.asarray(beside, np.float32), 0.0, 1.0) * below
    return [replace(far, colour=far.colour * shade[..., None]), near]


def leg_end(marks: LowerLandmarks, body: BodyModel, scale: float, length: float = 1.0) -> float:
    """Where the hem lies on the legs: 0 at the crotch, 1 at the ankle.

    Long trousers end by proportion (long legs over a narrow waistband reach over the shoe), though not above the hem
    of the trousers in the photo; shorts keep their own length.

    Args:
        marks: Landmarks of the garment, with a crotch.
        body: The body.
        scale: Working-photo pixels per canvas pixel across.
        length: By what the garment is longer than one that fits.
    """
    own = marks.leg_length * scale * ROUND_WAIST * length / float(np.mean([leg.length for leg in body.legs.values()]))
    old_hem = 0.0
    for leg in body.legs.values():
        labels, framed = values_at(body.labels, leg.line)
        worn = leg.shares[labels == Label.LOWER]
        old_hem = max(old_hem, float(worn[-1]) if framed.all() and len(worn) else 0.0)
    ratio = marks.leg_length / max(marks.waist_width, 1.0)
    full = float(np.clip(1.02 + 0.10 * (ratio - 1.5), 1.02, 1.07))
    full = length * max(full, min(old_hem + OVER_OLD_HEM, LONGEST))
    fullness = float(ease((ratio - FULL_LENGTH_FROM) / FULL_LENGTH_OVER))
    return float(np.clip(own, SHORTEST_SHORTS, LONGEST_SHORTS)) * (1.0 - fullness) + full * fullness


def _lay_leg(
    marks: LowerLandmarks,
    body: BodyModel,
    side: int,
    *,
    waistband: float,
    scale: float,
    end: float,
    far: bool,
    girth: float,
) -> Ribbon:
    """The ribbon of one leg; ``far`` if it lies behind the other. Its crotch lies at that of the body."""
    # On the body a hem lies square to the leg, however it slants on the flat garment.
    crotch_row = marks.crotch[1]
    rise = np.linspace(marks.top - 6.0, crotch_row, RISE_ROWS, endpoint=False)
    ways = np.linspace(0.0, 1.0 + BEYOND_HEM / max(marks.leg_length, 1.0), LEG_ROWS)
    canvas_rows = np.arange(len(marks.left))
    flat = []
    for edge, hem in zip((marks.outer(side), marks.inseams[side]), marks.hems[side].ends, strict=True):
        rows = np.concatenate([rise, crotch_row + ways * (hem - crotch_row)])
        flat.append(np.stack([np.interp(rows, canvas_rows, edge), rows], axis=1))
    outer, inner, touching = _on_body(
        body,
        side,
        heights=waistband + (rise - marks.top) / (crotch_row - marks.top) * (body.crotch_height - waistband),
        shares=ways * end,
        width=np.abs(flat[0][:, 0] - flat[1][:, 0]) * scale,
        end=end,
        short=marks.leg_length < SHORT_RATIO * marks.waist_width,
        girth=girth,
    )
    below = np.concatenate([np.zeros(len(rise)), ease(ways * marks.leg_length / (0.12 * marks.height))])
    beyond = np.maximum(0.10 * below * (1.0 - touching * far), UNDER_NEAR_LEG if far else 0.004)
    flat[1][:, 0] += side * SEAM_INSET * touching * far
    overhang = np.full(len(below), 0.10)
    ribbon = string_ribbon((flat[0], flat[1]), (outer, inner), columns=COLUMNS, overhang=(overhang, beyond))
    # Above the crotch a leg is one half of the body, below it has two edges of its own.
    share = (ribbon.across + 1.0) / 2.0
    across = side * (1.0 - share * (1.0 + below[:, None]))
    return Ribbon(ribbon.source, ribbon.target, across.astype(np.float32))


def _on_body(
    body: BodyModel,
    side: int,
    *,
    heights: Reals,
    shares: Reals,
    width: Reals,
    end: float,
    short: bool,
    girth: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Where the edges of a leg's cloth lie.

    Args:
        body: The body.
        side: Picture side.
        heights: ``(r,)`` of the rows above the crotch, torso lengths.
        shares: ``(l,)`` of the rows from there down, shares of the leg.
        width: ``(r + l,)`` of the cloth, pixels of the working photo.
        end: Share of the leg at which the hem lies.
        short: Whether these are shorts.
        girth: By what the garment is wider than one that fits.

    Returns:
        Outer and inner edge, ``(n, 2)`` pixels, and how much both legs' cloth touches, ``(n,)``.
    """
    rise = len(heights)
    leg_outer, leg_inner, touching = _around_leg(body, side, shares, width[rise:], end=end, short=short, girth=girth)
    # Old clothes may be loose; a body's hips go with its waist.
    down = np.append(heights, body.crotch_height)
    half = body.half_width(down, side)
    waist = float(body.half_width(min(body.waist.height, 0.85), side))
    half = np.minimum(half, max(HIPS_MOST * body.shoulder_width, HIPS_PER_WAIST * waist))
    most = HIP_EASE[1] * half + 0.01 * body.shoulder_width
    fitting = np.clip(width[: rise + 1], HIP_EASE[0] * half, most)
    hips = sized(fitting, girth, half, ease((down - down[0]) / max(float(np.ptp(down)), 1e-3)))
    # Hips run out into the thighs, and from where they are widest without a dent; below, rays from the axis may end in
    # the gap between the legs.
    bone = body.skeleton
    thigh = float(np.interp(GROIN, shares, ((leg_outer - bone.shoulders) @ bone.right) * side))
    hips[-1] = max(hips[-1], HIP_TO_THIGH[0] * thigh)
    if not body.skeleton.seated:
        hips[-1] = min(hips[-1], HIP_TO_THIGH[1] * thigh)
        hips[:-1] = np.minimum(hips[:-1], max(hips[0], 1.02 * hips[-1]))
    widest = int(np.argmax(hips[:-1]))
    hips[widest:] = np.maximum(hips[widest:], np.linspace(hips[widest], hips[-1], len(hips) - widest))
    # Just below the crotch the rows still lie square to the torso; they turn into the leg's own over the groin.
    drop = body.crotch_height + shares * body.legs[side].length / body.torso_length
    turned = ease(shares / GROIN)[:, None]
    level = np.full(len(shares), side * hips[-1])
    leg_outer = body.point(drop, level) * (1.0 - turned) + leg_outer * turned
    leg_inner = body.point(drop) * (1.0 - turned) + leg_inner * turned
    outer = np.concatenate([body.point(heights, side * hips[:-1]), leg_outer])
    inner = np.concatenate([body.point(heights), smoothed(leg_inner, EDGE_STEADIED)])
    return smoothed(outer, EDGE_STEADIED), inner, np.concatenate([np.zeros(len(heights)), touching])


def _around_leg(
    body: BodyModel, side: int, shares: Reals, width: Reals, *, end: float, short: bool, girth: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float32]]:
    """Outer and inner edge of the cloth around a leg, and how much the two legs' cloth touches, 0 to 1.

    What the garment is wider than the leg goes half outwards and half inwards, but not beyond the middle between
    the legs.
    """
    leg, unit = body.legs[side], body.shoulder_width
    line, outwards = leg.points(shares), leg.outwards(shares)
    half_gap = np.linalg.norm(line - body.legs[-side].points(shares), axis=1) / 2.0
    # The leg itself is as measured where it is bare; under cloth it is no wider than a leg can be.
    labels, framed = values_at(body.labels, leg.line)
    bare = ndimage.gaussian_filter1d((framed & (labels == Label.LEGS)).astype(np.float32), 2.0, mode="nearest")
    thickest = (THICKEST_SEATED if body.skeleton.seated else THICKEST_LEG) * leg.usual(LEG_BARE, unit)
    halves = []
    for measured in (leg.outer, leg.inner):
        bounded = np.minimum(measured, thickest)
        own = ndimage.gaussian_filter1d(bounded + (measured - bounded) * bare, LEG_STEADIED, mode="nearest")
        halves.append(np.interp(shares, leg.shares, own))
    outer, inner = halves
    need = (outer + inner) * LEG_EASE + 0.012 * unit
    # Below the knee cloth hangs straight past the thinner shin.
    widest = np.where(shares > leg.bend, np.maximum(need, float(np.interp(leg.bend, shares, need))), need)
    widest = widest * (WIDEST_SHORT_LEG if short else WIDEST_LEG)
    wanted = np.clip(width, need, widest) * girth
    excess = np.maximum(wanted, np.minimum(need, TIGHTEST_EASE * (outer + inner))) - need
    inwards = np.minimum(0.5 * excess, np.maximum(half_gap - inner, 0.0))
    closed = min(CLOSED, 0.6 * end)
    touching = np.asarray(1.0 - ease((shares - HELD * closed) / ((1.0 - HELD) * closed)), np.float32)
    fork = half_gap + (np.minimum(half_gap, WIDEST_FORK * inner) - half_gap) * ease(shares / GROIN)
    cloth_inner = np.maximum(1.02 * inner + inwards, fork * (0.5 + 0.5 * touching))
    if end < LONGEST_SHORTS:
        cloth_inner = np.minimum(cloth_inner, half_gap - NOTCH * unit * (1.0 - touching))
    cloth_outer = 1.02 * outer + 0.01 * unit + 0.5 * excess + 0.35 * (0.5 * excess - inwards)
    return line + outwards * cloth_outer[:, None], line - outwards * cloth_inner[:, None], touching
