"""The inside of a collar as it is seen beside the neck: a narrow strip of plain cloth, without label and folds."""

from __future__ import annotations

import numpy as np

from engines.filling import LEAST_WEIGHT, carried_out
from engines.garment.cloth import Cloth
from engines.garment.neckline import inner_back_alone
from engines.garment.regions import BoolMask, dilated, eroded, window_of

UNDER = 4
"""How far the inside goes on under the front, canvas pixels: no skin or wall shows where the one ends on the other."""

RIM = 3
"""Width of the edges in which the inside is mixed with the front or lies in its shadow, canvas pixels."""

EVEN = 0.08
"""Blur of its colours, in widths of the inside (standard deviation): what little is seen of it shows no folds."""

USUAL = 3.0
"""Distance from its middle colour, in usual ones, from which something is a label."""


def inside_of_collar(cloth: Cloth, back: BoolMask) -> Cloth:
    """The inside of the back, its colours evened out, and a little more of it where the front lies before it.

    On a table shadows, seams and the label are seen between front and back. Of a worn collar only the two ends are,
    and a piece of one of those would look torn.

    Args:
        cloth: The whole garment.
        back: ``(h, w)`` bool on the cloth's canvas, the inside of the back.
    """
    window, wider = window_of(back, 2 * UNDER), back.copy()
    wider[window] = dilated(back[window], UNDER)
    alone = inner_back_alone(cloth, wider)
    part, inside = cloth.colour[window], eroded(back[window] & (cloth.alpha[window] > 0.9), RIM)
    if not inside.any():
        return alone
    middle = np.median(part[inside], axis=0)
    away = np.linalg.norm(part - middle, axis=2)
    cloth_alone = inside & (away <= USUAL * max(float(np.median(away[inside])), LEAST_WEIGHT))
    even, known = carried_out(part, cloth_alone.astype(np.float32), EVEN * part.shape[1])
    colour = alone.colour.copy()
    colour[window] = np.where(known[..., None] > LEAST_WEIGHT, even, middle)
    return Cloth(colour, alone.alpha)
