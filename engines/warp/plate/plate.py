"""What laying the plate hands on: the picture, and where in it the person still is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.base import PersonMap


@dataclass(frozen=True)
class Plate:
    """What a new garment is laid on.

    Attributes:
        picture: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        person: ``(height, width)`` float32, 0 to 1: cover of the person and what they still wear in it; shadows of the
            new garment fall on that, and not on the wall that came to light beside it.
    """

    picture: NDArray[np.float32]
    person: NDArray[np.float32]


def left_as_it_is(photo: NDArray[np.float32], person_map: PersonMap) -> Plate:
    """The plate of a garment that is put on over everything."""
    return Plate(photo, np.asarray(person_map.matte, np.float32) / 255.0)
