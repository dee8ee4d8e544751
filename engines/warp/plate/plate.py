"""What laying the plate hands on: the picture, and where in it the person still is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.base import PersonMap
from engines.warp.body.model import BodyModel


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


@dataclass(frozen=True)
class TakenOff:
    """What goes with the old garment; it is known before the new one is.

    Attributes:
        person_map: Of the photo, with labels that colours have told are wrong put right.
        body: Measured from it, with these labels.
        old: ``(height, width)`` bool, the old garment.
        stays: ``(height, width)`` bool, the parts of the person and the things that are not replaced.
        from_old: ``(height, width)`` float32 distance from the old garment, pixels.
        removed: ``(height, width)`` bool, the old garment with its rim and its slivers.
        ankles: ``(height, width)`` bool, skin in the shadow of the old hem that goes with the old garment.
    """

    person_map: PersonMap
    body: BodyModel
    old: NDArray[np.bool_]
    stays: NDArray[np.bool_]
    from_old: NDArray[np.float32]
    removed: NDArray[np.bool_]
    ankles: NDArray[np.bool_]


def left_as_it_is(photo: NDArray[np.float32], person_map: PersonMap) -> Plate:
    """The plate of a garment that is put on over everything."""
    return Plate(photo, np.asarray(person_map.matte, np.float32) / 255.0)
