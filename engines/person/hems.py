"""Trousers that hang over the shoes: where they end, by the colours of the two.

The pose puts the ankle inside the trouser leg, and wide ones reach far down from there. What is below the ankle counts
as shoe otherwise, which is right for trousers in the colour of the shoes: no line could be found there.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Landmark, Mask
from engines.person.body import Body
from engines.person.colour_models import LOG_UNIFORM, Region, log_density
from engines.person.naming import LOWER, SKIN
from engines.person.networks import Floats

_NEAR = 2.5
"""How far from the bones a shoe may be, on `engines.person.body.Limb.offset`."""

_ANKLE, _ABOVE = 2.0, 1.7
"""Places on `engines.person.body.Limb.position`: shoes begin, and trousers still are trousers."""

_SOLE = 0.6
"""From where on a shoe is only shoe, between ankle and ground."""

_MOST_SOLE = 0.25
"""Share of that part which may look like trousers; of shoes in the colour of the trousers all of it does."""

_LEAST_ODDS = 1.0
"""Logarithm of how much likelier a colour must be of trousers than of anything."""

_SURE_ODDS = 2.5
"""The same of the rim that the smoothing has taken off."""

_UNKNOWN = 0.05
"""Share of a material's colours that its seeds do not show."""

_CALM = 0.02
"""Half width of what is smoothed away of the hem's line, in shoulder widths."""


def over_feet(owners: Mask, cells: NDArray[np.intp], trousers: Floats, body: Body) -> Region:
    """``(height, width)`` bool: trousers below the ankle.

    Args:
        owners: ``(height, width)`` of `engines.person.naming` materials, 0 for the ground.
        cells: The photo's histogram cells.
        trousers: Density of the bottom's colours, per cell.
        body: The person's frame of reference.
    """
    found = np.zeros(owners.shape, np.bool_)
    leg = body.leg
    near = (owners != 0) & (leg.position > _ABOVE) & (leg.offset < _NEAR)
    left, top, across, down = cv2.boundingRect(near.astype(np.uint8))
    box = np.s_[top : top + down, left : left + across]
    if not down:
        return found
    near, second, cells, owners = near[box], leg.second[box], cells[box], owners[box]
    odds = np.clip(log_density(trousers, cells, _UNKNOWN) - LOG_UNIFORM, -3.0, 3.0)
    size = 2 * max(1, round(_CALM * body.breadth)) + 1
    cloth = cv2.boxFilter(odds, cv2.CV_32F, (size, size)) > _LEAST_ODDS
    cloth &= near & (owners != SKIN)
    above = (owners == LOWER) & (leg.position[box] < _ANKLE)
    # Down each column as far as nothing else comes between, so that a sole of the same colour is not reached.
    hanging = np.maximum.accumulate(above, axis=0) & ~np.maximum.accumulate(near & ~above & ~cloth, axis=0)
    hem = cv2.morphologyEx((hanging & near).astype(np.uint8), cv2.MORPH_OPEN, np.ones((1, 3 * size), np.uint8))
    # The smoothing has taken a rim of the trousers' own colour off, light shoes and walls beside it being so unlike.
    hem = (cv2.dilate(hem, np.ones((size, size), np.uint8)) > 0) & near & (odds > _SURE_ODDS)
    for own, sole in _soles(near, second, top, body):
        if (hem & sole).sum() <= _MOST_SOLE * sole.sum():
            found[box] |= hem & own & ~sole & (leg.position[box] >= _ANKLE)
    return found


def _soles(near: Region, second: Region, top: int, body: Body) -> Iterator[tuple[Region, Region]]:
    """Of each foot where it is, and its lower part, which no trousers reach.

    White shoes on a white floor are not seen: the foot goes on to its toes all the same.
    """
    rows = np.arange(top, top + len(near))[:, None]
    feet = (Landmark.LEFT_ANKLE, Landmark.LEFT_FOOT_INDEX), (Landmark.RIGHT_ANKLE, Landmark.RIGHT_FOOT_INDEX)
    for own, (ankle, toes) in zip((near & ~second, near & second), feet, strict=True):
        seen = np.flatnonzero(own.any(axis=1))
        if len(seen):
            start = float(body.landmarks[ankle, 1])
            end = max(top + float(seen[-1]), float(body.landmarks[toes, 1]))
            yield own, own & (rows > start + _SOLE * (end - start))
