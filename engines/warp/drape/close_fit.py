"""How close to the body a top is worn, and how wide the body is that it is worn on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.upper_landmarks import UpperLandmarks
from engines.warp.body.model import BodyModel
from engines.warp.body.seen_width import seen_half_width
from engines.warp.body.silhouette import ease
from engines.warp.body.slim_width import slim_half_width

SLIM, BOXY = 0.47, 0.60
"""Width at the chest over the length of a garment that is worn close to the body, and of one that stands off it."""

CROPPED_RATIO = 0.98
"""A garment wider at the chest than this share of its length is cropped and is never stretched to the waist."""

HUGS = (0.30, 0.52)
"""Heights between which a garment that holds to the body comes in to the belly that is bare below it, in torso lengths:
above lies what the old clothes hid of the arms."""

HANGING, CLINGING = (1.10, 0.02), (1.01, 0.005)
"""How far a garment without sleeves stands off the body at most, over the body's half width and in shoulder widths
more; and the same of one that holds to it."""

OVER_ELBOWS = 0.55
"""Length of a sleeve over that of the garment from which it covers the elbow."""


def slack_of(marks: UpperLandmarks) -> float:
    """How far a garment stands off the body: 0 for a slim one to 1 for a boxy one."""
    return float(np.clip((marks.chest / max(marks.length, 1.0) - SLIM) / (BOXY - SLIM), 0, 1))


def hugs(marks: UpperLandmarks) -> bool:
    """Whether a garment holds to the body: without sleeves, and too short for the hips to hold it."""
    return marks.sleeves is None and marks.chest > CROPPED_RATIO * marks.length


def most_off(marks: UpperLandmarks) -> tuple[float, float]:
    """How far a garment without sleeves stands off: over the body's half width, and in shoulder widths more."""
    return CLINGING if hugs(marks) else HANGING


def held_in(marks: UpperLandmarks, edge: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The edge of a garment without sleeves; one that holds to the body is nowhere wider than farther up.

    Args:
        marks: Landmarks of the garment.
        edge: ``(n,)`` offset of its edge, pixels.
        heights: ``(n,)`` torso lengths below the shoulders, rising.
    """
    if not hugs(marks):
        return edge
    below = heights > HUGS[0]
    return np.concatenate([edge[~below], np.minimum.accumulate(edge[below])])


def worn_half_width(
    marks: UpperLandmarks, body: BodyModel, heights: NDArray[np.float64], side: int
) -> NDArray[np.float64]:
    """Half width of the torso in pixels that a garment is laid on: slim ones show the body under loose old clothes.

    Beside bare arms the torso stays as wide as it is seen: between them and a slimmer one what the old clothes hid of
    the arms would be seen.

    Args:
        marks: Landmarks of the garment.
        body: The body.
        heights: ``(n,)`` torso lengths below the shoulders, rising.
        side: Picture side.
    """
    seen = seen_half_width(body, heights, side)
    if hugs(marks):
        close = ease((heights - HUGS[0]) / (HUGS[1] - HUGS[0]))
        return np.asarray(seen + (slim_half_width(body, heights, side, seen) - seen) * close)
    if marks.sleeves is None or np.mean([sleeve.length for sleeve in marks.sleeves]) < OVER_ELBOWS * marks.length:
        return seen
    slack = slack_of(marks)
    return slack * seen + (1 - slack) * slim_half_width(body, heights, side, seen)
