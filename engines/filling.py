"""Filling holes in a picture from what surrounds them."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import on_channels

LEAST_WEIGHT = 1e-3
"""The least divisor of sums of colours."""

KNOWN_ENOUGH = 0.02
"""Weight from which a pyramid level's own colour counts; below it only the coarser level counts."""

COARSENESSES, RELAXATIONS = (8, 4, 2, 1), 40
"""Factors by which holes are reduced for relaxation, and the number of smoothing steps at each."""


def reduced(
    photo: NDArray[np.float32], area: NDArray[np.bool_], factor: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Means of a part of a picture at a smaller size, and how much of every pixel there is part of it.

    Args:
        photo: ``(height, width, 3)`` float32.
        area: ``(height, width)``, the part.
        factor: By which it is made smaller.

    Returns:
        ``(height / factor, width / factor, 3)`` float32, about 0 where nothing is part of it, and the share of the
        part without the last axis.
    """
    size = (max(4, area.shape[1] // factor), max(4, area.shape[0] // factor))
    weight = np.asarray(cv2.resize(area.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
    sums = np.asarray(
        cv2.resize(photo * on_channels(area.astype(np.float32)), size, interpolation=cv2.INTER_AREA), np.float32
    )
    return np.asarray(sums / np.maximum(weight, LEAST_WEIGHT)[..., None], np.float32), weight


def carried_out(
    colour: NDArray[np.float32], known: NDArray[np.float32], reach: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A picture blurred over its known pixels only, so that known colours spread beyond their edge.

    Args:
        colour: ``(height, width, channels)`` float32.
        known: ``(height, width)`` float32, 0 to 1.
        reach: Standard deviation of the blur, pixels.

    Returns:
        The picture, and ``(height, width)`` how much of what is around each pixel is known.
    """
    channels = colour.shape[2]
    weight = np.asarray(cv2.GaussianBlur(known, (0, 0), reach), np.float32)
    sums = np.asarray(cv2.GaussianBlur(colour * on_channels(known, channels), (0, 0), reach), np.float32)
    return np.asarray(sums / on_channels(np.maximum(weight, LEAST_WEIGHT), channels), np.float32), weight


def push_pull(colour: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Smooth interpolation of scattered colours over an image pyramid.

    Known colours are averaged down level by level, holes are then filled from the next coarser level on the way
    back up (the pull-push scheme of Gortler et al., The Lumigraph, 1996).

    Args:
        colour: ``(height, width, channels)`` float32.
        weight: ``(height, width)`` float32, 0 in the holes to 1 where the colour is known.

    Returns:
        ``(height, width, channels)`` float32 without holes, of mid-grey if nothing was known at all.
    """
    levels = [((colour * weight[..., None]).astype(np.float32), weight.astype(np.float32))]
    while min(levels[-1][1].shape) > 2:
        sums, weights = levels[-1]
        levels.append((np.asarray(cv2.pyrDown(sums), np.float32), np.asarray(cv2.pyrDown(weights), np.float32)))
    sums, weights = levels[-1]
    filled = (sums + 0.5e-6) / (weights[..., None] + 1e-6)
    for sums, weights in reversed(levels[:-1]):
        filled = np.asarray(cv2.pyrUp(filled, dstsize=(weights.shape[1], weights.shape[0])), np.float32)
        share = np.clip(weights, 0.0, 1.0)[..., None]
        filled = np.where(share > KNOWN_ENOUGH, sums + filled * (1.0 - share), filled)
    return np.asarray(filled, dtype=np.float32)


def relaxed(colour: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Fill holes like a membrane between their rims, so that no step shows where a hole begins.

    Args:
        colour: ``(height, width, channels)``, in the holes a first guess.
        known: ``(height, width)`` pixels that stay.

    Returns:
        ``(height, width, channels)`` float32; in the holes about the mean of what is around, everywhere.
    """
    height, width = known.shape
    filled, stays = colour, on_channels(known, colour.shape[2])
    rims = colour * stays
    for coarseness in COARSENESSES:
        size = (max(2, width // coarseness), max(2, height // coarseness))
        weight = np.asarray(cv2.resize(known.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
        held = (weight > 0.0).astype(np.uint8)
        sums = cv2.resize(rims, size, interpolation=cv2.INTER_AREA)
        rim = np.asarray(sums, np.float32).reshape(*weight.shape, -1) / np.maximum(weight, 1e-6)[..., None]
        level = cv2.resize(filled, size, interpolation=cv2.INTER_AREA)
        for _ in range(RELAXATIONS):
            cv2.copyTo(rim, held, level)
            level = cv2.blur(level, (3, 3), borderType=cv2.BORDER_REPLICATE)
        cv2.copyTo(rim, held, level)
        grown = cv2.resize(level, (width, height), interpolation=cv2.INTER_LINEAR)
        filled = np.where(stays, colour, grown.reshape(colour.shape)).astype(np.float32)
    return filled


def fill_from(photo: NDArray[np.float32], known: NDArray[np.bool_], reduce: int = 4) -> NDArray[np.float32]:
    """The known part of a photo continued smoothly over all of it.

    Args:
        photo: ``(height, width, 3)`` float32, 0 to 1.
        known: ``(height, width)`` pixels to learn from.
        reduce: Factor by which the work is done smaller; the result has no detail anyway.

    Returns:
        ``(height, width, 3)`` float32, 0 to 1.
    """
    height, width = known.shape
    colour, weight = reduced(photo, known, reduce)
    sure = weight > 0.3
    filled = push_pull(colour, np.where(sure, weight, 0.0))
    if sure.any():
        filled = relaxed(np.where(sure[..., None], colour, filled).astype(np.float32), sure)
    return np.clip(cv2.resize(filled, (width, height), interpolation=cv2.INTER_CUBIC), 0.0, 1.0).astype(np.float32)
