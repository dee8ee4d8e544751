"""Pictures for people who have none at hand: NASA's portrait of Eileen Collins (public domain) and drawn garments.

Watermarks are shown on a neutral one: somebody before a wall, light or dark, drawn here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from workflows.contracts import Category

PORTRAIT = "portrait"

_STATIC = Path(__file__).with_name("static")


@dataclass(frozen=True)
class SampleGarment:
    """One of the garments.

    Attributes:
        name: Of its file, and on the command line.
        label: For people.
        category: Where it is worn.
    """

    name: str
    label: str
    category: Category

    @property
    def file(self) -> str:
        """Its picture, below ``static/``."""
        return file_of(self.name)


SAMPLES = {
    garment.name: garment
    for garment in (
        SampleGarment("striped_sweater", "Striped sweater", "upper_body"),
        SampleGarment("plain_tee", "Plain T-shirt", "upper_body"),
        SampleGarment("denim_jeans", "Denim jeans, for a full-length photo", "lower_body"),
        SampleGarment("wrap_skirt", "Wrap skirt, for a full-length photo", "lower_body"),
        SampleGarment("summer_dress", "Summer dress", "full_body"),
    )
}
"""Every sample garment by name; the first one is the default."""


def file_of(name: str) -> str:
    """A sample's picture, below ``static/``."""
    return f"samples/{name}.webp"


@cache
def picture_of(name: str) -> bytes:
    """A sample's picture file, WebP.

    Raises:
        FileNotFoundError: There is none of that name.
    """
    return (_STATIC / file_of(name)).read_bytes()


def pixels_of(name: str) -> NDArray[np.uint8]:
    """A sample, ``(height, width, 3)`` sRGB."""
    with Image.open(_STATIC / file_of(name)) as picture:
        return np.asarray(picture.convert("RGB"))


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
def neutral_picture(ground: Ground) -> NDArray[np.uint8]:
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
