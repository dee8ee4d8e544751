"""Crumbs between an arm and the old garment that are called a thing the person carries: they go with the garment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import BoolMask, dilated, pieces
from engines.warp.body.model import BodyModel

CRUMB = 0.006
"""Area up to which such a part is none, in squared shoulder widths."""

ABOVE_WRIST, AROUND = 0.80, 0.20
"""Share of an arm down to which it wears neither watch nor bracelet, and how far around its line that is looked at, in
shoulder widths."""


def arm_crumbs(labels: NDArray[np.uint8], old: BoolMask, body: BodyModel) -> BoolMask:
    """Small parts called a thing that touch both an upper arm or a forearm and the old garment, ``(height, width)``.

    Args:
        labels: ``(height, width)`` of `Label`.
        old: ``(height, width)``, the old garment.
        body: The body in the photo.
    """
    crumbs = np.zeros(labels.shape, bool)
    things = np.asarray(labels == Label.OTHER)
    if not things.any():
        return crumbs
    unit = body.shoulder_width
    points = np.concatenate([limb.line[limb.shares < ABOVE_WRIST] for limb in body.arms.values()])
    for place, part in pieces(things, 2):
        if part.sum() > CRUMB * unit * unit:
            continue
        middle = np.array([(side.start + side.stop) / 2.0 for side in place[::-1]])
        touched = dilated(part, 1)
        beside = (labels[place][touched] == Label.ARMS).any() and old[place][touched].any()
        if beside and np.linalg.norm(points - middle, axis=1).min() < AROUND * unit:
            crumbs[place] |= part
    return crumbs
