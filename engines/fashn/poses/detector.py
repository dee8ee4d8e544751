"""YOLOX: where people are in a picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture

Floats = NDArray[np.float32]

SIDE = 640
"""The network looks at a square of that many pixels."""

CLASSES = 80
"""Classes that it knows; a person is the first."""

_STRIDES = (8, 16, 32)
"""Pixels between the places at which the three layers of its output look."""

CELLS = sum((SIDE // stride) ** 2 for stride in _STRIDES)
"""Rows of its output."""

_PADDING = 114
"""Grey below or to the right of the picture, as in training."""

SURE = 0.3
"""Boxes with a lower score are no people."""

_SAME = 0.45
"""Boxes that overlap more than that, as intersection over union, show one person."""


def letterboxed(picture: Picture) -> tuple[Floats, float]:
    """Bring a picture to the network's square, in the upper left corner.

    Args:
        picture: ``(h, w, 3)``.

    Returns:
        ``(1, 3, SIDE, SIDE)``, blue before red and 0 to 255, and pixels of the square per pixel of the picture.
    """
    height, width = picture.shape[:2]
    scale = min(SIDE / height, SIDE / width)
    size = max(1, int(width * scale)), max(1, int(height * scale))
    resized = cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR)
    square = np.full((SIDE, SIDE, 3), _PADDING, np.uint8)
    square[: size[1], : size[0]] = resized
    return np.ascontiguousarray(square[..., ::-1].transpose(2, 0, 1)[None], np.float32), scale


def people(output: Floats, scale: float) -> Floats:
    """Read boxes of people from the network's output.

    Args:
        output: ``(1, CELLS, 5 + CLASSES)``: centre and size in units of a cell, the size as a logarithm, a score for
            there being anything, and one for each class.
        scale: Pixels of the square per pixel of the picture.

    Returns:
        ``(n, 4)``, left, top, right and bottom in pixels of the picture, the surest first.
    """
    cells, stride = _cells()
    rows = output[0]
    scores = rows[:, 4] * rows[:, 5]
    # Boxes below this score can be dropped first: a box is only ever suppressed by one with a higher score.
    found = scores > SURE
    centre = (rows[found, :2] + cells[found]) * stride[found]
    half = np.exp(rows[found, 2:4]) * stride[found] / 2
    boxes: Floats = (np.concatenate([centre - half, centre + half], axis=1) / scale).astype(np.float32)
    return boxes[_kept(boxes, scores[found])]


def _cells() -> tuple[Floats, Floats]:
    """Column and row of every cell ``(CELLS, 2)``, and its length in pixels of the square ``(CELLS, 1)``."""
    places, strides = [], []
    for stride in _STRIDES:
        count = SIDE // stride
        down, across = np.mgrid[:count, :count]
        places.append(np.stack([across.ravel(), down.ravel()], axis=1))
        strides.append(np.full((count * count, 1), stride))
    return np.concatenate(places).astype(np.float32), np.concatenate(strides).astype(np.float32)


def _kept(boxes: Floats, scores: Floats) -> list[int]:
    """Numbers of the boxes that overlap no surer one, the surest first; a box reaches one pixel beyond its corners."""
    left = list(np.argsort(scores, kind="stable")[::-1])
    areas = np.prod(boxes[:, 2:] - boxes[:, :2] + 1, axis=1)
    kept: list[int] = []
    while left:
        best = left.pop(0)
        kept.append(int(best))
        corner, far = np.maximum(boxes[best, :2], boxes[left, :2]), np.minimum(boxes[best, 2:], boxes[left, 2:])
        common = np.prod(np.maximum(0, far - corner + 1), axis=1)
        overlap = common / (areas[best] + areas[left] - common)
        left = [box for box, share in zip(left, overlap, strict=True) if share <= _SAME]
    return kept
