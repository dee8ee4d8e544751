"""Brings photos to sizes that the network takes, without distorting them.

The sides of everything the network sees are multiples of 16: its VAE makes one value of 8 pixels, and two by two of
those are one token. A photo is scaled evenly, laid into the upper left corner of such a canvas, and its last row and
column are repeated over the few pixels that are left. What the network draws has the canvas' size; the photo's part of
it is cut out again, so the result has exactly the photo's frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image

from engines.base import Picture

MEGAPIXEL = 1 << 20
"""Pixels; 1024 by 1024, as the makers of the network count."""

GRID = 16
"""Pixels along a side for one token."""

SHORTEST_SIDE, LONGEST_TO_SHORTEST = 64, 8
"""What the stock pipeline takes; it refuses smaller and longer pictures."""

LEAST_SCALE = 0.9
"""How much smaller than allowed a picture may become to come out even."""


@dataclass(frozen=True)
class Frame:
    """Where a photo lies on its canvas: in the upper left corner.

    Attributes:
        height: Of the photo's part, pixels.
        width: The same.
        canvas_height: A multiple of `GRID`.
        canvas_width: The same.
    """

    height: int
    width: int
    canvas_height: int
    canvas_width: int

    def cut_out(self, drawn: Picture) -> Picture:
        """The photo's part of what was drawn on the canvas."""
        return np.ascontiguousarray(drawn[: self.height, : self.width])


def frame_for(height: int, width: int, megapixels: float) -> Frame:
    """The canvas for a picture: never enlarged but from below `SHORTEST_SIDE`, and no larger than allowed.

    Where a picture has to become smaller, a size is chosen at which the least of the canvas is left over; both sides
    of the photo's part are then within half a pixel of its true proportions.

    Args:
        height: Of the picture.
        width: The same; at most `LONGEST_TO_SHORTEST` times the height, and the other way round.
        megapixels: The canvas has at most so many, except where its shorter side would be below `SHORTEST_SIDE`.
    """
    enlarged = max(1.0, SHORTEST_SIDE / min(height, width))
    height, width = round(height * enlarged), round(width * enlarged)
    pixels = megapixels * MEGAPIXEL
    if _up(height) * _up(width) <= pixels or min(height, width) == SHORTEST_SIDE:
        return Frame(height, width, _up(height), _up(width))
    if height > width:
        turned = frame_for(width, height, megapixels)
        return Frame(turned.width, turned.height, turned.canvas_width, turned.canvas_height)
    widest = min(int(math.sqrt(pixels * width / height)), width) // GRID * GRID
    frames = [
        Frame(part, side, max(_up(part), SHORTEST_SIDE), side)
        for side in range(widest, min(int(LEAST_SCALE * widest), widest - 4 * GRID), -GRID)
        if (part := round(side * height / width)) > 0
    ]
    fitting = [frame for frame in frames if frame.canvas_height * frame.canvas_width <= pixels] or frames[-1:]
    return min(fitting, key=lambda frame: (frame.canvas_height - frame.height, -frame.width))


def laid_out(picture: Picture, frame: Frame) -> Picture:
    """The picture on its canvas, ``(canvas_height, canvas_width, 3)``."""
    part = picture
    if picture.shape[:2] != (frame.height, frame.width):
        image = Image.fromarray(picture).resize((frame.width, frame.height), Image.Resampling.LANCZOS)
        part = np.asarray(image)
    below, beside = frame.canvas_height - frame.height, frame.canvas_width - frame.width
    if not below and not beside:
        return np.ascontiguousarray(part)
    return np.asarray(cv2.copyMakeBorder(part, 0, below, 0, beside, cv2.BORDER_REPLICATE), np.uint8)


def prepared_person(photo: Picture, megapixels: float) -> tuple[Picture, Frame]:
    """A photo as the network sees it, and where it lies in what the network draws."""
    frame = frame_for(photo.shape[0], photo.shape[1], megapixels)
    return laid_out(photo, frame), frame


def prepared_garment(picture: Picture, megapixels: float) -> Picture:
    """A trimmed garment as the network sees it; what is long and thin gets more of its ground at both sides."""
    height, width = picture.shape[:2]
    rows = max(0, math.ceil(width / LONGEST_TO_SHORTEST) - height)
    columns = max(0, math.ceil(height / LONGEST_TO_SHORTEST) - width)
    if rows or columns:
        sides = (rows // 2, rows - rows // 2, columns // 2, columns - columns // 2)
        picture = np.asarray(cv2.copyMakeBorder(picture, *sides, cv2.BORDER_REPLICATE), np.uint8)
    return laid_out(picture, frame_for(picture.shape[0], picture.shape[1], megapixels))


def _up(side: int) -> int:
    return -(-side // GRID) * GRID
