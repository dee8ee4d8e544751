"""Whether whoever wears a garment is turned aside in its picture, so that one half of it is hardly seen."""

from __future__ import annotations

import numpy as np

from engines.garment.armpits import Frame
from engines.garment.regions import BoolMask

LEAST_OPENING = 0.03
"""Depth of a neck opening whose place can be told, as a share of the garment's height."""


def neck_aside(mask: BoolMask, axis: float, frame: Frame) -> float:
    """How far the middle of the neck opening lies beside the garment's axis, in torso widths; 0 without an opening.

    Args:
        mask: ``(h, w)`` bool.
        axis: x of the mirror axis.
        frame: The garment's measures.
    """
    first = max(int(axis - frame.width / 2), 0)
    part = mask[:, first : int(axis + frame.width / 2) + 1]
    top = np.where(part.any(axis=0), part.argmax(axis=0), frame.top + frame.height).astype(float)
    brim = np.maximum(np.minimum.accumulate(top), np.minimum.accumulate(top[::-1])[::-1])
    depth = top - brim
    if depth.max(initial=0.0) < LEAST_OPENING * frame.height:
        return 0.0
    middle = first + float((depth * np.arange(len(depth))).sum() / depth.sum())
    return abs(middle - axis) / frame.width
