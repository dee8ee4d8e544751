"""Sleeves laid along the arms: their first rows share the torso's map, so that no crack opens at the seam."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.cloth import Cloth
from engines.garment.curves import Polyline, at_lengths, lengths_along, mirrored, resampled, smoothed
from engines.garment.upper_landmarks import POINTS, Sleeve, UpperLandmarks
from engines.regions import BoolMask, dilated, eroded, labelled_as
from engines.warp.body.bare_parts import clothed_until, hand_hidden, led_over, seen_arms
from engines.warp.body.limbs import ARM_CLOTHED, Limb
from engines.warp.body.model import LEFT, SIDES, BodyModel
from engines.warp.body.silhouette import ease, values_at
from engines.warp.drape.torso import TorsoLoft
from engines.warp.ribbon import Piece, Ribbon, draw, forced_monotone, string_ribbon

UNDER_OLD_SLEEVE = 0.92
"""Half width of an arm over that of a usual one in its sleeve at most: what is thicker is a wide old sleeve."""

LONG_FROM, AT_ELBOW = 0.62, 0.05
"""Sleeves that reach beyond this share of the arm, and further below the elbow than the second, are long: they lie
closer and are laid to the wrist. Of a bent arm whose forearm is seen from its end the elbow lies low."""

HAND_COVERING = 0.72
"""A sleeve that ends beyond this share of the arm would show nothing but an invented wrist where no hand is seen."""

MOST_BEYOND = 0.12
"""How far a sleeve follows the old one beyond a hidden hand's wrist within the picture, as a share of the arm."""

SEAM_BLEND = 0.35
"""Share of the sleeve over which its own course takes over from the torso's map."""

CAP_LENGTH = 0.75
"""A sleeve whose outer edge is shorter than this share of its seam is a cap: its cuff runs from the outside of the
arm straight to the armpit."""

MOST_SLANT = 0.04
"""By how much a short sleeve may be shorter outside than inside, as a share of the arm: boxy sleeves, laid out, point
sideways, and drawn as long outside as the armpit lies low they would be tubes."""

GIRTH = 0.82
"""Width of a sleeve around an arm over its width laid flat: between a circle's 0.64 and all of it."""

CUFF_FROM = 0.84
"""Share of a long sleeve from which it narrows to the wrist."""

OVERHANG = (0.08, 0.05)
"""How far the grid reaches beyond the sleeve's outer and inner edge, over its width."""

ROW_ADVANCE = 0.02
"""Share of the centre line's step by which each row is at least ahead: at a deep armhole all rows but the last meet at
the armpit, and pushed farther apart they would stick out there."""

ROUND_FROM_SEAM = 0.6
"""Share of a sleeve over which it becomes round: at its seam it goes on in the same surface as the torso."""

COLUMNS = 11
"""Grid points across a sleeve."""

LEAST_ARM, ELBOW = 1.5, 0.53
"""Length of an arm from shoulder to wrist, in shoulder widths, below which it is drawn foreshortened; and the share of
an arm at which its elbow lies where it is not."""

SURELY_WHOLE, MAYBE_WHOLE, SEAM = 1.03, 0.62, 0.06
"""A sleeve that would end beyond the first share of the arm ends at the wrist, however loose the clothes are by which
the garment was sized; one that would end before the second does not. The share at which sleeves begin."""

WHOLE_ON_AVERAGE, WHOLE_ALONE = 0.93, 0.86
"""A sleeve that may be a whole one is one if its length, and the way from the middle of the garment over the shoulder
to its cuff, are on average at least the first share of the garment's length, or the sleeve alone at least the second:
of dropped shoulders the one is short, of narrow ones the other."""

BEYOND_WRIST, ABOVE_WRIST = 1.03, 0.88
"""Where on the arm a whole sleeve ends, and how far down any other one reaches at most: the forearm is seen."""

TORSO_OVERLAP, SLEEVE_OVERLAP = 4, 2
"""Canvas pixels by which torso and sleeves are cut larger than their parts, so that they overlap at the seam."""

SOFT = 0.8
"""Standard deviation with which a part ends, canvas pixels."""

FRINGE = 2
"""How far a soft outline reaches beyond its part, canvas pixels."""


def draw_sleeves(
    cloth: Cloth, marks: UpperLandmarks, body: BodyModel, loft: TorsoLoft
) -> tuple[list[Piece], dict[str, float]]:
    """Both sleeves of a garment on the arms, and the shares of the arms at which they end; nothing where it has none.

    Args:
        cloth: The garment without the inside of its back.
        marks: Its landmarks.
        body: The body.
        loft: The torso's map.
    """
    pieces, ends = [], {}
    for side, sleeve in zip(SIDES, marks.sleeves or (), strict=False):
        part = marks.sleeve_parts[0 if sleeve.side == LEFT else 1]
        name = "left_sleeve" if side == LEFT else "right_sleeve"
        ribbon, ends[f"{name}_end"] = lay_sleeve(marks, body, loft, side, sleeve)
        pieces.append(draw(ribbon, with_overlap(cloth, part, SLEEVE_OVERLAP), body.shape, name))
    return pieces, ends


def torso_alone(cloth: Cloth, marks: UpperLandmarks) -> Cloth:
    """A garment without its sleeves."""
    if marks.sleeves is None:
        return cloth
    return with_overlap(cloth, marks.torso_part, TORSO_OVERLAP, np.asarray(marks.sleeve_parts.any(axis=0), bool))


def with_overlap(cloth: Cloth, part: BoolMask, overlap: int, bending: BoolMask | None = None) -> Cloth:
    """The cloth with everything transparent but one part, and what lies beside it at its seam.

    Args:
        cloth: The whole garment.
        part: ``(h, w)`` bool, the part of it.
        overlap: How far it goes on under its neighbour, canvas pixels.
        bending: ``(h, w)`` bool, neighbours that bend away from it: the outline of a torso goes straight on past the
            tip of the shoulder while that of a sleeve bends down. What overlaps there would be a corner beside it.
    """
    cover = dilated(part, overlap)
    if bending is not None:
        rim = dilated(bending, FRINGE) & ~eroded(cloth.alpha > 0.5, overlap + 1)
        cover &= part | ~rim
    soft = cv2.GaussianBlur(cover.astype(np.float32), (0, 0), SOFT)
    return replace(cloth, alpha=(cloth.alpha * soft).astype(np.float32))


def lay_sleeve(
    marks: UpperLandmarks, body: BodyModel, loft: TorsoLoft, side: int, sleeve: Sleeve
) -> tuple[Ribbon, float]:
    """Lay one sleeve along its arm.

    Args:
        marks: Landmarks of the garment.
        body: The body.
        loft: The torso's map.
        side: Picture side.
        sleeve: The sleeve on the canvas.

    Returns:
        The grid to draw, and the share of the arm at which the cuff lies; where it slants, on the inner side.
    """
    unit, scale = body.shoulder_width, loft.fit.scale
    arm = _arm_in_sleeve(body, side)
    tip = loft.place(marks.point(side, marks.shoulders.tip)).astype(np.float64)
    over = np.concatenate([tip[None], loft.over_shoulder(side)[1:]])
    root = sleeve.lower[0] if sleeve.side == side else mirrored(sleeve.lower[0], marks.axis)
    armpit = loft.place(root).astype(np.float64)
    start = _nearest_share(arm, (tip + armpit) / 2, 0.5)
    end = cuff_share(marks, marks.sleeves or (sleeve, sleeve), body, side, start=start, scale=scale)
    if end > HAND_COVERING and hand_hidden(body, side):
        end = old_cuff(arm, body)
    short = end < max(LONG_FROM, arm.bend + AT_ELBOW)
    # A wide armhole may reach below a short cuff: then the sleeve is drawn longer, or its cuff slants, instead of
    # folding back.
    lower_from = _nearest_share(arm, armpit, 0.55)
    end = max(end, min(lower_from + 0.03, end + 0.08))
    lower_end = max(end, lower_from + 0.02)
    lower_from = min(max(lower_from, start) + 0.06 * unit / arm.length, 0.9 * lower_end)
    upper_from = min(0.04 * unit / arm.length + 0.5 * start, 0.5 * end)
    outer, inner = _edges(arm, unit, sleeve.half_widths * scale, (start, end), short)
    lower = np.concatenate([armpit[None], _beside(arm, -inner, lower_from, lower_end)])
    outer_end = end
    if short:
        # Outside, a short sleeve is as long as it was cut.
        shares = np.linspace(upper_from, LONG_FROM, 60)
        along = lengths_along(np.concatenate([over, _beside(arm, outer, upper_from, LONG_FROM, 60)]))[len(over) :]
        outer_end = float(np.interp(_length(sleeve.upper) * scale, along, shares, left=upper_from + 0.02))
        if _length(sleeve.upper) < CAP_LENGTH * float(np.linalg.norm(sleeve.upper[0] - sleeve.lower[0])):
            cut_off = min(max(_length(sleeve.lower) * scale, 1.0), _length(lower))
            lower = at_lengths(lower, np.linspace(0.0, cut_off, POINTS))
            # What lies before the torso is the inner side of the arm.
            end = max(outer_end, _nearest_share(arm, lower[-1], 0.6))
        else:
            outer_end = float(np.clip(outer_end, lower_end - MOST_SLANT, lower_end))
    upper = np.concatenate([over, _beside(arm, outer, upper_from, outer_end)])
    upper, lower = (smoothed(resampled(line, POINTS), 1.0) for line in (upper, lower))
    cut, edges = (_prolonged(sleeve.upper), _prolonged(sleeve.lower)), (_prolonged(upper), _prolonged(lower))
    ribbon = string_ribbon(cut, edges, COLUMNS, OVERHANG, monotone=False)
    first_rows = ribbon.source[:2].astype(np.float64)
    seam = loft.place(first_rows if sleeve.side == side else mirrored(first_rows, marks.axis))
    target = _led_from(seam, ribbon.target)
    grown = ease(np.linspace(0.0, 1.0, len(target)) / ROUND_FROM_SEAM)[:, None]
    return Ribbon(ribbon.source, target, np.asarray(ribbon.across * grown, np.float32)), end


def _arm_in_sleeve(body: BodyModel, side: int) -> Limb:
    """An arm with the half widths that a sleeve goes around: as seen where bare, no wide old sleeve elsewhere."""
    arm, seen = body.arms[side], seen_arms(body)[side]
    thickest = UNDER_OLD_SLEEVE * arm.between(ARM_CLOTHED, body.shoulder_width)
    edges = []
    for measured, own in ((arm.outer, seen.outer), (arm.inner, seen.edge)):
        led = led_over(np.minimum(measured, thickest), own, np.isfinite(own) & (arm.shares > 0.1))
        edges.append(led.astype(np.float32))
    return replace(arm, outer=edges[0], inner=edges[1])


def cuff_share(
    marks: UpperLandmarks, sleeves: tuple[Sleeve, Sleeve], body: BodyModel, side: int, *, start: float, scale: float
) -> float:
    """Share of an arm at which the cuff of a sleeve lies.

    The size of a garment follows the chest, which may be that of loose old clothes: whether its sleeves are whole
    ones is read off the garment's own proportions first. Both sleeves of a garment are equally long.

    Args:
        marks: Landmarks of the garment.
        sleeves: Both sleeves on the canvas.
        body: The body.
        side: Picture side.
        start: Share of the arm at which the sleeve begins.
        scale: Photo pixels per canvas pixel.
    """
    whole_arm = max([body.arms[each].length for each in SIDES] + [LEAST_ARM * body.shoulder_width])
    own = float(np.mean([sleeve.length for sleeve in sleeves]))
    from_middle = float(marks.shoulders.tip[0]) + float(np.mean([_length(sleeve.upper) for sleeve in sleeves]))
    ends = SEAM + own * scale / whole_arm
    whole = (from_middle + own) / 2 >= WHOLE_ON_AVERAGE * marks.length or own > WHOLE_ALONE * marks.length
    if ends > SURELY_WHOLE or (ends > MAYBE_WHOLE and whole):
        return BEYOND_WRIST
    share = min(ends if ends > MAYBE_WHOLE else ends - SEAM + start, ABOVE_WRIST)
    # Of an arm that is drawn foreshortened elbows lie where elbows are.
    return float(np.interp(share, [0.0, ELBOW, 1.0], [0.0, body.arms[side].bend, 1.0]))


def old_cuff(arm: Limb, body: BodyModel) -> float:
    """Share of an arm whose hand is hidden at which the old sleeve ends, or is out of the picture."""
    until = clothed_until(arm, labelled_as(body.labels, (Label.UPPER, Label.FULL)))
    if not values_at(body.labels, arm.points(np.array([until + 0.05], np.float32)))[1][0]:
        # So far out of the picture that no corner of the cuff is seen.
        return float(arm.shares[-1])
    return float(np.clip(until, BEYOND_WRIST, BEYOND_WRIST + MOST_BEYOND))


def _edges(
    arm: Limb, unit: float, cloth_half: NDArray[np.float64], span: tuple[float, float], short: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances of the sleeve's edges from the arm's centre line at every sample, outer and inner, in pixels."""
    start, end = span
    # A wide short sleeve hangs against the body, and closes the armpit.
    snug, most, inwards = (0.014, 0.050, 4.0) if short else (0.010, 0.034, 1.2)
    room = np.full(len(arm.shares), most)
    # Cloth laid flat is half its girth wide; around an arm it is narrower.
    half = np.interp(arm.shares, np.linspace(start, end, len(cloth_half)), cloth_half) * GIRTH
    if not short:
        # A cuff goes round the wrist.
        room = room * (1 - 0.7 * ease((arm.shares - CUFF_FROM * end) / ((1 - CUFF_FROM) * end)).astype(np.float64))
    middle, own = (arm.outer - arm.inner) / 2, (arm.outer + arm.inner) / 2
    outer = middle + np.clip(half, own + snug * unit, own + (snug + 0.75 * room) * unit)
    inner = np.clip(half, own + snug * unit, own + (snug + inwards * room) * unit) - middle
    outer, inner = ndimage.gaussian_filter1d(outer, 2), ndimage.gaussian_filter1d(inner, 2)
    # The outer edge leaves the shoulder on the silhouette and gains its room on the way down.
    ramp = ease((arm.shares - 0.4 * start) / (0.8 * end)).astype(np.float64)
    return np.minimum(outer, arm.outer + (0.010 + 0.045 * ramp) * unit), inner


def _led_from(seam: NDArray[np.float32], own: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(rows, cols, 2)`` rows of a sleeve, led to their own course from where the torso has the first two."""
    fading = np.clip(1 - np.arange(len(own) - 1) / (SEAM_BLEND * POINTS), 0, 1)[:, None, None]
    course = np.concatenate([seam[:1], own[1:] + (seam[1] - own[1])[None] * fading]).astype(np.float32)
    return forced_monotone(course, advance=ROW_ADVANCE, end_stays=True)


def _nearest_share(arm: Limb, point: NDArray[np.float64], most: float) -> float:
    """Share of the arm, up to ``most``, whose centre is nearest to a point."""
    upper_part = arm.shares <= most
    distances = np.linalg.norm(arm.line[upper_part] - point, axis=1)
    return float(arm.shares[upper_part][int(np.argmin(distances))])


def _length(line: Polyline) -> float:
    return float(lengths_along(line)[-1])


def _beside(arm: Limb, distance: NDArray[np.float64], first: float, last: float, count: int = 30) -> Polyline:
    """A line beside the arm's centre line between two shares."""
    shares = np.linspace(first, last, count).astype(np.float32)
    offset = np.interp(shares, arm.shares, distance)
    return np.asarray(arm.points(shares) + arm.outwards(shares) * offset[:, None], dtype=np.float64)


def _prolonged(line: NDArray[np.float64]) -> NDArray[np.float32]:
    """The line with a point before the seam and one past the cuff, so that both ends fade out in the cloth's alpha."""
    before = line[0] - 0.8 * (line[1] - line[0])
    return np.concatenate([before[None], line, (2 * line[-1] - line[-2])[None]]).astype(np.float32)
