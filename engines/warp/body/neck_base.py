"""Where the neck stands on the shoulders: on somebody who is turned or leans, not in their middle."""

from __future__ import annotations

import numpy as np

from engines.base import Label
from engines.garment.regions import dilated
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel

SEEN_ROWS = (-0.42, -0.20)
"""Between which heights the neck is looked at, shoulder widths below the mid-shoulder: the head begins above, the
shoulders begin below."""

LEAST_ROWS = 5
"""Rows that show both edges of the neck from which its middle is believed."""

NARROWEST, WIDEST = 0.22, 0.52
"""Believable widths of a neck, in shoulder widths: what is narrower is half hidden, what is wider is shoulder."""

UNSURE, FARTHEST = 0.04, 0.20
"""Distance of the middle from the axis that says nothing, and the farthest it may lie, in shoulder widths."""


def neck_middle(body: BodyModel) -> float:
    """Offset of the neck's base from the axis in pixels, positive towards the right of the picture; 0 if unsure.

    Rows in which hair, chin or a hand hides an edge of the neck are left out.
    """
    unit = body.shoulder_width
    neck = body.labels == Label.NECK
    before = dilated(labelled_as(body.labels, (Label.HAIR, Label.FACE, Label.HANDS)), 2)
    height = body.heights * np.float32(body.torso_length / unit)
    rows = np.flatnonzero((neck & (height > SEEN_ROWS[0]) & (height < SEEN_ROWS[1])).any(axis=1))
    middles = []
    for row in rows:
        columns = np.flatnonzero(neck[row])
        first, last = int(columns[0]), int(columns[-1])
        wide = NARROWEST * unit < last - first < WIDEST * unit
        if wide and not before[row, first] and not before[row, last]:
            middles.append(float(body.laterals[row, first] + body.laterals[row, last]) / 2)
    if len(middles) < max(LEAST_ROWS, 0.03 * unit):
        return 0.0
    middle = float(np.median(middles))
    return float(np.sign(middle) * np.clip(abs(middle) - UNSURE, 0.0, FARTHEST)) * unit
