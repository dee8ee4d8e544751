"""Sample pictures that are free to ship: a public-domain portrait, and garments drawn by code.

The garments look like product photos, flat on white paper, so that a demonstration needs nobody's pictures.
The same call always gives the same pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cli.samples.dress import draw_dress
from cli.samples.jeans import draw_jeans
from cli.samples.skirt import draw_skirt
from cli.samples.sweater import draw_sweater
from cli.samples.tee import draw_tee


@dataclass(frozen=True)
class Sample:
    """A garment that can be tried on without having a picture of one.

    Attributes:
        name: What it is called on the command line.
        category: ``upper_body``, ``lower_body`` or ``full_body``.
        description: One line for people.
        draw: Makes the picture, ``(height, width, 3)`` sRGB.
    """

    name: str
    category: str
    description: str
    draw: Callable[[], NDArray[np.uint8]]


_GARMENTS = (
    Sample("striped_sweater", "upper_body", "Long-sleeved knitted jumper, navy stripes on cream", draw_sweater),
    Sample("plain_tee", "upper_body", "Short-sleeved teal T-shirt", draw_tee),
    Sample("denim_jeans", "lower_body", "Straight blue jeans", draw_jeans),
    Sample("wrap_skirt", "lower_body", "A-line wrap skirt, rust-coloured, tied at the side", draw_skirt),
    Sample("summer_dress", "full_body", "Sleeveless dress with a print of small flowers", draw_dress),
)

SAMPLES: dict[str, Sample] = {sample.name: sample for sample in _GARMENTS}
"""Every sample garment by name; the first one is the default."""


def draw_sample(name: str) -> NDArray[np.uint8]:
    """Draw the product photo of a sample garment.

    Returns:
        ``(height, width, 3)`` sRGB, 1024 pixels on the longer side.

    Raises:
        KeyError: There is no sample of that name.
    """
    return SAMPLES[name].draw()


def sample_person() -> NDArray[np.uint8]:
    """The portrait of Eileen Collins by NASA (public domain), ``(512, 512, 3)`` sRGB, from scikit-image."""
    from skimage import data

    # scikit-image has no types.
    portrait: NDArray[np.uint8] = data.astronaut()  # type: ignore[no-untyped-call]  # untyped
    return portrait
