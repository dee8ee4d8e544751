"""Sample pictures that are free to ship: a public-domain portrait, and garments drawn by code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sample:
    name: str
    category: str
    description: str
    draw: Callable[[], NDArray[np.uint8]]


def _temporary() -> NDArray[np.uint8]:
    from tests.engines import drawings
    return drawings.draw_garment("long sleeve", stripes=(240, 235, 220), height=1000, width=1000).picture


SAMPLES = {n: Sample(n, "upper_body", "", _temporary) for n in ("striped_sweater", "plain_tee")}


def draw_sample(name: str) -> NDArray[np.uint8]:
    return SAMPLES[name].draw()


def sample_person() -> NDArray[np.uint8]:
    import skimage.data
    return skimage.data.astronaut()
