"""From which side light falls, read off the cloth that the person wears over the torso."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.model import LEFT, RIGHT, BodyModel

SIDE = (0.5, 0.9)
"""Where the two sides of a torso are compared: beyond the flat front, and inside the blurred edge, in half widths."""

BANDS = (0.25, 0.95, 8)
"""Heights between which they are compared, torso lengths, and in how many bands: a hand or a print hides some."""

LEAST_PIXELS, LEAST_BANDS = 12, 3
"""Below so many pixels on a side a band says nothing, and below so many bands the cloth does not."""

BLACK, READABLE = 0.05, 0.20
"""Brightness of cloth up to which its light is nothing but noise, and from which it is believed."""

OTHER_COLOUR = 0.10
"""Difference in the shares of red, green and blue between both sides from which it is print and no light."""

MOST_LIGHT = 0.40
"""Half the relative difference from which it is print as well."""

SPREAD = 0.12
"""Disagreement of the bands at which nothing is believed any more."""


class Reading(NamedTuple):
    """What a cue says of the light.

    Attributes:
        tilt: Half the relative difference between the right and the left of the torso, positive where light comes from
            the right.
        sure: How surely, 0 to 1.
    """

    tilt: float
    sure: float


NOTHING = Reading(0.0, 0.0)


def read_off_cloth(photo: NDArray[np.float32], body: BodyModel, stride: int) -> Reading:
    """Compare the right side of the clothed torso with the left one.

    The sides of a torso turn away from a lamp in front and to one of its sides alike; what differs between them is
    where the lamp stands.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        body: Measured from the photo.
        stride: Every so many pixels are looked at.
    """
    every = (slice(None, None, stride), slice(None, None, stride))
    worn = labelled_as(body.labels[every], (Label.UPPER, Label.FULL))
    heights, offsets = body.heights[every], body.laterals[every] * np.float32(body.shoulder_width)
    colour = photo[every]
    low, high, count = BANDS
    edges = np.linspace(low, high, count + 1)
    tilts, levels = [], []
    for begin, end in pairwise(edges):
        band = worn & (heights >= begin) & (heights < end)
        sides = {}
        for side in (LEFT, RIGHT):
            place = side * offsets / max(float(body.half_width((begin + end) / 2, side)), 1.0)
            sides[side] = colour[band & (place > SIDE[0]) & (place < SIDE[1])]
        if min(len(pixels) for pixels in sides.values()) < LEAST_PIXELS:
            continue
        left, right = (np.median(sides[side], axis=0) for side in (LEFT, RIGHT))
        tilt, level = _difference(left, right)
        if abs(tilt) < MOST_LIGHT:
            tilts.append(tilt)
            levels.append(level)
    if len(tilts) < LEAST_BANDS:
        return NOTHING
    spread = float(np.median(np.abs(np.array(tilts) - np.median(tilts))))
    bright = np.clip((float(np.median(levels)) - BLACK) / (READABLE - BLACK), 0, 1)
    return Reading(float(np.median(tilts)), float(bright * np.clip(2 * (1 - spread / SPREAD), 0, 1)))


def _difference(left: NDArray[np.float32], right: NDArray[np.float32]) -> tuple[float, float]:
    """Half the relative difference of two colours and their mean brightness; more than any light where they differ."""
    sums = float(left.sum()), float(right.sum())
    shares = np.abs(left / max(sums[0], 1e-3) - right / max(sums[1], 1e-3)).max()
    if min(sums) > 3 * BLACK and shares > OTHER_COLOUR:
        return 1.0, 0.0
    return (sums[1] - sums[0]) / max(sum(sums), 1e-3), sum(sums) / 6
