"""Trousers fall over the shafts of boots: nothing of a shaft sticks out beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.boots import HIGHEST_SHAFT, SHAFT_UNTIL, rim_of_boot
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease, reach
from engines.warp.pieces import Reals

ROOM, WIDEST_SHAFT = 1.06, 0.30
"""Width of the cloth over that of the shaft, and the widest half of one, in shoulder widths."""

FALLING = 0.06
"""Share of the leg over which the cloth's edge is smoothed above and below a shaft's edge."""


def around_boot(body: BodyModel, side: int, shares: Reals) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least distance of the cloth from a leg's line, outwards and inwards, ``(n,)`` pixels; 0 without a boot.

    Args:
        body: The body.
        side: Side of the picture.
        shares: ``(n,)`` of the leg, ascending.
    """
    leg, least = body.legs[side], np.zeros(len(shares))
    line, outwards = leg.points(shares), leg.outwards(shares)
    if rim_of_boot(body, side) is not None:
        return least, least
    there, framed = values_at(body.labels, line)
    shaft = framed & (there == Label.FEET) & (shares > leg.bend + HIGHEST_SHAFT)
    if not (shaft & (shares < SHAFT_UNTIL)).any():
        return least, least
    worn = labelled_as(body.labels, (Label.FEET, Label.LOWER, Label.LEGS))
    most = WIDEST_SHAFT * body.shoulder_width
    edges = []
    for way in (outwards, -outwards):
        known = np.flatnonzero(shaft & (shares < SHAFT_UNTIL))
        seen = np.nan_to_num(reach(worn, line[known], way[known], 2.0 * most), nan=0.0)
        wide = ndimage.median_filter(np.where(seen < 2.0 * most, np.minimum(seen, most), 0.0), 5, mode="nearest")
        # From the knee cloth falls straight past the shaft, and from there straight down.
        at = np.concatenate([[leg.bend], shares[known]])
        edge = np.interp(shares, at, np.concatenate([[0.0], wide]))
        spread = FALLING * len(shares) / max(float(shares[-1] - shares[0]), 0.1)
        edges.append(np.maximum(ndimage.gaussian_filter1d(edge, spread, mode="nearest"), edge) * ROOM)
    begun = ease((shares - leg.bend) / HIGHEST_SHAFT)
    return np.asarray(edges[0] * begun, np.float64), np.asarray(edges[1] * begun, np.float64)
