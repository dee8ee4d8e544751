"""A mannequin in boots, for what has to do with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.warp.body.model import SIDES, BodyModel, measure_body
from tests.engines.mannequin import Mannequin, draw_mannequin

LEATHER = (110, 62, 36)

RIM = 0.72
"""Share of the legs at which the shafts of the boots begin."""


def draw_booted(half: float, *, called: Label = Label.FEET, cloth: Label = Label.LOWER) -> tuple[Mannequin, BodyModel]:
    """A mannequin with shafts up to the middle of its shins, and its measured body.

    Args:
        half: Half width of a shaft, in shoulder widths.
        called: Label of the shafts.
        cloth: Label of what is on the legs above them.
    """
    mannequin = draw_mannequin(960, 760, arms="out")
    person, photo = mannequin.person_map, mannequin.photo
    body = measure_body(person)
    rows, columns = np.indices(person.labels.shape)
    person.labels[person.labels == Label.LOWER] = cloth
    for side in SIDES:
        x, y = body.legs[side].points(np.array([RIM]))[0]
        ankle = body.legs[side].points(np.array([1.0]))[0, 1]
        boot = (rows > y) & (np.abs(columns - x) < half * body.shoulder_width)
        person.labels[boot & (rows <= ankle)] = called
        person.labels[boot & (rows > ankle)] = Label.FEET
        photo[boot] = LEATHER
        leg = (rows > y) & (np.abs(columns - x) < 0.3 * body.shoulder_width) & (person.labels == cloth)
        photo[leg], person.labels[leg] = photo[4, 4], Label.BACKGROUND
    mannequin = replace(
        mannequin, person_map=replace(person, matte=np.where(person.labels > 0, 255, 0).astype(np.uint8))
    )
    return mannequin, measure_body(mannequin.person_map)
