"""Creases that come round a trouser leg at knee and calf: its outline goes in and out where its cloth does."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.body.standing import raised_aside, share_bent
from engines.warp.pieces import Reals
from engines.warp.ribbon import Ribbon


class Notch(NamedTuple):
    """Where the edge of a leg goes in.

    Attributes:
        place: Along the leg, 1 at the knee and 2 at the ankle.
        above: Width over which it goes in above that, shoulder widths.
        below: Width over which it comes out again below.
        deep: How far it goes in, shoulder widths.
        bent: How many times as far where the knee is bent by a right angle.
    """

    place: float
    above: float
    below: float
    deep: float
    bent: float = 1.0


OUTER = {
    LEFT: (Notch(1.26, 0.052, 0.042, 0.006),),
    RIGHT: (
        Notch(0.94, 0.036, 0.026, 0.007, 2.0),
        Notch(1.11, 0.032, 0.025, 0.005, 2.0),
        Notch(1.59, 0.040, 0.031, 0.004),
    ),
}
INNER = {
    LEFT: (
        Notch(0.91, 0.036, 0.025, 0.008, 2.0),
        Notch(1.10, 0.032, 0.025, 0.006, 2.0),
        Notch(1.64, 0.040, 0.031, 0.004),
    ),
    RIGHT: (Notch(0.85, 0.040, 0.029, 0.005, 2.0), Notch(1.34, 0.052, 0.042, 0.006)),
}
"""Of the two edges of each leg, where the creases of its cloth reach them; they are deeper there, for no body holds the
cloth up."""

STANDS_OUT, STANDS_OUT_AT, STANDS_OUT_OVER = 0.5, 3.0, 2.0
"""How far the edge stands out below a notch over its depth, how far below and over what length, over the width over
which it comes out."""

ROUNDED = 0.014
"""Cloth does not bend more sharply than this, shoulder widths."""

NEAR_EDGE = 3
"""Power of the way across the leg with which that is lost again: a print on its front stays as it is."""


def with_creased_edges(ribbon: Ribbon, body: BodyModel, side: int, shares: Reals) -> Ribbon:
    """The ribbon of a leg whose edges follow its creases; those of a raised thigh are hidden in the hollow of its knee.

    Args:
        ribbon: From the waistband to the hem.
        body: The body.
        side: Side of the picture.
        shares: ``(l,)`` shares of the leg of the last rows of the ribbon; the others lie above its crotch.
    """
    leg, unit = body.legs[side], body.shoulder_width
    shin = (1.0 - leg.bend) * leg.length / unit
    place = np.where(shares < leg.bend, shares / leg.bend, 1.0 + (shares - leg.bend) / (1.0 - leg.bend))
    strength, bent = unit * (1.0 - raised_aside(body, side)), share_bent(leg)
    outer, inner = (strength * _out(place, shin, notches[side], bent)[:, None] for notches in (OUTER, INNER))
    target = ribbon.target.copy()
    share = np.clip((1.0 - side * np.asarray(ribbon.across)[-len(shares) :]) / 2.0, 0.0, 1.0)
    outwards = outer * (1.0 - share) ** NEAR_EDGE - inner * share**NEAR_EDGE
    target[-len(shares) :] += (leg.outwards(shares)[:, None] * outwards[..., None]).astype(np.float32)
    return replace(ribbon, target=target)


def _out(place: Reals, shin: float, notches: tuple[Notch, ...], bent: float) -> NDArray[np.float64]:
    """``(n,)`` how far an edge stands out, shoulder widths.

    Args:
        place: ``(n,)`` along the leg, 1 at the knee and 2 at the ankle.
        shin: Length from 1 to 2, shoulder widths.
        notches: Of this edge.
        bent: How far the knee is bent, 0 to 1.
    """
    out = np.zeros(len(place))
    for notch in notches:
        off = (place - notch.place) * shin
        away = (np.hypot(off, ROUNDED) - ROUNDED) / np.where(off < 0, notch.above, notch.below)
        stands = (off / notch.below - STANDS_OUT_AT) / STANDS_OUT_OVER
        deep = notch.deep * (1.0 + (notch.bent - 1.0) * bent)
        out += deep * (STANDS_OUT * np.exp(-stands * stands) - np.exp(-away))
    return out
