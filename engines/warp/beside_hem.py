"""What the labels call the top below its hem and is too narrow for one: trousers between the hem and a hand."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from engines.base import Label, PersonMap
from engines.garment.regions import dilated, reaching
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.sampling import values_at

NARROW = 0.12
"""Width up to which what hangs below a hem is no part of the top, in shoulder widths."""

BELOW = 0.015
"""How far below the line of the hem that is, in torso lengths."""

BESIDE = (0.25, 0.75)
"""How far from the axis it may be, in shoulder widths: beside an arm, not a string that hangs from a waistband."""

FOREARM = np.linspace(0.70, 0.95, 9, dtype=np.float32)
"""Shares of an arm at which is looked whether it is sleeved; a sleeve's end is narrow as well."""


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
