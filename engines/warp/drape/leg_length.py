"""How long trousers are on somebody's legs, and where their knees lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate

from engines.base import Label
from engines.garment.lower_landmarks import LowerLandmarks
from engines.warp.body.limbs import Limb
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease
from engines.warp.drape.hang import is_seated
from engines.warp.pieces import Reals

SHORT_RATIO = 1.0
"""Crotch to hem over the waistband's width; below it a garment counts as shorts."""

FULL_LENGTH_FROM, FULL_LENGTH_OVER = 0.75, 0.55
"""Over this range of the same ratio a garment's length goes over from its own to that of the person's legs."""

ROUND_WAIST = 1.34
"""How much longer cloth is on the body than its width there tells: a waistband as wide as the body lies around an
ellipse 0.7 as deep as wide, whose half girth is so many times its width."""

SHORTEST_SHORTS, LONGEST_SHORTS = 0.15, 0.80
"""End of short legs at least and at most, as a share of crotch to ankle."""

OVER_OLD_HEM, LONGEST = 0.02, 1.10
"""Long trousers reach this much below the hem of those in the photo, but never further than the second: nobody knows
what the ankles behind them look like."""

LOWEST_CROTCH = 0.18
"""How far a garment's crotch hangs below that of the body at most, in shoulder widths."""

KNEE = 0.57
"""Waistband to knee over waistband to hem of long trousers."""

KNEE_RANGE = (0.30, 0.60)
"""The same from crotch to hem, at least and at most."""


def leg_end(marks: LowerLandmarks, body: BodyModel, waistband: float, scale: float, length: float = 1.0) -> float:
    """Where the hem lies on the legs: 0 at the crotch, 1 at the ankle.

    Long trousers end by proportion (long legs over a narrow waistband reach over the shoe), though not above the hem
    of the trousers in the photo; shorts keep their own length, lengthened by half of the
    rise for which the body has no room.

    Args:
        marks: Landmarks of the garment, with a crotch.
        body: The body.
        waistband: Height of the waistband in torso lengths.
        scale: Working-photo pixels per canvas pixel across.
        length: By what the garment is longer than one that fits.
    """
    down = scale * ROUND_WAIST
    own = marks.leg_length * down * length / _leg(body) + 0.5 * _no_room(marks, body, waistband, scale)
    short = float(np.clip(own, SHORTEST_SHORTS, LONGEST_SHORTS))
    ratio = marks.leg_length / max(marks.waist_width, 1.0)
    full = float(np.clip(1.02 + 0.10 * (ratio - 1.5), 1.02, 1.07))
    full = length * max(full, min(old_hem(body) + OVER_OLD_HEM, LONGEST))
    fullness = full_length(marks)
    return short * (1.0 - fullness) + full * fullness


def crotch_share(marks: LowerLandmarks, body: BodyModel, waistband: float, scale: float, end: float) -> float:
    """Where the garment's crotch hangs: 0 at that of the body, rising down the legs, in shares of them.

    Long trousers keep their own proportion of rise to legs, so that those with a long rise hang lower and nothing on
    their legs is drawn out; shorts hang lower by the half of the rise by which they are lengthened. Nothing hangs below
    somebody who sits.

    Args:
        marks: Landmarks of the garment, with a crotch.
        body: The body.
        waistband: Height of the waistband in torso lengths.
        scale: Working-photo pixels per canvas pixel across.
        end: Share of the leg at which the hem lies.
    """
    if is_seated(body):
        return 0.0
    rise, room = max(marks.crotch[1] - marks.top, 1.0), _room(body, waistband)
    proportional = rise / (rise + max(marks.leg_length, 1.0)) * (room + end) - room
    fullness = full_length(marks)
    hanging = proportional * fullness + 0.5 * _no_room(marks, body, waistband, scale) * (1.0 - fullness)
    return float(np.clip(hanging, 0.0, LOWEST_CROTCH * body.shoulder_width / _leg(body)))


def _leg(body: BodyModel) -> float:
    """Mean length of the legs in pixels."""
    return float(np.mean([body.legs[side].length for side in SIDES]))


def _room(body: BodyModel, waistband: float) -> float:
    """Waistband to crotch of the body, in leg lengths."""
    return (body.crotch_height - waistband) * body.torso_length / _leg(body)


def _no_room(marks: LowerLandmarks, body: BodyModel, waistband: float, scale: float) -> float:
    """By what the garment's rise is longer than the body's, in leg lengths."""
    rise = max(marks.crotch[1] - marks.top, 1.0) * scale * ROUND_WAIST
    return max(0.0, rise / _leg(body) - _room(body, waistband))


def full_length(marks: LowerLandmarks) -> float:
    """How much a garment counts as long trousers, 0 to 1."""
    ratio = marks.leg_length / max(marks.waist_width, 1.0)
    return float(ease((ratio - FULL_LENGTH_FROM) / FULL_LENGTH_OVER))


def is_short(marks: LowerLandmarks) -> bool:
    """Whether a garment counts as shorts."""
    return marks.leg_length < SHORT_RATIO * marks.waist_width


def old_hem(body: BodyModel) -> float:
    """Share of the longer leg at which the old trousers end; 0 where none are worn, or none are seen to end."""
    return max(_old_hem(body, body.legs[side]) for side in SIDES)


def _old_hem(body: BodyModel, leg: Limb) -> float:
    labels, framed = values_at(body.labels, leg.line)
    if not framed.all():
        return 0.0
    trousers = labels == Label.LOWER
    return float(leg.shares[np.flatnonzero(trousers)[-1]]) if trousers.any() else 0.0


def knees_on_knees(
    marks: LowerLandmarks, leg: Limb, ways: Reals, end: float, begin: float = 0.0
) -> NDArray[np.float64]:
    """Where parts of the garment's leg lie on the body's, so that the knee of long trousers lies on the knee.

    Args:
        marks: Landmarks of the garment, with a crotch.
        leg: The body's leg.
        ways: ``(n,)`` ascending, 0 at the garment's crotch, 1 at its hem.
        end: Share of the leg at which the hem lies.
        begin: Share at which the garment's crotch hangs.

    Returns:
        ``(n,)`` shares of the leg; evenly spaced on shorts, which have no knee.
    """
    even = np.asarray(begin + ways * (end - begin), np.float64)
    rise = (marks.crotch[1] - marks.top) / max(marks.crotch[1] - marks.top + marks.leg_length, 1.0)
    knee = float(np.clip((KNEE - rise) / max(1.0 - rise, 0.1), *KNEE_RANGE))
    bend = float(np.clip(leg.bend, begin + 0.1, 0.9 * end))
    placed = interpolate.PchipInterpolator([0.0, knee, 1.0], [begin, bend, end], extrapolate=True)(ways)
    fullness = full_length(marks)
    return np.asarray(even * (1.0 - fullness) + placed * fullness, np.float64)
