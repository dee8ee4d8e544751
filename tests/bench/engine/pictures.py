"""Pictures whose figures are known."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture

SIDE = 200


def flat(colour: tuple[int, int, int], height: int = SIDE, width: int = SIDE) -> Picture:
    """One colour."""
    return np.full((height, width, 3), colour, np.uint8)


def noise(seed: int, height: int = SIDE, width: int = SIDE) -> Picture:
    """No two pixels alike."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def printed(seed: int = 1, side: int = 400) -> Picture:
    """Cloth with a print of blots and strokes, each unlike the others, on its middle."""
    random = np.random.default_rng(seed)
    picture = np.full((side, side, 3), (200, 190, 170), np.uint8)
    for _ in range(60):
        x, y = (int(value) for value in random.integers(side // 5, side - side // 5, 2))
        colour = tuple(int(value) for value in random.integers(0, 140, 3))
        axes = tuple(int(value) for value in random.integers(5, 24, 2))
        cv2.ellipse(picture, (x, y), axes, float(random.integers(0, 180)), 0, 360, colour, -1, cv2.LINE_AA)
    return picture


def everywhere(picture: Picture) -> NDArray[np.bool_]:
    """A mask of all pixels."""
    return np.ones(picture.shape[:2], bool)


def columns(first: int, last: int, picture: Picture) -> NDArray[np.bool_]:
    """A mask of some columns."""
    mask = np.zeros(picture.shape[:2], bool)
    mask[:, first:last] = True
    return mask
