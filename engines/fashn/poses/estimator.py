"""RTMPose as distilled for DWPose: it finds the 133 points of one person inside a box."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture

Floats = NDArray[np.float32]

WIDTH, HEIGHT = 288, 384
"""What the network looks at, in pixels."""

SPLIT = 2
"""Bins of its output per pixel."""

_ROOM = 1.25
"""The part that is cut out against the box."""

_MEAN = np.array([123.675, 116.28, 103.53])
_SPREAD = np.array([58.395, 57.12, 57.375])
"""ImageNet's, for red, green and blue; the network was published with them applied to blue, green and red."""


@dataclass(frozen=True)
class Crop:
    """The part of a picture that the network looks at.

    Attributes:
        x: Column of its centre.
        y: Row of its centre.
        width: In pixels of the picture; the height is in the network's proportion to it.
    """

    x: float
    y: float
    width: float

    @property
    def scale(self) -> float:
        """Pixels of the network per pixel of the picture."""
        return WIDTH / self.width

    @property
    def corner(self) -> NDArray[np.float64]:
        """Column and row of the upper left corner in the picture."""
        return np.array([self.x - self.width / 2, self.y - self.width * HEIGHT / WIDTH / 2])


def crop_around(box: Floats) -> Crop:
    """Widen a box, then stretch its shorter side to the network's form.

    Args:
        box: ``(4,)``, left, top, right and bottom in pixels.
    """
    left, top, right, bottom = (float(value) for value in box)
    width, height = max(1.0, right - left) * _ROOM, max(1.0, bottom - top) * _ROOM
    return Crop((left + right) / 2, (top + bottom) / 2, max(width, height * WIDTH / HEIGHT))


def cut(picture: Picture, crop: Crop) -> Floats:
    """Cut a part out as the network wants it, black where it reaches beyond the picture.

    Args:
        picture: ``(h, w, 3)``.
        crop: Which part.

    Returns:
        ``(1, 3, HEIGHT, WIDTH)``, blue before red.
    """
    left, top = crop.corner
    matrix = np.array([[crop.scale, 0.0, -left * crop.scale], [0.0, crop.scale, -top * crop.scale]])
    blue_first = np.ascontiguousarray(picture[..., ::-1])
    part = cv2.warpAffine(blue_first, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR)
    scaled: Floats = ((part.astype(np.float32) - _MEAN) / _SPREAD).astype(np.float32)
    return scaled.transpose(2, 0, 1)[None]


def points_in(across: Floats, down: Floats, crop: Crop) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read points from the network's output: the strongest bin of each axis.

    Args:
        across: ``(1, 133, SPLIT * WIDTH)``.
        down: ``(1, 133, SPLIT * HEIGHT)``.
        crop: The part that the network looked at.

    Returns:
        ``(133, 2)``, x and y in pixels of the picture, and ``(133,)`` scores: the weaker axis' response.
    """
    bins = np.stack([across[0].argmax(axis=1), down[0].argmax(axis=1)], axis=1).astype(np.float64)
    scores = np.minimum(across[0].max(axis=1), down[0].max(axis=1)).astype(np.float64)
    bins[scores <= 0] = -1
    return bins / SPLIT / crop.scale + crop.corner, scores
