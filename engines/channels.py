"""Sums and products over the three colour channels; NumPy's own are several times slower along such a short axis."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray


def brightness(photo: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(h, w)`` mean of the channels of an ``(h, w, 3)`` picture."""
    return np.asarray(cv2.transform(photo, np.full((1, 3), 1 / 3, dtype=np.float32)), dtype=np.float32)


def largest_channel(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(h, w)`` largest of the channels of an ``(h, w, 3)`` array."""
    return np.asarray(np.maximum(np.maximum(values[..., 0], values[..., 1]), values[..., 2]), dtype=np.float32)


def distance(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(h, w)`` Euclidean distance between the colours of two ``(h, w, 3)`` pictures."""
    squares = first - second
    squares *= squares
    total = squares[..., 0] + squares[..., 1]
    total += squares[..., 2]
    return np.sqrt(total)


def on_channels(plane: NDArray[Any], count: int = 3) -> NDArray[Any]:
    """``(h, w, count)``: an ``(h, w)`` plane of numbers or booleans, the same for every channel."""
    if not plane.size:
        return np.repeat(plane[..., None], count, axis=2)
    numbers = plane.view(np.uint8) if plane.dtype == np.bool_ else plane
    return np.asarray(cv2.merge([numbers] * count)).reshape(*plane.shape, count).view(plane.dtype)
