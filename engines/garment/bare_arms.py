"""Whether a wearer's arms are bare up to the shoulder, which an outline of worn cloth does not show."""

from __future__ import annotations

import numpy as np

from engines.base import Label, Landmark, PersonMap

UPPER_ARMS = (
    (Landmark.LEFT_SHOULDER, Landmark.LEFT_ELBOW),
    (Landmark.RIGHT_SHOULDER, Landmark.RIGHT_ELBOW),
)

BELOW_SHOULDER = (0.2, 0.95)
"""Part of the way from shoulder to elbow that is looked at: above it lies the shoulder of any garment."""

LEAST_BARE = 0.9
"""Share of that way along which an arm is bare at least; cap sleeves, and sleeves under bare shoulders, leave less."""

STEPS = 40
"""Places looked at on that way."""


def arms_are_bare(person_map: PersonMap) -> bool:
    """Whether both upper arms are skin all along; no where they are not both in the picture."""
    height, width = person_map.labels.shape
    along = np.linspace(*BELOW_SHOULDER, STEPS)[:, None]
    for shoulder, elbow in UPPER_ARMS:
        first, last = person_map.landmarks[shoulder, :2], person_map.landmarks[elbow, :2]
        x, y = np.rint(first + along * (last - first)).astype(int).T
        inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        if not inside.all() or (person_map.labels[y, x] == Label.ARMS).mean() < LEAST_BARE:
            return False
    return True
