"""Scales the photo to the engine's working size, and the result back."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import PersonMap, Picture
from engines.channels import largest_channel
from engines.enlarging import enlarged_sharply, laid_over
from engines.regions import window_of

WORKING_SIDE = 1024
"""Largest side at which the engine works, pixels; the time of a render grows with the area."""

CHANGED = 1.2 / 255
"""Difference from which a working pixel counts as changed, in units of full white."""


def working_scale(photo: Picture) -> float:
    """Working pixels per pixel of the photo, at most 1."""
    return float(min(1.0, WORKING_SIDE / max(photo.shape[:2])))


def reduced_photo(photo: Picture, scale: float) -> NDArray[np.float32]:
    """The photo at working size: ``(h, w, 3)`` float32, 0 to 1."""
    return np.asarray(_scaled(photo, scale, cv2.INTER_AREA), np.float32) / np.float32(255.0)


def reduced_map(person_map: PersonMap, scale: float) -> PersonMap:
    """The person map at working size."""
    labels = _scaled(person_map.labels, scale, cv2.INTER_NEAREST)
    matte = _scaled(person_map.matte, scale, cv2.INTER_AREA)
    landmarks = person_map.landmarks * np.array([scale, scale, scale, 1.0], dtype=np.float32)
    return PersonMap(labels, matte, landmarks, person_map.score)


def _scaled(picture: NDArray[np.uint8], scale: float, how: int) -> NDArray[np.uint8]:
    if scale == 1.0:
        return picture
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=how), np.uint8)


def changed_region(before: NDArray[np.float32], after: NDArray[np.float32]) -> NDArray[np.bool_]:
    """``(h, w)`` bool: working pixels that the render changed."""
    return np.asarray(largest_channel(np.abs(after - before)) > CHANGED)


def pasted_back(original: Picture, after: NDArray[np.float32], changed: NDArray[np.bool_]) -> Picture:
    """Put what changed into the photo at its own size; every other pixel stays bit-identical.

    Args:
        original: ``(H, W, 3)`` uint8.
        after: ``(h, w, 3)`` float32, the render.
        changed: ``(h, w)`` bool, from `changed_region`.

    Returns:
        ``(H, W, 3)`` uint8.
    """
    height, width = original.shape[:2]
    if after.shape[:2] == (height, width):
        pasted, window = original.copy(), window_of(changed)
        rendered = np.rint(after[window] * 255).clip(0, 255).astype(np.uint8)
        pasted[window] = np.where(changed[window][..., None], rendered, original[window])
        return pasted
    grown = cv2.dilate(changed.astype(np.float32), np.ones((3, 3), dtype=np.uint8))
    soft = cv2.GaussianBlur(grown, (0, 0), 0.8)
    soft[cv2.dilate(grown, np.ones((3, 3), dtype=np.uint8)) == 0] = 0
    rendered = np.rint(after * 255).clip(0, 255).astype(np.uint8)
    return laid_over(original, enlarged_sharply(rendered, width, height), np.asarray(soft, dtype=np.float32))
