"""How large a top is on a body, and where its collar, shoulders and hem come to lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import dilated
from engines.garment.upper_landmarks import UpperLandmarks
from engines.labels import labelled_as
from engines.warp.body.model import LEFT, NECK_HALF_WIDTH, NECK_RISE, RIGHT, SIDES, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import reach
from engines.warp.body.torso_width import torso_half_width
from engines.warp.sizing import FITTING, Sizing

CROPPED_RATIO = 0.98
"""A garment wider at the chest than this share of its length is cropped and is never stretched to the waist."""

OUTERMOST_STRAP = 0.82
"""How far out on the shoulder the outer edge of a strap lies at most, over the offset of its tip: further out it would
slip off."""

LEAST_TIP, MOST_TIP = 0.88, 0.93
"""Where on the shoulder a sleeve is sewn in, over the offset of the body's tip: further in the seam that lies farthest
out would be on the shoulder, and beyond it the sleeve goes round the shoulder while a torso would end in a corner, as
one without sleeves does."""

NARROWEST_COLLAR = 0.20
"""Least distance of the foot of a collar from the middle of the neck, in shoulder widths: within lies the neck."""


BESIDE_NECK, NECK_WITHIN = 0.03, 0.29
"""How far outside the neck that is seen a neckband begins at least, and up to which distance from the axis that is
asked, in shoulder widths: it lies on the slope of the shoulder, and does not climb the side of the neck; a head that is
held aside is farther from the axis than its neck's foot."""

SEEN_ROWS = (-0.42, -0.20)
"""Between which heights the neck is looked at, shoulder widths below the mid-shoulder: the head begins above, the
shoulders begin below."""

LEAST_ROWS = 5
"""Rows that show both edges of the neck from which its middle is believed."""

NARROWEST, WIDEST = 0.22, 0.52
"""Believable widths of a neck, in shoulder widths: what is narrower is half hidden, what is wider is shoulder."""

UNSURE, FARTHEST = 0.04, 0.20
"""Distance of the middle from the axis that says nothing, and the farthest it may lie, in shoulder widths."""

ROWS_TOGETHER, SLOPES_FROM = 2.0, 0.6
"""Rows over which the edge of a neck is levelled (standard deviation), and pixels aside for one row from which it is
the slope of a shoulder and no side of a neck."""

MOST_AT_NECK = 0.30
"""Highest believable rise of a shoulder where it meets the neck, in shoulder widths; what is higher is a collar."""

UNDER_CLOTH, ROUNDING, ROUNDING_IN_SLEEVE = 0.012, 0.050, 0.032
"""How far the shoulder lies below the silhouette of the cloth worn on it, everywhere and in addition at the tip, where
it stays bare and where a sleeve goes on from it; in shoulder widths."""

HOLLOW = 1.3
"""Exponent of the bare shoulder's rise from the tip to the neck; 1 is straight."""

CLOTH_ON_TOP = 0.010
"""Thickness of cloth above the skin, in shoulder widths."""


@dataclass(frozen=True)
class Fit:
    """The measures by which a garment was sized to a body.

    Attributes:
        scale: Photo pixels per canvas pixel across.
        scale_down: The same along the body.
        origin: Canvas row that lies at ``origin_drop``.
        origin_drop: Where the foot of the collar lies, pixels below the mid-shoulder (negative is above).
        hem_height: Where the hem comes to lie, torso lengths below the shoulders.
        neck: Per side, offset of the foot of the collar from the axis, photo pixels.
        neck_middle: Offset of the collar's middle from the axis, positive towards the right of the picture.
        tip: Per side, offset of the shoulder tip.
        girth: By what its sides stand wider than fitting; its print keeps its scale.
    """

    scale: float
    scale_down: float
    origin: float
    origin_drop: float
    hem_height: float
    neck: dict[int, float]
    tip: dict[int, float]
    girth: float
    neck_middle: float = 0.0


def fit_garment(marks: UpperLandmarks, body: BodyModel, sizing: Sizing = FITTING) -> Fit:
    """Choose the scale of a garment on a body, and where its neck, shoulders and hem come to lie."""
    torso = body.torso_length
    sleeved = marks.sleeves is not None
    proportion = marks.chest / max(marks.length, 1.0)
    # Boxy garments are worn wide, slim ones close to the body.
    chest_ease = 1.04 + float(np.clip(0.7 * (proportion - 0.62), 0.0, 0.20))
    shoulders = body.tip_offset(LEFT) + body.tip_offset(RIGHT)
    seam = 2 * max(marks.shoulders.corner, 1.0)
    # Shoulder seams lie near the body's shoulder tips; straps may lie anywhere between neck and tip.
    narrowest, widest = (0.85, 1.30) if sleeved else (0.30, 2.2)
    chest = sum(float(torso_half_width(body, np.array([0.30]), side)[0]) for side in SIDES)
    scale = chest * chest_ease / marks.chest
    scale = float(np.clip(scale, narrowest * shoulders / seam, widest * shoulders / seam))

    tip = _tips(marks, body, scale)
    neck, middle = _feet(marks, body, scale, tip)
    rises = [float(shoulder_rise(body, np.array([neck[side]]), side)[0]) for side in SIDES]
    origin_drop = -float(np.mean(rises))
    natural = (origin_drop + marks.length * scale * sizing.length) / torso
    cropped = proportion > CROPPED_RATIO or marks.length * scale / torso <= 0.80
    wanted = natural if cropped else _hem_height(natural, body)
    stretch = (wanted * torso - origin_drop) / max(natural * torso - origin_drop, 1.0)
    scale_down = scale * sizing.length * float(np.clip(stretch, 0.80, 1.30))
    hem_height = (origin_drop + marks.length * scale_down) / torso
    origin = float(marks.shoulders.neck_foot[1])
    return Fit(scale, scale_down, origin, origin_drop, hem_height, neck, tip, sizing.girth, middle)


def _tips(marks: UpperLandmarks, body: BodyModel, scale: float) -> dict[int, float]:
    """Offset of both shoulder tips from the axis, photo pixels, of a garment of so many of them per canvas pixel."""
    beyond = marks.shoulders.corner / max(float(marks.shoulders.tip[0]), 1.0)
    low, high = 0.40 if marks.sleeves is None else LEAST_TIP / beyond, OUTERMOST_STRAP if is_strap(marks) else MOST_TIP
    natural, tips = marks.shoulders.tip[0] * scale, {side: body.tip_offset(side) for side in SIDES}
    return {side: float(np.clip(natural, low * tips[side], high * tips[side])) for side in SIDES}


def _feet(
    marks: UpperLandmarks, body: BodyModel, scale: float, tip: dict[int, float]
) -> tuple[dict[int, float], float]:
    """Offset of both feet of the collar from the axis, photo pixels, and that of its middle."""
    unit, shoulders = body.shoulder_width, marks.shoulders
    natural = float(shoulders.neck_foot[0]) * scale
    if is_strap(marks):
        return {side: tip[side] * float(shoulders.neck_foot[0] / max(shoulders.tip[0], 1.0)) for side in SIDES}, 0.0
    if shoulders.hood:  # a hood's foot lies far out on the shoulder and stays there
        return {side: float(np.clip(natural, 0.17 * unit, 0.94 * tip[side])) for side in SIDES}, 0.0
    # Wide necklines are drawn in a little: on the body cloth slides towards the neck.
    wide = natural if natural < 0.25 * unit else 0.25 * unit + 0.75 * (natural - 0.25 * unit)
    base = neck_base(body)
    feet = {side: max(wide, NARROWEST_COLLAR * unit) + side * base.middle for side in SIDES}
    beside = {side: min(base.sides[side] + BESIDE_NECK * unit, NECK_WITHIN * unit) for side in SIDES}
    wider = {side: 0.0 if shoulders.stands else max(beside[side] - feet[side], 0.0) for side in SIDES}
    middle = base.middle + (wider[RIGHT] - wider[LEFT]) / 2
    return {side: float(np.clip(feet[side] + wider[side], 0.0, 0.88 * tip[side])) for side in SIDES}, middle


def _hem_height(natural: float, body: BodyModel) -> float:
    """The hem's wanted height: it covers waistband and old hem, and very long garments are shortened a little."""
    worn = (body.labels == Label.UPPER) & (np.abs(body.laterals) < 0.35) & (body.heights < 1.5)
    old_hem = float(np.percentile(body.heights[worn], 98)) if worn.sum() > 200 else 0.0
    waistband = body.waist.height + 0.05 if body.waist.seen else 0.0
    least = max(0.96, min(max(waistband, old_hem + 0.03), 1.25))
    most = 1.18 + 0.35 * max(natural - 1.18, 0.0)
    return float(np.clip(natural, least, max(most, least)))


def is_strap(marks: UpperLandmarks) -> bool:
    """Whether neck and shoulder tip are the two sides of a strap rather than of a shoulder."""
    return bool(marks.sleeves is None and marks.shoulders.neck_foot[0] > 0.72 * marks.shoulders.tip[0])


@dataclass(frozen=True)
class NeckBase:
    """The foot of a neck.

    Attributes:
        middle: Its offset from the axis in pixels, positive towards the right of the picture; 0 if unsure.
        sides: Per picture side how far from the axis the side of the neck is, pixels; 0 if unsure.
    """

    middle: float
    sides: dict[int, float]


def neck_base(body: BodyModel) -> NeckBase:
    """Find where the neck stands, from what is seen of it above the shoulders.

    Rows in which hair, chin or a hand hides an edge of the neck are left out.
    """
    unit = body.shoulder_width
    neck = body.labels == Label.NECK
    before = dilated(labelled_as(body.labels, (Label.HAIR, Label.FACE, Label.HANDS)), 2)
    height = body.heights * np.float32(body.torso_length / unit)
    rows = np.flatnonzero((neck & (height > SEEN_ROWS[0]) & (height < SEEN_ROWS[1])).any(axis=1))
    ends = []
    for row in rows:
        columns = np.flatnonzero(neck[row])
        first, last = int(columns[0]), int(columns[-1])
        wide = NARROWEST * unit < last - first < WIDEST * unit
        if wide and not before[row, first] and not before[row, last]:
            ends.append((float(body.laterals[row, first]), float(body.laterals[row, last])))
    least = max(LEAST_ROWS, 0.03 * unit)
    if len(ends) < least:
        return NeckBase(0.0, dict.fromkeys(SIDES, 0.0))
    seen = np.array(ends)
    middle = float(np.median(seen.mean(axis=1)))
    middle = float(np.sign(middle) * np.clip(abs(middle) - UNSURE, 0.0, FARTHEST)) * unit
    sides = {side: _upright(side * seen[:, k] * unit, least) for k, side in enumerate(SIDES)}
    return NeckBase(middle, sides)


def _upright(ends: NDArray[np.float64], least: float) -> float:
    """The usual one of the ends of rows, ``(n,)``, where they lie above each other; 0 if fewer than ``least`` do."""
    aside = np.abs(np.gradient(ndimage.gaussian_filter1d(ends, ROWS_TOGETHER, mode="nearest")))
    upright = ends[aside < SLOPES_FROM]
    return float(np.median(upright)) if len(upright) >= least else 0.0


def shoulder_rise(
    body: BodyModel, offsets: NDArray[np.float64], side: int, *, under_sleeve: bool = False
) -> NDArray[np.float64]:
    """How far the shoulder lies above the mid-shoulder at offsets from the axis.

    The silhouette without hair and face, bounded by what a bare shoulder can be: an old collar or hood is
    higher. Where hair or a raised hand leaves nothing to measure, the usual form of a shoulder.

    Args:
        body: The body.
        offsets: ``(n,)`` pixels from the axis.
        side: Picture side.
        under_sleeve: Whether a sleeve goes on from the shoulder and has some thickness there.

    Returns:
        ``(n,)`` pixels.
    """
    unit, bone = body.shoulder_width, body.skeleton
    tip_rise = float((bone.shoulders - body.tips[side]) @ bone.down)
    tip, neck = body.tip_offset(side), NECK_HALF_WIDTH * unit
    share = np.clip((tip - offsets) / max(tip - neck, 1.0), 0, 1)
    # A bare shoulder is hollow between neck and tip; beyond the tip it falls off.
    beyond = -0.5 * np.maximum(offsets - tip, 0)
    usual = tip_rise + max(NECK_RISE * unit - tip_rise, 0.06 * unit) * share**HOLLOW + beyond
    most = tip_rise + max(MOST_AT_NECK * unit - tip_rise, 0.12 * unit) * share + 0.02 * unit
    solid = (body.matte > 0.5) & ~labelled_as(body.labels, (Label.HAIR, Label.FACE))
    starts = body.point(np.zeros(len(offsets), np.float32), (offsets * side).astype(np.float32))
    measured = reach(solid, starts, -bone.down, 0.5 * unit).astype(np.float64)
    believed = np.isfinite(measured) & (measured > 0.6 * usual)
    rise = np.where(believed, np.minimum(measured, np.maximum(most, usual)), usual)
    # Cloth on the shoulder hides how the shoulder rounds off below it.
    hidden = believed & _clothed(body, starts - bone.down * (measured - 2)[:, None])
    rounding = ROUNDING_IN_SLEEVE if under_sleeve else ROUNDING
    rounded = UNDER_CLOTH + rounding * np.clip((offsets / tip - 0.6) / 0.4, 0, 1) ** 2
    return rise - hidden * rounded * unit + CLOTH_ON_TOP * unit


def _clothed(body: BodyModel, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of the points, ``(n, 2)``, lie on cloth in the photo; those outside the picture do not."""
    label, framed = values_at(body.labels, np.nan_to_num(points, nan=-1.0))
    return np.asarray(framed & labelled_as(label, (Label.UPPER, Label.FULL)))
