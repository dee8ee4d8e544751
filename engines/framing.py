"""Draws pictures into the frames that networks see.

Matrices map pixels to pixels whose centres have integer coordinates: an error of half a pixel would make a mirrored
picture a different one.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_SHARP = 0.7
"""Scale above which a warp alone skips no pixels; below it, pixels are averaged first."""


def centred(scale: float, middle: tuple[float, float], size: tuple[int, int]) -> Matrix:
    """``(2, 3)`` to the pixels of a frame whose middle shows a place of the picture.

    Args:
        scale: Pixels of the frame per pixel of the picture.
        middle: The place, x and y in lengths of a pixel from the picture's corner.
        size: Width and height of the frame.
    """
    shift = [whole / 2 - 0.5 + scale * (0.5 - place) for whole, place in zip(size, middle, strict=True)]
    return np.array([[scale, 0.0, shift[0]], [0.0, scale, shift[1]]])


def framed(picture: NDArray[np.uint8], matrix: Matrix, size: tuple[int, int], beyond: int = 0) -> NDArray[np.uint8]:
    """The picture, or a mask, in a frame of this width and height.

    Args:
        picture: ``(h, w)`` or ``(h, w, 3)``.
        matrix: ``(2, 3)`` from its pixels to the frame's.
        size: Width and height.
        beyond: Grey of what the frame holds beyond the picture.
    """
    scale = float(np.hypot(*matrix[:, 0]))
    if scale < _SHARP:
        height, width = picture.shape[:2]
        small = max(round(1.2 * scale * width), 1), max(round(1.2 * scale * height), 1)
        shrink = np.array([small[0] / width, small[1] / height])
        picture = np.asarray(cv2.resize(picture, small, interpolation=cv2.INTER_AREA), np.uint8)
        matrix = np.column_stack([matrix[:, :2] / shrink, matrix[:, 2] + matrix[:, :2] @ (0.5 / shrink - 0.5)])
    return np.asarray(cv2.warpAffine(picture, matrix, size, flags=cv2.INTER_LINEAR, borderValue=[beyond] * 3), np.uint8)


def reduced(matrix: Matrix, times: int) -> Matrix:
    """The same frame, drawn so many times smaller."""
    smaller = matrix / times
    smaller[:, 2] += 0.5 / times - 0.5
    return smaller
