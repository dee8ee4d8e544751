"""The break of trousers: where a hem rests on a shoe, the cloth above it gives way in a fold or two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import window_of
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.body.standing import break_height, shin_stands
from engines.warp.pieces import Piece


class Dent(NamedTuple):
    """One fold: cloth goes in at its upper flank and comes out again at its lower one.

    Attributes:
        above: Height of its lowest place above the hem, shoulder widths.
        aside: Where across the leg that is, from the place where the shoe stands out, 1 for half the leg's width.
        rising: How much higher it is half a leg's width from there, shoulder widths.
        slanting: How much higher it is at the outer edge than on the leg's axis, shoulder widths.
        wide: Length across the leg, 1 for half its width.
        high: Half the width of its flanks, shoulder widths.
        deep: Light that its upper flank loses.
    """

    above: float
    aside: float
    rising: float
    slanting: float
    wide: float
    high: float
    deep: float


DENTS = (
    Dent(0.085, 0.0, 0.050, 0.010, 0.85, 0.022, 0.17),
    Dent(0.185, -0.35, 0.040, 0.050, 0.60, 0.022, 0.12),
    Dent(0.030, 0.55, -0.030, 0.000, 0.35, 0.016, 0.08),
)
"""The break itself, a slanting fold above it on the outer side, and one beside the instep."""

LIT = 0.55
"""Light that a lower flank gains over what the upper one loses."""

UNTIL = 0.40
"""How far above the hem folds are drawn, in shoulder widths."""

BELOW_HEM = 0.03
"""How far below a hem a shoe begins on which it rests, in shoulder widths."""

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
    level = ndimage.gaussian_filter1d(np.interp(np.arange(len(hem)), columns, hem[columns]), max(0.01 * unit, 1.0))
    above = ((level - np.arange(len(cloth))[:, None]) / unit).astype(np.float32)
    begin = max(0, int(level[columns].min() - UNTIL * unit))
    folded = _dented(piece.across[window][begin:], above[begin:], side, tip)
    change[window][begin:] = strength * folded * cloth[begin:]
    return change


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


def _dented(across: NDArray[np.float32], above: NDArray[np.float32], side: int, tip: float) -> NDArray[np.float32]:
    """``(h, w)`` change of light by `DENTS`, from the place across the leg and the height above its hem."""
    change = np.zeros(across.shape, np.float32)
    above = above / np.float32(break_height(side))
    for dent in DENTS:
        off = across - np.float32(tip + dent.aside * -side)
        lowest = dent.above + np.float32(dent.rising) * off * off + np.float32(dent.slanting * side) * across
        flank = (above - lowest) / np.float32(dent.high)
        profile = flank * np.exp(np.float32(0.5) - np.float32(0.5) * flank * flank)
        lit = np.where(profile < 0, np.float32(LIT), np.float32(1.0))
        aside = off * off * np.float32(dent.wide**-2)
        change -= np.float32(dent.deep) * profile * lit * np.exp(-aside * aside)
    return change
