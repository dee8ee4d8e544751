"""Where clothes end: sleeves along the arms, trousers along the legs, the top along the spine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engines.person.body import Limb
from engines.person.colour_models import Region
from engines.person.networks import Floats

_STEPS = 16
"""Sections per joint-to-joint distance."""

_TRUST = 4.0
"""Largest say of one pixel, in natural logarithms: one odd colour must not outvote its section."""


@dataclass(frozen=True)
class Extents:
    """Ends of clothes.

    Attributes:
        sleeves: Left and right, on `Limb.position`: 0 sleeveless, 1 elbow, 2 wrist.
        hems: Left and right, the same along the legs: 0 bare, 1 knee, 2 ankle.
        waist: Where top and bottom meet on the spine: 0 shoulders, 1 hips.
    """

    sleeves: tuple[float, float]
    hems: tuple[float, float]
    waist: float


def limb_end(limb: Limb, where: Region, skin_over_cloth: Floats, *, longest: float, shortest: float) -> float:
    """The place where a limb turns from cloth to skin.

    Args:
        limb: The chain of joints.
        where: Pixels that may speak.
        skin_over_cloth: ``(height, width)`` logarithm of how much likelier skin is than cloth.
        longest: The largest answer; given when everything looks like cloth.
        shortest: The smallest answer.
    """
    speaking = where & (limb.offset < 0.8) & (limb.position < longest)
    if speaking.sum() < 50:
        return longest
    section = (limb.position[speaking] * _STEPS).astype(np.intp)
    votes = np.clip(skin_over_cloth[speaking], -_TRUST, _TRUST)
    sums = np.bincount(section, votes, int(longest * _STEPS) + 1)
    counts = np.bincount(section, minlength=int(longest * _STEPS) + 1)
    means = sums / np.maximum(counts, 1)
    # Cloth before the end speaks against skin, skin after it for: the best end has the largest difference.
    above = np.concatenate([[0.0], np.cumsum(-means)])
    below = np.concatenate([np.cumsum(means[::-1])[::-1], [0.0]])
    return max(float(np.argmax(above + below)) / _STEPS, shortest)
