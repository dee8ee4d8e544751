"""Trousers over bare legs: their cloth covers all the skin that the photo shows, wherever the pose has the leg."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import reach
from engines.warp.pieces import Reals

EASE = 0.012
"""How far past the skin the cloth reaches at least, in shoulder widths."""

TOWARDS_OTHER = 0.75
"""Share of the way to the line of the other leg from which what is seen is that leg."""

WITHIN = 2.0
"""How far inside what is worn its edge is looked at, pixels: whether it is skin that ends there."""

WIDEST = 0.35
"""How far from the line of a leg its skin is looked for, in shoulder widths."""

STEADIED = 0.03
"""Share of the leg over which the edge is smoothed."""


def around_skin(body: BodyModel, side: int, shares: Reals) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least distance of the cloth from a leg's line, outwards and inwards, ``(n,)`` pixels; 0 where no skin is seen.

    Args:
        body: The body.
        side: Side of the picture.
        shares: ``(n,)`` of the leg, ascending.
    """
    leg, unit = body.legs[side], body.shoulder_width
    worn = labelled_as(body.labels, (Label.LEGS, Label.LOWER))
    line, outwards = leg.points(shares), leg.outwards(shares)
    there, framed = values_at(worn, line)
    known = np.flatnonzero(framed & there)
    edges = []
    apart = np.linalg.norm(line - body.legs[-side].points(shares), axis=1)
    for way, room in ((outwards, np.full(len(shares), np.inf)), (-outwards, TOWARDS_OTHER * apart)):
        edge = np.zeros(len(shares))
        if len(known):
            seen = np.nan_to_num(reach(worn, line[known], way[known], WIDEST * unit), nan=0.0)
            inside = line[known] + way[known] * np.maximum(seen - WITHIN, 0.0)[:, None]
            ends = values_at(body.labels, inside)[0] == Label.LEGS
            ends &= (seen > 0) & (seen < np.minimum(WIDEST * unit - 1.0, room[known]))
            edge[known] = np.where(ends, seen + EASE * unit, 0.0)
            steady = ndimage.maximum_filter1d(ndimage.median_filter(edge, 5, mode="nearest"), 5)
            spread = STEADIED * len(shares) / max(float(shares[-1] - shares[0]), 0.1)
            edge = np.maximum(ndimage.gaussian_filter1d(steady, spread, mode="nearest"), edge)
        edges.append(edge)
    return edges[0], edges[1]
