"""A neutral picture to show a watermark on: somebody before a wall, light or dark, drawn here."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 768, 1024
"""Pixels; the shape of most photos that people take of each other."""


class Ground(StrEnum):
    """What is behind the person, and so below the logo."""

    LIGHT = "light"
    DARK = "dark"


_WALLS = {Ground.LIGHT: ((244, 240, 233), (206, 198, 186)), Ground.DARK: ((66, 70, 80), (24, 26, 32))}
_CLOTHES = {Ground.LIGHT: (92, 110, 146), Ground.DARK: (112, 94, 86)}
_SKIN, _HAIR = (206, 172, 150), (88, 66, 54)


@cache
def sample_picture(ground: Ground) -> NDArray[np.uint8]:
    """The picture: ``(768, 1024)`` pixels of sRGB, not to be written to."""
    above, below = (np.array(colour, np.float32) for colour in _WALLS[ground])
    share = np.linspace(0, 1, HEIGHT, dtype=np.float32)[:, None, None]
    wall = np.broadcast_to(above * (1 - share) + below * share, (HEIGHT, WIDTH, 3))
    picture = np.ascontiguousarray(wall.round().astype(np.uint8))
    _draw_person(picture, _CLOTHES[ground])
    soft = cv2.GaussianBlur(picture, (0, 0), 1.5).astype(np.uint8, copy=False)
    soft.setflags(write=False)
    return soft


def _draw_person(picture: NDArray[np.uint8], clothes: tuple[int, int, int]) -> None:
    """As much of a person as it takes to see how large a logo is beside one."""
    middle = WIDTH // 2
    _ellipse(picture, (middle, 205), (98, 122), _HAIR)
    _ellipse(picture, (middle, 560), (238, 178), clothes)
    cv2.rectangle(picture, (middle - 238, 560), (middle + 238, HEIGHT), clothes, -1)
    cv2.rectangle(picture, (middle - 40, 290), (middle + 40, 395), _SKIN, -1)
    _ellipse(picture, (middle, 392), (62, 34), _SKIN)
    _ellipse(picture, (middle, 222), (80, 104), _SKIN)
    for side in (-1, 1):  # where the arms part from the body
        cv2.line(picture, (middle + side * 158, 640), (middle + side * 150, HEIGHT), _darker(clothes), 6, cv2.LINE_AA)


def _ellipse(
    picture: NDArray[np.uint8], centre: tuple[int, int], half: tuple[int, int], colour: tuple[int, int, int]
) -> None:
    cv2.ellipse(picture, centre, half, 0, 0, 360, colour, -1, cv2.LINE_AA)


def _darker(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    red, green, blue = (round(0.8 * part) for part in colour)
    return red, green, blue
