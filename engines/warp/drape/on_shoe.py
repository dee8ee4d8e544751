"""Trousers that rest on shoes: pushed together there, their edges run in and out above the hem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import towards
from engines.warp.body.standing import break_height, shin_stands
from engines.warp.pieces import Reals

OUTER_EDGE = ((0.055, 0.035, 0.009), (0.150, 0.040, -0.010), (0.240, 0.050, 0.006))
INNER_EDGE = ((0.040, 0.030, 0.005), (0.115, 0.035, -0.008), (0.195, 0.045, 0.005))
"""How far out the edges of a leg run above its hem: height, half the size, and how far, in shoulder widths. Both are
pinched where the break of the cloth comes round to them, and stand out below and above it."""

REACHES_UP = 0.12
"""How far above the hem on the leg's line a shoe counts at most, and as far below it, in shoulder widths."""


def edges_on_shoe(
    body: BodyModel, side: int, end: float, along: Reals, edges: tuple[NDArray[np.float32], NDArray[np.float32]]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The edges of a leg's cloth, pushed together above a hem that rests on a shoe.

    Args:
        body: The body.
        side: Side of the picture.
        end: Share of the leg at which the hem lies.
        along: ``(n,)`` shares of the rows.
        edges: ``(n, 2)`` outer and inner edge, pixels.
    """
    share = rests_on_shoe(body, side, end)
    if share == 0.0:
        return edges
    outer, inner = edges
    across = towards(outer - inner)
    above = (end - along) * body.legs[side].length / body.shoulder_width
    above = above / break_height(side)
    moved = []
    for edge, way, waves in ((outer, 1.0, OUTER_EDGE), (inner, -1.0, INNER_EDGE)):
        out = sum(far * np.exp(-(((above - height) / half) ** 2)) for height, half, far in waves)
        moved.append((edge + way * share * body.shoulder_width * out[:, None] * across).astype(np.float32))
    return moved[0], moved[1]


def rests_on_shoe(body: BodyModel, side: int, end: float) -> float:
    """How far a hem rests on a shoe, 0 to 1: whether there is one, and how far the shin stands."""
    leg = body.legs[side]
    reach = REACHES_UP * body.shoulder_width / leg.length
    labels, framed = values_at(body.labels, leg.points(np.linspace(end - reach, end + reach, 9, dtype=np.float32)))
    if not (framed & (labels == Label.FEET)).any():
        return 0.0
    return shin_stands(leg)
