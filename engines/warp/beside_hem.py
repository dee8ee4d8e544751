"""What the labels call the top beside its lower end and is trousers.

Strips between the hem and a hand are too narrow for a top; ends of a waistband, which a top ends at, have the trousers'
own colour.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, PersonMap
from engines.garment.regions import closed, dilated, distance_from, opened, reaching, window_of
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.skin_edges import told_by_colour

NARROW = 0.12
"""Width up to which what hangs below a hem is no part of the top, in shoulder widths."""

BELOW = 0.015
"""How far below the line of the hem that is, in torso lengths."""

BESIDE = (0.25, 0.75)
"""How far from the axis it may be, in shoulder widths: beside an arm, not a string that hangs from a waistband."""

FOREARM = np.linspace(0.70, 0.95, 9, dtype=np.float32)
"""Shares of an arm at which is looked whether it is sleeved; a sleeve's end is narrow as well."""

AROUND_WAIST, ASIDE = 0.16, 0.70
"""How far from the line of the waist the upper edge of trousers is looked for, in torso lengths, and how far from the
axis, in shoulder widths."""

DEEP, SURELY_TOP = 0.15, 0.12
"""How far from the trousers as labelled they may go on, and from where on a top surely is one; in shoulder widths."""

CALM, LEAST_APART = 0.015, 4.0
"""Size of what is smoothed away of colours, in shoulder widths (standard deviation), and how unlike those of top and
trousers are at least, see `engines.warp.skin_edges.told_by_colour`."""

THICK, BETWEEN = 1, 0.02
"""Radius of the smallest piece of a waistband, pixels; what is thinner is mixed of both. Radius of the seams, gaps and
labels within one, in shoulder widths."""


def waistband_by_colour(photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel) -> PersonMap:
    """Count pieces of a waistband that were taken for the top above it to the trousers, by their colours.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        person_map: Of it.
        body: Measured from it.

    Returns:
        The same map, or a copy with some labels changed from `Label.UPPER` to `Label.LOWER`.
    """
    if not (body.waist.tucked and body.waist.seen):
        return person_map
    unit = body.shoulder_width
    near = np.abs(body.heights - body.waist.line(body.laterals)) < AROUND_WAIST
    window = window_of(near & (np.abs(body.laterals) < ASIDE))
    labels = person_map.labels[window]
    top, trousers = np.asarray(labels == Label.UPPER), np.asarray(labels == Label.LOWER)
    from_trousers = distance_from(trousers)
    surely = top & (from_trousers > SURELY_TOP * unit)
    asked = (top | trousers) & near[window] & (from_trousers < DEEP * unit) & (distance_from(top) < DEEP * unit)
    if not surely.any() or not trousers.any() or not (asked & top).any():
        return person_map
    sides = (trousers, from_trousers), (surely, distance_from(surely))
    told, apart, *_ = told_by_colour(photo[window], *sides, asked, unit)
    calm = np.asarray(cv2.GaussianBlur(told, (0, 0), max(CALM * unit, 1.0)))
    like = opened(top & asked & (calm > 0.0) & (apart > LEAST_APART), THICK)
    found = reaching(like | trousers, trousers) & like
    if not found.any():
        return person_map
    found |= closed(found | trousers, max(1, round(BETWEEN * unit))) & top & dilated(found, round(2 * BETWEEN * unit))
    changed = person_map.labels.copy()
    changed[window][found] = Label.LOWER
    return replace(person_map, labels=changed)


def trousers_beside_hem(person_map: PersonMap, body: BodyModel) -> PersonMap:
    """Count strips of trousers that were taken for the top to the trousers.

    Args:
        person_map: Of the working photo.
        body: Measured from it.

    Returns:
        The same map, or a copy with some labels changed from `Label.UPPER` to `Label.LOWER`.
    """
    labels = person_map.labels
    if body.waist.tucked or not body.waist.seen:
        return person_map
    below = body.heights > body.waist.line(body.laterals) + BELOW
    below &= body.heights < body.crotch_height + 0.2
    bare = np.zeros_like(below)
    for side in SIDES:
        there, framed = values_at(labels, body.arms[side].points(FOREARM))
        away = body.laterals * side
        if framed.any() and float((there[framed] == Label.UPPER).mean()) < 0.3:
            bare |= (away > BESIDE[0]) & (away < BESIDE[1])
    top = labels == Label.UPPER
    asked = top & below & bare
    if not asked.any():
        return person_map
    row = np.ones((1, max(3, round(NARROW * body.shoulder_width))), np.uint8)
    narrow = asked & (cv2.morphologyEx(top.astype(np.uint8), cv2.MORPH_OPEN, row) == 0)
    strips = reaching(narrow, dilated(labels == Label.LOWER, 2), connectivity=8)
    if not strips.any():
        return person_map
    return replace(person_map, labels=np.where(strips, np.uint8(Label.LOWER), labels))
