"""The break of trousers: where a hem rests on a shoe, the cloth above it gives way in a fold or two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import window_of
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.body.standing import break_height, shin_stands
from engines.warp.folds.creases import creased
from engines.warp.pieces import Piece


class Dent(NamedTuple):
    """One crease across the leg.

    Attributes:
        above: Height of its lowest place above the hem, shoulder widths.
        aside: Where across the leg that is, from the place where the shoe stands out, 1 for half the leg's width.
        rising: How much higher it is half a leg's width from there, shoulder widths.
        slanting: How much higher it is at the outer edge than on the leg's axis, shoulder widths.
        wide: Length across the leg, 1 for half its width.
        over: Width over which cloth goes in above it, shoulder widths.
        under: Width over which it comes out again below it.
        deep: Depth, shoulder widths.
    """

    above: float
    aside: float
    rising: float
    slanting: float
    wide: float
    over: float
    under: float
    deep: float


DENTS = {
    LEFT: (
        Dent(0.080, 0.25, 0.020, 0.030, 1.00, 0.026, 0.014, 0.0085),
        Dent(0.165, -0.55, 0.030, -0.055, 0.70, 0.026, 0.015, 0.0060),
        Dent(0.045, -0.60, -0.020, 0.020, 0.40, 0.018, 0.010, 0.0030),
    ),
    RIGHT: (
        Dent(0.075, -0.30, 0.035, -0.040, 0.95, 0.026, 0.014, 0.0080),
        Dent(0.140, 0.60, 0.020, 0.060, 0.60, 0.024, 0.014, 0.0060),
        Dent(0.220, -0.70, 0.040, -0.050, 0.45, 0.028, 0.017, 0.0040),
    ),
}
"""Of each leg, for no two legs break alike: the break itself, a slanting fold above it from one side, and a short one
from the other."""

SEEN, CLOSED = 0.5, 0.7
"""Share of the light that a slope away from it loses, and what light a crease as deep as it is wide loses."""

UNTIL = 0.40
"""How far above the hem folds are drawn, in shoulder widths."""

BELOW_HEM = 0.03
"""How far below a hem a shoe begins on which it rests, in shoulder widths."""

STEEPEST = 1.3
"""Rows that a hem rises from one column to the next at most; the edge of a leg is steeper."""

RESTING = (0.15, 0.45)
"""Share of a hem that rests on a shoe from which its leg breaks, and from which wholly."""

SHIN = 0.75
"""Share of a leg below which all of it lies."""

TOWARDS_TIP = 0.45
"""How far aside the break lies at most where the shoe stands out to one side, 1 for half the leg's width."""


def break_on_shoe(piece: Piece, body: BodyModel) -> NDArray[np.float32]:
    """``(h, w)`` change of light around 0 by the break of a trouser leg; 0 where its hem rests on no shoe.

    Args:
        piece: One leg of the trousers.
        body: The body it is on.
    """
    change = np.zeros(body.shape, dtype=np.float32)
    side, unit = -1 if piece.name.startswith("left") else 1, body.shoulder_width
    shin = float(body.legs[side].points(np.array([SHIN], np.float32))[0, 1])
    top = int(np.clip(shin, 0, len(piece.alpha) - 1))
    window = window_of(piece.alpha[top:] > 0.5, max(2, round(BELOW_HEM * unit)))
    window = slice(window[0].start + top, window[0].stop + top), window[1]
    cloth = piece.alpha[window] > 0.5
    strength = shin_stands(body.legs[side])
    if not cloth.size or strength == 0.0:
        return change
    columns = np.flatnonzero(cloth.any(axis=0))
    hem = np.full(cloth.shape[1], 0.0)
    hem[columns] = len(cloth) - 1 - np.argmax(cloth[::-1, columns], axis=0)
    resting, tip = _resting(body.labels[window] == Label.FEET, hem, columns, unit)
    strength *= float(ease((resting - RESTING[0]) / (RESTING[1] - RESTING[0])))
    if strength == 0.0:
        return change
    level = _level(hem, columns, unit)
    above = ((level - np.arange(len(cloth))[:, None]) / unit).astype(np.float32)
    begin = max(0, int(level[columns].min() - UNTIL * unit))
    folded = _dented(piece.across[window][begin:], above[begin:], side, tip, unit)
    change[window][begin:] = strength * folded * cloth[begin:]
    return change


def _level(hem: NDArray[np.float64], columns: NDArray[np.int64], unit: float) -> NDArray[np.float64]:
    """``(w,)`` rows of a hem, going on beside it: where a leg slants, its cloth ends in many a column at its edge."""
    steep = np.abs(np.gradient(ndimage.gaussian_filter1d(hem[columns], 2.0))) > STEEPEST if len(columns) > 1 else None
    runs, count = ndimage.label(np.ones(1) if steep is None else ~steep)
    at_hem = runs == 1 + np.argmax(np.bincount(runs.ravel())[1:]) if count else np.ones(len(columns), bool)
    level = np.interp(np.arange(len(hem)), columns[at_hem], hem[columns[at_hem]])
    return np.asarray(ndimage.gaussian_filter1d(level, max(0.01 * unit, 1.0)), np.float64)


def _resting(
    feet: NDArray[np.bool_], hem: NDArray[np.float64], columns: NDArray[np.int64], unit: float
) -> tuple[float, float]:
    """Share of a hem below which there is a shoe, and where its middle lies across the leg, -1 to 1."""
    rows = np.minimum(hem[columns].astype(int) + np.arange(-1, max(2, round(BELOW_HEM * unit)))[:, None], len(feet) - 1)
    on_shoe = feet[rows, columns].any(axis=0)
    if not on_shoe.any():
        return 0.0, 0.0
    half = max((columns[-1] - columns[0]) / 2.0, 1.0)
    aside = (float(columns[on_shoe].mean()) - (columns[0] + columns[-1]) / 2.0) / half
    return float(on_shoe.mean()), float(np.clip(aside, -TOWARDS_TIP, TOWARDS_TIP))


def _dented(
    across: NDArray[np.float32], above: NDArray[np.float32], side: int, tip: float, unit: float
) -> NDArray[np.float32]:
    """``(h, w)`` change of light by the `DENTS` of a leg, from places across it and heights above its hem."""
    change = np.zeros(across.shape, np.float32)
    higher = np.float32(break_height(side))
    above = above / higher
    for dent in DENTS[side]:
        off = across - np.float32(tip + dent.aside * -side)
        lowest = dent.above + np.float32(dent.rising) * off * off + np.float32(dent.slanting * side) * across
        aside = off * off * np.float32(dent.wide**-2)
        heights = np.float32(dent.deep) * creased(lowest - above, dent.over, dent.under) * np.exp(-aside * aside)
        slope = np.gradient(heights, axis=0) * np.float32(unit * higher) if len(heights) > 1 else 0
        change += SEEN * slope + np.float32(CLOSED / (dent.over + dent.under)) * np.minimum(heights, 0)
    return change
