"""Sleeves laid along the arms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.curves import Polyline, at_lengths, lengths_along, mirrored, resampled, smoothed
from engines.garment.sleeves import POINTS, Sleeve
from engines.garment.upper_landmarks import UpperLandmarks
from engines.labels import labelled_as
from engines.warp.body.hidden_hands import hand_hidden, sleeved_arm
from engines.warp.body.limbs import Limb
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease, reach, towards
from engines.warp.drape.arm_in_sleeve import arm_in_sleeve
from engines.warp.drape.torso_loft import TorsoLoft
from engines.warp.ribbon import Ribbon, forced_monotone, string_ribbon

LONG_FROM, AT_ELBOW = 0.62, 0.05
"""Sleeves that reach beyond this share of the arm, and further below the elbow than the second, are long: they lie
closer and are laid to the wrist. Of a bent arm whose forearm is seen from its end the elbow lies low."""

HAND_COVERING = 0.72
"""A sleeve that ends beyond this share of the arm would show nothing but an invented wrist where no hand is seen."""

SEAM_BLEND = 0.35
"""Share of the sleeve over which its own course takes over from the torso's map."""

CAP_LENGTH = 0.75
"""A sleeve whose outer edge is shorter than this share of its seam is a cap: its cuff runs from the outside of the
arm straight to the armpit."""

MOST_SLANT = 0.04
"""By how much a short sleeve may be shorter outside than inside, as a share of the arm: boxy sleeves, laid out, point
sideways, and drawn as long outside as the armpit lies low they would be tubes."""

MOST_PUSH = 0.12
"""Farthest that the outer edge of a sleeve is moved to cover bare skin, in shoulder widths."""

STANDS_OFF = 0.04
"""How far the hem of a short sleeve is led out at most to be as wide as it is laid flat, in shoulder widths."""

GIRTH = 0.82
"""Width of a sleeve around an arm over its width laid flat: between a circle's 0.64 and all of it."""

CUFF_FROM = 0.84
"""Share of a long sleeve from which it narrows to the wrist."""

ARC, SHORT_ARC, ARC_FROM = 0.10, 0.03, 0.72
"""How far the end of a long sleeve and of a short one sags in its middle, over its width, and the share of the sleeve
from which it does: a photo is taken from the height of the chest, and there one looks straight at a hem."""

OVERHANG, LEAST_OVERHANG = 0.08, 0.012
"""How far the grid reaches beyond the sleeve's edges, over its width; the less at the armpit."""

FULL_OVERHANG = 0.6
"""Way from the armpit along the lower edge, over the seam, from which the grid reaches out in full."""

ROW_ADVANCE = 0.02
"""Share of the centre line's step by which each row is at least ahead: at a deep armhole all rows but the last meet at
the armpit, and pushed farther apart they would stick out there."""

ROOT_SHARE = 0.3
"""Share of the lower edge whose direction is that of the sleeve at the armpit."""

STEEPEST_ROW, MOST_FAN = 0.35, 0.6
"""Cosine between a row and the sleeve's direction up to which it crosses the sleeve, and the largest share of the rows
that fan out from the armpit."""

ROUND_FROM_SEAM = 0.6
"""Share of a sleeve over which it becomes round: at its seam it goes on in the same surface as the torso."""

COLUMNS = 11
"""Grid points across a sleeve."""

LEAST_ARM, ELBOW = 1.5, 0.53
"""Length of an arm from shoulder to wrist, in shoulder widths, below which it is drawn foreshortened; and the share of
an arm at which its elbow lies where it is not."""

SURELY_WHOLE, MAYBE_WHOLE = 1.03, 0.62
"""A sleeve that would end beyond the first share of the arm ends at the wrist, however loose the clothes are by which
the garment was sized; one that would end before the second does not."""

SEAM = 0.06
"""Share of an arm at which sleeves begin; what is measured differs from arm to arm, and by that much would long sleeves
differ in length."""

WHOLE_ON_AVERAGE, WHOLE_ALONE = 0.93, 0.86
"""A sleeve that may be a whole one is one if its length, and the way from the middle of the garment over the shoulder
to its cuff, are on average at least the first share of the garment's length, or the sleeve alone at least the second:
of dropped shoulders the one is short, of narrow ones the other."""

BEYOND_WRIST, ABOVE_WRIST = 1.03, 0.88
"""Where on the arm a whole sleeve ends, and how far down any other one reaches at most: the forearm is seen."""


@dataclass(frozen=True)
class LaidSleeve:
    """A sleeve on an arm.

    Attributes:
        ribbon: The grid to draw.
        end: Share of the arm at which the cuff lies, 0 shoulder to 1 wrist; where it slants, on the inner side.
    """

    ribbon: Ribbon
    end: float


def lay_sleeve(marks: UpperLandmarks, body: BodyModel, loft: TorsoLoft, side: int, sleeve: Sleeve) -> LaidSleeve:
    """Lay one sleeve along its arm; the first rows share the torso's map, so that no crack opens at the seam.

    Args:
        marks: Landmarks of the garment.
        body: The body.
        loft: The torso's map.
        side: Picture side.
        sleeve: The sleeve on the canvas.
    """
    arm = arm_in_sleeve(body, side)
    tip = loft.place(marks.point(side, marks.shoulders.tip)).astype(np.float64)
    root = sleeve.lower[0] if sleeve.side == side else mirrored(sleeve.lower[0], marks.axis)
    armpit = loft.place(root).astype(np.float64)
    start = _nearest_share(arm, (tip + armpit) / 2, 0.5)
    end = cuff_share(marks, marks.sleeves or (sleeve, sleeve), body, side, start=start, scale=loft.fit.scale)
    if end > HAND_COVERING and hand_hidden(body, side):
        arm, end = sleeved_arm(arm, body)
    short = end < max(LONG_FROM, arm.bend + AT_ELBOW)
    lower_from = _nearest_share(arm, armpit, 0.55)
    # A wide armhole may reach below a short cuff: then the sleeve is drawn longer, or its cuff slants, instead of
    # folding back.
    end = max(end, min(lower_from + 0.03, end + 0.08))
    lower_end = max(end, lower_from + 0.02)
    lower_from = min(max(lower_from, start) + 0.06 * body.shoulder_width / arm.length, 0.9 * lower_end)
    outer, inner = _edges(arm, body.shoulder_width, sleeve.half_widths * loft.fit.scale, (start, end), short)
    upper_from = min(0.04 * body.shoulder_width / arm.length + 0.5 * start, 0.5 * end)
    over = np.concatenate([tip[None], loft.beyond_tip(side)])
    cap = _is_cap(sleeve)
    outer_end = _end_by_length(arm, outer, over, upper_from, _length(sleeve.upper) * loft.fit.scale) if short else end
    if cap:
        end = outer_end
    lower = np.concatenate([armpit[None], _offset_line(arm, -inner, lower_from, lower_end)])
    if cap:
        lower = _beginning(lower, _length(sleeve.lower) * loft.fit.scale)
    if short:
        lower = _outside_torso(lower, armpit, body, side, end)
    if short and not cap:
        outer_end = float(np.clip(outer_end, lower_end - MOST_SLANT, lower_end))
    upper = np.concatenate([over, _offset_line(arm, outer, upper_from, outer_end)])
    upper, lower = (smoothed(resampled(line, POINTS), 1.0) for line in (upper, lower))
    upper = _over_bare_skin(upper, body, side)
    if short and not cap:
        upper = _standing_off(upper, lower, 2 * float(sleeve.half_widths[-1]) * loft.fit.scale, body)
    fan = max(_fan(upper, lower), _fan(sleeve.upper, sleeve.lower))
    edges = (_prolonged(upper), _fanned(_prolonged(lower), fan))
    cut = (_prolonged(sleeve.upper), _fanned(_prolonged(sleeve.lower), fan))
    ribbon = string_ribbon(cut, edges, COLUMNS, (OVERHANG, _below_armpit(edges)), monotone=False)
    first_rows = ribbon.source[:2].astype(np.float64)
    seam = loft.place(first_rows if sleeve.side == side else mirrored(first_rows, marks.axis))
    target = _arched(_led_from(seam, ribbon.target), SHORT_ARC if short else ARC)
    if cap:  # what lies before the torso is the inner side of the arm
        end = max(end, _nearest_share(arm, lower[-1], 0.6))
    return LaidSleeve(Ribbon(ribbon.source, target, _flat_at_seam(ribbon)), end)


def _over_bare_skin(upper: Polyline, body: BodyModel, side: int) -> Polyline:
    """The outer edge pushed out until it covers a bare shoulder; a straight line from the tip would cut it off."""
    skin = labelled_as(body.labels, (Label.ARMS, Label.TORSO_SKIN)) & (body.matte > 0.5)
    along = towards(np.gradient(upper, axis=0))
    outwards = np.stack([along[:, 1], -along[:, 0]], axis=1)
    outwards *= np.sign(float((outwards @ body.skeleton.right).mean()) * side)
    most = MOST_PUSH * body.shoulder_width
    bare = np.nan_to_num(reach(skin, upper.astype(np.float32), outwards.astype(np.float32), most).astype(np.float64))
    bare[bare >= most] = 0.0
    return np.asarray(upper + outwards * ndimage.gaussian_filter1d(ndimage.maximum_filter1d(bare, 3), 1.0)[:, None])


def _standing_off(upper: Polyline, lower: Polyline, cuff: float, body: BodyModel) -> Polyline:
    """The outer edge of a short sleeve led out to a hem as wide as it is laid flat; cloth does not follow an arm."""
    across = towards(upper[-1] - lower[-1])
    moved = float(np.clip(cuff - np.linalg.norm(upper[-1] - lower[-1]), 0.0, STANDS_OFF * body.shoulder_width))
    along = lengths_along(upper)
    return np.asarray(upper + across * (moved * along / along[-1])[:, None])


def _led_from(seam: NDArray[np.float32], own: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(rows, cols, 2)`` rows of a sleeve, led to their own course from where the torso has the first two."""
    fading = np.clip(1 - np.arange(len(own) - 1) / (SEAM_BLEND * POINTS), 0, 1)[:, None, None]
    course = np.concatenate([seam[:1], own[1:] + (seam[1] - own[1])[None] * fading]).astype(np.float32)
    return forced_monotone(course, advance=ROW_ADVANCE, end_stays=True)


def _flat_at_seam(sleeve: Ribbon) -> NDArray[np.float32]:
    """Places across a sleeve, by which it is shaded, that grow from none at the seam to their own."""
    grown = ease(np.linspace(0.0, 1.0, len(sleeve.target)) / ROUND_FROM_SEAM)
    return np.asarray(np.asarray(sleeve.across) * grown[:, None], np.float32)


def _fan(upper: Polyline, lower: Polyline) -> float:
    """Share of the outer edge after which rows from there to the armpit cross the sleeve and no longer run along it.

    Rows that leave the armpit along the sleeve would lie on each other, where the print folds into specks.
    """
    way = towards(at_lengths(lower, np.array([ROOT_SHARE * _length(lower)]))[0] - lower[0])
    along = towards(upper - lower[0]) @ way
    crossing = np.flatnonzero(along > -STEEPEST_ROW)
    return min(float(crossing[0]) / (len(upper) - 1) if len(crossing) else 1.0, MOST_FAN)


def _fanned(lower: NDArray[np.float32], fan: float) -> NDArray[np.float32]:
    """A prolonged lower edge, evenly spaced, whose points stay at the armpit for the first share of the rows."""
    places = np.arange(len(lower), dtype=np.float64)
    share = np.clip((places[1:-1] - 1) / (len(lower) - 3), 0, 1)
    places[1:-1] = 1 + np.maximum(share - fan, 0) / (1 - fan) * (len(lower) - 3)
    columns = [np.interp(places, np.arange(len(lower)), lower[:, axis]) for axis in range(2)]
    return np.stack(columns, axis=1).astype(np.float32)


def _below_armpit(edges: tuple[NDArray[np.float32], NDArray[np.float32]]) -> NDArray[np.float64]:
    """Overhang of each row beyond the lower edge: rows at the seam point down the body and would stick out there."""
    outer, inner = edges
    away = lengths_along(inner.astype(np.float64)) / max(float(np.linalg.norm(outer[1] - inner[1])), 1.0)
    return np.asarray(LEAST_OVERHANG + (OVERHANG - LEAST_OVERHANG) * ease(away / FULL_OVERHANG), dtype=np.float64)


def _arched(target: NDArray[np.float32], arc: float) -> NDArray[np.float32]:
    """The rows near the end bent to an arc, as a round opening is seen."""
    rows, columns = target.shape[:2]
    across = np.linspace(-1.0, 1.0, columns, dtype=np.float32)
    way = towards(target[-1].mean(axis=0) - target[-4].mean(axis=0))
    width = float(np.linalg.norm(target[-1, -1] - target[-1, 0]))
    near_end = ease((np.linspace(0.0, 1.0, rows) - ARC_FROM) / (1 - ARC_FROM))
    sag = near_end[:, None] * np.maximum(1 - across * across, 0) * (arc * width)
    return np.asarray(target + sag[..., None] * way, dtype=np.float32)


def _nearest_share(arm: Limb, point: NDArray[np.float64], most: float) -> float:
    """Share of the arm, up to ``most``, whose centre is nearest to a point."""
    upper_part = arm.shares <= most
    distances = np.linalg.norm(arm.line[upper_part] - point, axis=1)
    return float(arm.shares[upper_part][int(np.argmin(distances))])


def _is_cap(sleeve: Sleeve) -> bool:
    return _length(sleeve.upper) < CAP_LENGTH * float(np.linalg.norm(sleeve.upper[0] - sleeve.lower[0]))


def _length(line: Polyline) -> float:
    return float(lengths_along(line)[-1])


def _beginning(line: Polyline, length: float) -> Polyline:
    """The first pixels of a line; all of it where it is not that long."""
    return at_lengths(line, np.linspace(0.0, min(max(length, 1.0), _length(line)), POINTS))


def _end_by_length(arm: Limb, outer: NDArray[np.float64], over: Polyline, first: float, length: float) -> float:
    """Share of the arm at which an outer edge of this length ends."""
    shares = np.linspace(first, LONG_FROM, 60)
    line = np.concatenate([over, _offset_line(arm, outer, first, LONG_FROM, 60)])
    along = lengths_along(line)[len(over) :]
    return float(np.interp(length, along, shares, left=first + 0.02))


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


def _offset_line(arm: Limb, distance: NDArray[np.float64], first: float, last: float, count: int = 30) -> Polyline:
    """A line beside the arm's centre line between two shares."""
    shares = np.linspace(first, last, count).astype(np.float32)
    offset = np.interp(shares, arm.shares, distance)
    return np.asarray(arm.points(shares) + arm.outwards(shares) * offset[:, None], dtype=np.float64)


def _outside_torso(
    lower: NDArray[np.float64], armpit: NDArray[np.float64], body: BodyModel, side: int, end: float
) -> NDArray[np.float64]:
    """Keep the inner edge of a hanging short sleeve outside the armpit, where it would otherwise fold."""
    arm = body.arms[side]
    across = body.skeleton.right.astype(np.float64) * side
    origin = body.skeleton.shoulders
    armpit_offset = float((armpit - origin) @ across)
    hanging = ((arm.line - origin) @ across)[arm.shares < max(end, 0.05)].min()
    if hanging <= 0.8 * armpit_offset - 0.05 * body.shoulder_width:
        return lower
    lacking = np.maximum(armpit_offset - 0.01 * body.shoulder_width - (lower - origin) @ across, 0)
    return np.asarray(lower + lacking[:, None] * across)


def _prolonged(line: NDArray[np.float64]) -> NDArray[np.float32]:
    """The line with a point before the seam and one past the cuff, so that both ends fade out in the cloth's alpha."""
    before = line[0] - 0.8 * (line[1] - line[0])
    return np.concatenate([before[None], line, (2 * line[-1] - line[-2])[None]]).astype(np.float32)


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
    length = float(np.mean([sleeve.length for sleeve in sleeves])) * scale / whole_arm
    if SEAM + length > SURELY_WHOLE or (SEAM + length > MAYBE_WHOLE and _are_whole(marks, sleeves)):
        return BEYOND_WRIST
    begin = SEAM if SEAM + length > MAYBE_WHOLE else start
    return _as_drawn(body.arms[side], min(begin + length, ABOVE_WRIST))


def _are_whole(marks: UpperLandmarks, sleeves: tuple[Sleeve, Sleeve]) -> bool:
    """Whether the sleeves are as long as sleeves to the wrist are beside a body of the garment's length."""
    outer = float(np.mean([lengths_along(sleeve.upper)[-1] for sleeve in sleeves]))
    alone = float(np.mean([sleeve.length for sleeve in sleeves]))
    reach = float(marks.shoulders.tip[0]) + outer
    return (reach + alone) / 2 >= WHOLE_ON_AVERAGE * marks.length or alone > WHOLE_ALONE * marks.length


def _as_drawn(arm: Limb, share: float) -> float:
    """Share of an arm that is drawn foreshortened, from that of one which is not: elbows lie where elbows are."""
    return float(np.interp(share, [0.0, ELBOW, 1.0], [0.0, arm.bend, 1.0]))
