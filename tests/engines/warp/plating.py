"""The plate in one step, as tests want it; the engine does other work between the two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Category, PersonMap
from engines.warp.body.model import BodyModel
from engines.warp.plate.lay import Plate, fill_in, left_as_it_is, take_off
from engines.warp.ribbon import Drape


def lay_plate(
    photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel, drape: Drape, category: Category
) -> Plate:
    """The photo without the old garment of a category, see `take_off` and `fill_in`."""
    off = take_off(photo, person_map, body, category)
    return left_as_it_is(photo, person_map) if off is None else fill_in(photo, off, drape, category)
