"""Creases laid on the legs of trousers and shorts, between the edges of their own cloth and from their own crotch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.warp.body.model import BodyModel
from engines.warp.body.standing import raised_aside, share_bent
from engines.warp.folds.laid import Joints, from_aside, limb_places, side_of
from engines.warp.folds.leg_creases import ANKLE, CROTCH, HALF, KNEE, SHEET, leg_reliefs
from engines.warp.pieces import Piece

LEG = Joints(CROTCH, KNEE, ANKLE, HALF)

STEPS = 0.02
"""Length over which the edges of the cloth are looked for, shoulder widths."""

STEADIED = 3.0
"""Those over which the edges are smoothed."""

LEAST_HALF, MOST_HALF = 0.12, 0.9
"""Bounds of half the width of the cloth on the sheet: over the leg's own, a tight or a wide one."""

INSEAM = 0.1
"""How far beyond its axis a leg's cloth reaches inwards where it has an inseam: above its crotch it does not."""

LOWEST_CROTCH = 0.45
"""How far below the body's a garment's crotch hangs at most, shoulder widths."""

STRIDE = 3
"""Edges and crotch are looked for at every so many pixels."""


def leg_folds(piece: Piece, body: BodyModel, light: tuple[float, float]) -> NDArray[np.float32]:
    """``(h, w)`` change of light around 0 by the creases of a trouser leg.

    Args:
        piece: One leg of the garment.
        body: The body it is on.
        light: Where light comes from in the picture, a unit vector of x and y; y points down.
    """
    change = np.zeros(body.shape, dtype=np.float32)
    window = piece.window
    if not piece.alpha[window].size:
        return change
    side = side_of(piece)
    leg = body.legs[side]
    straight, bent, lap = leg_reliefs(piece.name.removesuffix("_leg"))
    x, y, across, down = limb_places(leg, LEG, window, from_aside(light))
    every = (slice(None, None, STRIDE), slice(None, None, STRIDE))
    cloth = piece.alpha[window][every] > 0.5
    if cloth.any():
        inwards = -side * piece.across[window][every][cloth]
        x = _between_edges(x, y, (x[every][cloth], y[every][cloth]))
        y = _from_crotch(y, y[every][cloth][inwards > INSEAM])
        folds = straight.mixed(bent, share_bent(leg)).mixed(lap, raised_aside(body, side))
        change[window] = folds.light(x, y, (across, down))
    return change


def _between_edges(
    x: NDArray[np.float32], y: NDArray[np.float32], cloth: tuple[NDArray[np.float32], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """``(h, w)`` places across the sheet, `HALF` at the edges of the cloth instead of those of the leg.

    Args:
        x: Places over the leg's own width.
        y: Places down the sheet.
        cloth: ``(n,)`` the same of what is covered.
    """
    steps = np.arange(0.0, SHEET.high + STEPS, STEPS)
    place = np.clip((cloth[1] / STEPS).astype(np.intp), 0, len(steps) - 1)
    count = np.bincount(place, minlength=len(steps))
    known = np.flatnonzero(count)
    halves = []
    for way in (-1, 1):
        edge = np.zeros(len(steps))
        np.maximum.at(edge, place, way * cloth[0])
        edge = np.interp(np.arange(len(steps)), known, np.clip(edge[known], LEAST_HALF, MOST_HALF))
        halves.append(np.interp(y, steps, ndimage.gaussian_filter1d(edge, STEADIED, mode="nearest")))
    return np.asarray(HALF * x / np.where(x < 0, *halves), dtype=np.float32)


def _from_crotch(y: NDArray[np.float32], below: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(h, w)`` places down the sheet, whose crotch lies where the garment's does.

    Args:
        y: Places whose crotch is the body's.
        below: ``(n,)`` those of the cloth that has an inseam.
    """
    crotch = float(np.clip(np.percentile(below, 1), CROTCH, CROTCH + LOWEST_CROTCH)) if len(below) else CROTCH
    stretched = KNEE + (y - np.float32(KNEE)) * np.float32((KNEE - CROTCH) / (KNEE - crotch))
    return np.asarray(np.where(y < KNEE, stretched, y), dtype=np.float32)
