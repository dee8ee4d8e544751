"""Pictures for people who have none at hand: NASA's portrait of Eileen Collins (public domain) and drawn garments.

Watermarks are shown on `NEUTRAL` ones: somebody before a wall, light or dark.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from workflows.contracts import Category

PORTRAIT = "portrait"
NEUTRAL = {"light": "neutral_light", "dark": "neutral_dark"}

_STATIC = Path(__file__).with_name("static")


@dataclass(frozen=True)
class SampleGarment:
    """One of the garments; its name is that of its file, and on the command line."""

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


def path_of(name: str) -> Path:
    """Where a sample's picture file lies, WebP."""
    return _STATIC / file_of(name)


@cache
def picture_of(name: str) -> bytes:
    """A sample's picture file, WebP.

    Raises:
        FileNotFoundError: There is none of that name.
    """
    return path_of(name).read_bytes()


def pixels_of(name: str) -> NDArray[np.uint8]:
    """A sample, ``(height, width, 3)`` sRGB."""
    with Image.open(path_of(name)) as picture:
        return np.asarray(picture.convert("RGB"))
