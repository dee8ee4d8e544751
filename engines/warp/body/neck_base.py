"""Where the neck stands on the shoulders: on somebody who is turned or leans, not in their middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import dilated
from engines.labels import labelled_as
from engines.warp.body.model import SIDES, BodyModel

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
