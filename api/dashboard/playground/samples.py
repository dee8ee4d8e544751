"""Pictures for whoever has none at hand: NASA's portrait of Eileen Collins (public domain) and drawn garments.

The files are written by ``python -m cli.samples``, where the garments are drawn; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from api.dashboard.rendering import STATIC
from workflows.contracts import Category

FOLDER = "samples"
"""Below ``static/``, so that pages can show them."""

PORTRAIT = "portrait"


@dataclass(frozen=True)
class SampleGarment:
    """One of the garments.

    Attributes:
        name: Of its file.
        label: For people.
    """

    name: str
    label: str
    category: Category

    @property
    def file(self) -> str:
        """Its picture, below ``static/``."""
        return file_of(self.name)


GARMENTS = (
    SampleGarment("striped_sweater", "Striped sweater", "upper_body"),
    SampleGarment("plain_tee", "Plain T-shirt", "upper_body"),
    SampleGarment("denim_jeans", "Denim jeans, for a full-length photo", "lower_body"),
    SampleGarment("wrap_skirt", "Wrap skirt, for a full-length photo", "lower_body"),
    SampleGarment("summer_dress", "Summer dress", "full_body"),
)
BY_NAME = {garment.name: garment for garment in GARMENTS}


def file_of(name: str) -> str:
    """A sample's picture, below ``static/``."""
    return f"{FOLDER}/{name}.jpg"


@cache
def picture_of(name: str) -> bytes:
    """A sample's JPEG.

    Raises:
        FileNotFoundError: There is none of that name.
    """
    return (STATIC / file_of(name)).read_bytes()
