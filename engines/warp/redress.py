"""The person map after a garment was put on, for the next garment over it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engines.base import Category, Label, PersonMap
from engines.labels import labelled_as
from engines.regions import BoolMask
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.pieces import Drape

WORN_AS = {
    Category.UPPER_BODY: Label.UPPER,
    Category.LOWER_BODY: Label.LOWER,
    Category.FULL_BODY: Label.FULL,
}

IN_FRONT = (Label.HAIR, Label.FACE, Label.HANDS, Label.OTHER)
"""Labels that keep lying over a garment."""


def redressed(person_map: PersonMap, body: BodyModel, drape: Drape, old: BoolMask, category: Category) -> PersonMap:
    """Say what the person wears now.

    Args:
        person_map: Before this garment.
        body: Measured from the photo.
        drape: The new garment.
        old: ``(h, w)`` bool, the garment it took the place of.
        category: Where the new one is worn.
    """
    labels, matte = person_map.labels.copy(), person_map.matte.copy()
    covered = drape.alpha > 0.5
    bared = old & ~covered
    side_limit = np.where(body.laterals < 0, body.half_width(body.heights, LEFT), body.half_width(body.heights, RIGHT))
    in_torso = (np.abs(body.laterals) * body.shoulder_width < side_limit) & (body.heights < body.crotch_height)
    labels[bared] = Label.BACKGROUND
    labels[bared & in_torso] = Label.TORSO_SKIN
    labels[bared & (body.leg_distance < 1) & (body.heights > body.crotch_height)] = Label.LEGS
    labels[bared & (body.arm_distance < 1)] = Label.ARMS
    matte[bared & (labels == Label.BACKGROUND)] = 0
    labels[covered & ~labelled_as(labels, IN_FRONT)] = WORN_AS[category]
    matte = np.maximum(matte, (drape.alpha * 255).astype(np.uint8))
    return replace(person_map, labels=labels, matte=matte)
