"""Creases that reach the edge of a trouser leg: its outline goes in and out where its cloth does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.drape.raised_thigh import raised_aside
from engines.warp.folds.laid import share_bent
from engines.warp.folds.leg_creases import ANKLE, BENT_DEEPER, CREASES, CROTCH, HALF, KNEE, SHEET
from engines.warp.pieces import Reals
from engines.warp.ribbon import Ribbon

DEEPER = 2.2
"""How many times as far the edge of a leg goes in as the cloth on its front: no body holds it up there."""

FROM = (1.05, 1.20)
"""Places down the sheet between which that begins: on hips and thighs trousers lie flat."""

NEAR_EDGE = 3
"""Power of the way across the leg with which that is lost again: a print on its front stays as it is."""

STEP = 0.01
"""Length between the places at which the edges are measured, shoulder widths."""


def with_creased_edges(ribbon: Ribbon, body: BodyModel, side: int, shares: Reals) -> Ribbon:
    """The ribbon of a leg whose edges follow its creases from above the knee to the hem.

    Args:
        ribbon: From the waistband to the hem; its rows run from the outer edge to the inner one.
        body: The body.
        side: Side of the picture.
        shares: ``(l,)`` shares of the leg of the last rows of the ribbon; the others lie above its crotch.
    """
    leg = body.legs[side]
    deeper = DEEPER * body.shoulder_width * (1.0 - raised_aside(body, side))
    down = np.interp(shares, [0.0, leg.bend, 1.0], [CROTCH, KNEE, ANKLE])
    straight, knee = _heights_at_edges("left" if side < 0 else "right")
    heights = straight + np.float32(1.0 + BENT_DEEPER * share_bent(leg)) * knee
    places = STEP * np.arange(heights.shape[1])
    outer, inner = (deeper * np.interp(down, places, height)[:, None] for height in heights)
    target = ribbon.target.copy()
    below = target[-len(shares) :]
    share = np.clip((1.0 - side * np.asarray(ribbon.across)[-len(shares) :]) / 2.0, 0.0, 1.0)
    outwards = outer * (1.0 - share) ** NEAR_EDGE - inner * share**NEAR_EDGE
    below += (leg.outwards(shares)[:, None] * outwards[..., None]).astype(np.float32)
    return replace(ribbon, target=target)


@cache
def _heights_at_edges(side: str) -> NDArray[np.float32]:
    """``(2, 2, n)`` heights of the cloth of the straight leg and of the knee at its outer and its inner edge."""
    down = np.arange(0.0, SHEET.high, STEP, dtype=np.float32)
    thigh, knee, calf = CREASES[side]
    below = ease((down - FROM[0]) / (FROM[1] - FROM[0]))
    heights = np.zeros((2, 2, len(down)), np.float32)
    for part, creases in enumerate((thigh + calf, knee)):
        for edge, at in enumerate((-HALF, HALF)):
            across = np.full((1, len(down)), at, np.float32)
            heights[part, edge] = below * sum(crease.heights(across, down[None])[0] for crease in creases)
    return heights
