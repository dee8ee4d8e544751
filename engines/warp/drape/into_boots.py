"""Trousers tucked into boots, as those in the photo are: they end at the rim of the shaft."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.boots import cover_of_boot, rim_of_boot
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease, reach
from engines.warp.pieces import Drape, Piece, Reals

MEASURED, SAMPLES = (0.01, 0.06), 9
"""How far below its rim the width of a shaft is measured, in shares of the leg, and at how many places."""

WIDEST_SHAFT, FILLED = 0.30, 0.97
"""Widest half of a shaft, in shoulder widths, and share of its width that the cloth fills."""

GATHERED, INSIDE = 0.11, (0.06, 0.12)
"""Share of the leg over which cloth is gathered above the rim, and how far below it it comes to its end."""


def into_boot(
    body: BodyModel, side: int, shares: Reals, edges: tuple[Reals, Reals], rim: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances of the cloth's edges from a leg's line, gathered to the width of the boot that the leg goes into.

    Args:
        body: The body.
        side: Side of the picture.
        shares: ``(n,)`` of the leg.
        edges: ``(n,)`` outwards and inwards without the boot, pixels.
        rim: Share of the leg at which the boot begins.
    """
    leg, most = body.legs[side], WIDEST_SHAFT * body.shoulder_width
    at = rim + np.linspace(*MEASURED, SAMPLES)
    line, outwards = leg.points(at), leg.outwards(at)
    worn = labelled_as(body.labels, (Label.FEET,))
    gathered = ease((shares - rim + GATHERED) / GATHERED)
    left = 1.0 - ease((shares - rim - INSIDE[0]) / (INSIDE[1] - INSIDE[0]))
    held = []
    for edge, way in zip(edges, (1.0, -1.0), strict=True):
        shaft = FILLED * float(np.median(np.nan_to_num(reach(worn, line, way * outwards, most), nan=most)))
        # In a wider shaft cloth stands as wide as it is.
        held.append(np.asarray((edge - np.maximum(edge - shaft, 0.0) * gathered) * left, np.float64))
    return held[0], held[1]


def behind_boots(drape: Drape, body: BodyModel) -> Drape:
    """The drape without what of its legs is inside boots.

    Args:
        drape: The garment.
        body: The body, with labels that end where the photo shows it.
    """
    boots, pieces = np.zeros(body.shape, np.float32), list(drape.pieces)
    for side in SIDES:
        name = "left_leg" if side < 0 else "right_leg"
        own = [number for number, piece in enumerate(pieces) if piece.name == name]
        rim = rim_of_boot(body, side) if own else None
        if rim is None:
            continue
        boot = cover_of_boot(body, side, rim)
        for number in own:
            if (pieces[number].alpha * boot).any():
                pieces[number] = _without(pieces[number], boot)
                boots = np.maximum(boots, boot)
    return replace(drape, pieces=tuple(pieces), boots=boots) if boots.any() else drape


def _without(piece: Piece, boot: NDArray[np.float32]) -> Piece:
    left = np.float32(1.0) - boot
    return replace(piece, colour=piece.colour * left[..., None], alpha=piece.alpha * left)
