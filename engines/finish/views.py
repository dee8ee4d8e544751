"""Photo, painting and person map at the one small size at which they are compared."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Mask, PersonMap, Picture

LOOKED_AT_SIDE = 512
"""Longer side, pixels, at which pictures are compared: without noise and grain, and cheaply."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class View:
    """The parts of a job that are compared.

    Attributes:
        photo: ``(h, w, 3)`` CIE Lab of the photo, L 0 to 100.
        labels: ``(h, w)`` of `engines.base.Label`.
        landmarks: ``(33, 4)`` of the person, in pixels of the view.
    """

    photo: Floats
    labels: Mask
    landmarks: Floats

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, as OpenCV takes them."""
        return self.photo.shape[1], self.photo.shape[0]


def view_of(photo: Picture, person_map: PersonMap) -> View:
    """The view of a photo, `LOOKED_AT_SIDE` long; smaller photos keep their size."""
    scale = min(1.0, LOOKED_AT_SIDE / max(photo.shape[:2]))
    size = max(1, round(photo.shape[1] * scale)), max(1, round(photo.shape[0] * scale))
    labels = cv2.resize(person_map.labels, size, interpolation=cv2.INTER_NEAREST)
    landmarks = person_map.landmarks * np.array([scale, scale, scale, 1.0], dtype=np.float32)
    return View(seen_at(photo, size), np.asarray(labels, dtype=np.uint8), landmarks)


def seen_at(picture: Picture, size: tuple[int, int]) -> Floats:
    """A picture of any size in CIE Lab, ``(size[1], size[0], 3)``."""
    interpolation = cv2.INTER_AREA if picture.shape[1] >= size[0] else cv2.INTER_CUBIC
    small = cv2.resize(picture, size, interpolation=interpolation)
    return np.asarray(cv2.cvtColor(small.astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB), dtype=np.float32)


def differences(first: Floats, second: Floats) -> Floats:
    """``(h, w)`` colour differences (CIE 1976: Euclidean in Lab), after a blur that takes out grain and fine edges."""
    blurred = [cv2.GaussianBlur(picture, (0, 0), 1.5) for picture in (first, second)]
    squares = np.square(blurred[0] - blurred[1])
    return np.asarray(np.sqrt(squares[..., 0] + squares[..., 1] + squares[..., 2]), dtype=np.float32)
