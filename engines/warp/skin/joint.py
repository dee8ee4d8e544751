"""Invented skin led to the skin beside it, so that nobody sees where one ends and the other begins."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.filling import carried_out, reduced
from engines.garment.regions import BoolMask
from engines.labels import labelled_as
from engines.warp.skin.tone import REDUCED

JOINT_REACH = (0.22, 0.70, 0.50)
"""Distance over which invented skin of torso, arms and legs is led to the colour of the seen skin beside it, in
shoulder widths; a limb has one colour, a chest lies in another light than the neck above it."""

JOINT_DEPTH = 0.04
"""How far into the seen skin its colour at the joint is averaged, in shoulder widths; beside a cuff it is dark."""

BROAD, BROAD_FROM = 0.08, 0.05
"""Over how far along the joint its colour is averaged, and from which distance on, in shoulder widths."""

PART_BLUR = 0.04
"""Softness of the border between parts that are led to different skin, in shoulder widths."""

JOINED = (
    (Label.NECK, Label.TORSO_SKIN),
    (Label.ARMS,),
    (Label.LEGS,),
)
"""Labels of seen skin that leads torso, arms and legs: the skin of an arm says nothing about a belly beside it."""


def led_to_seen(
    beyond: NDArray[np.float32],
    labels: NDArray[np.uint8],
    sure: BoolMask,
    parts: tuple[BoolMask, BoolMask, BoolMask],
    unit: float,
) -> NDArray[np.float32]:
    """What has to be added to invented skin.

    Args:
        beyond: ``(height, width, 3)``, the photo less the invented skin without its grain.
        labels: ``(height, width)`` of `Label`.
        sure: ``(height, width)``, seen skin without its mixed rim.
        parts: ``(height, width)`` each: torso, arms and legs.
        unit: Shoulder width in pixels.

    Returns:
        ``(height, width, 3)``.
    """
    scale = unit / REDUCED
    height, width = labels.shape
    total = np.zeros((max(4, height // REDUCED), max(4, width // REDUCED), 3), np.float32)
    weights = np.full((*total.shape[:2], 1), 1e-3, np.float32)
    for seen_labels, part, reach in zip(JOINED, parts, JOINT_REACH, strict=True):
        if not part.any():
            continue
        seen = sure & labelled_as(labels, seen_labels)
        size = (total.shape[1], total.shape[0])
        own = cv2.resize(part.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        own = np.asarray(cv2.GaussianBlur(own, (0, 0), PART_BLUR * scale), np.float32)[..., None]
        weights += own
        if not seen.any():
            continue
        lacking, weight = reduced(beyond, seen, REDUCED)
        total += own * _carried(lacking, weight, scale, reach)
    return np.asarray(cv2.resize(total / weights, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def _carried(
    lacking: NDArray[np.float32], weight: NDArray[np.float32], scale: float, reach: float
) -> NDArray[np.float32]:
    """The difference at the rim of what is seen, carried outwards and fading."""
    known = weight > 0.3
    if not known.any():
        return np.zeros_like(lacking)
    share = np.where(known, weight, 0.0).astype(np.float32)
    sigma = max(JOINT_DEPTH * scale, 1.0)
    own, _ = carried_out(lacking, share, sigma)
    distance, (rows, columns) = ndimage.distance_transform_edt(~known, return_indices=True)
    nearest = own[rows, columns]
    # Beside the rim its own value counts, further in that of a longer stretch of it.
    broad = np.asarray(cv2.GaussianBlur(nearest, (0, 0), BROAD * scale), np.float32)
    near = np.exp(-distance / max(BROAD_FROM * scale, 1.0))[..., None]
    fading = np.exp(-distance / (reach * scale))[..., None]
    return np.asarray((broad + (nearest - broad) * near) * fading, np.float32)
