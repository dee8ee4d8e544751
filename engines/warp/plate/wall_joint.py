"""What is behind the person led to the wall beside the hole, right up to the pixel where the photo begins."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import largest_channel, on_channels
from engines.filling import push_pull, relaxed
from engines.garment.regions import BoolMask, dilated, window_of

REDUCED = 2
"""Factor by which the difference is worked out smaller."""

CLEARANCE = 2
"""Pixels beside the hole that are not learnt from: they are mixed with what stood there."""

LEARNT = 24
"""Pixels around the hole whose difference counts."""

MOST = 0.35
"""Largest difference per channel that is carried into the hole, in units of full white; a larger one is an edge of the
ground or somebody's shoe."""

SOFTENED = 1.5
"""Blur of the difference before it is learnt, pixels of the reduced picture: grain is not carried on."""


def met_at_rim(
    fill: NDArray[np.float32], photo: NDArray[np.float32], ground: BoolMask, hole: BoolMask
) -> NDArray[np.float32]:
    """The fill without the step to the wall beside it: shadows and gradients run on through the hole.

    A wide margin around a person is unknown when the fill is made, and in a narrow gap between two legs nothing is
    known at all; close to the hole the wall tells how far the fill is off.

    Args:
        fill: ``(height, width, 3)`` float32, 0 to 1, defined everywhere.
        photo: ``(height, width, 3)`` float32, 0 to 1.
        ground: ``(height, width)``, pixels of the photo that are behind the person.
        hole: ``(height, width)``, where the fill will be seen.

    Returns:
        ``(height, width, 3)`` float32, changed in the hole and near to it.
    """
    if not hole.any():
        return fill
    window = window_of(hole, LEARNT)
    known = ground[window] & ~dilated(hole[window], CLEARANCE)
    height, width = known.shape
    size = (max(2, width // REDUCED), max(2, height // REDUCED))
    weight = np.asarray(cv2.resize(known.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
    sums = (photo[window] - fill[window]) * on_channels(known.astype(np.float32))
    sums = np.asarray(cv2.resize(sums, size, interpolation=cv2.INTER_AREA), np.float32)
    apart = largest_channel(np.abs(sums)) > MOST * np.maximum(weight, 0.1)
    sure = (weight > 0.3) & ~dilated(np.asarray(apart), CLEARANCE)
    if not sure.any():
        return fill
    soft = cv2.GaussianBlur(np.asarray(weight * sure, np.float32), (0, 0), SOFTENED)
    blurred = cv2.GaussianBlur(np.asarray(sums * sure[..., None], np.float32), (0, 0), SOFTENED)
    lacking = np.asarray(blurred / np.maximum(soft, 1e-3)[..., None], np.float32)
    begun = push_pull(lacking, np.where(sure, np.float32(1.0), np.float32(0.0)))
    led = relaxed(np.where(sure[..., None], lacking, begun).astype(np.float32), sure)
    met = fill.copy()
    met[window] += cv2.resize(led, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(met, 0.0, 1.0), np.float32)
