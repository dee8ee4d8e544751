"""Gaps between the pieces of a garment that in the photo of it hang together: scraps of skin or wall in an armpit."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.filling import carried_out
from engines.garment.regions import BoolMask, closed, dilated, window_of
from engines.warp.pieces import Drape, Piece

WIDEST = 0.022
"""Half the width of a gap at most, in shoulder widths."""

LARGEST, LARGEST_HOLE = 0.004, 0.012
"""Its area at most, in squared shoulder widths; what is larger is open. The same of a hole with cloth all around."""

OPEN, OPEN_TO_WALL = 0.3, 0.04
"""Share of its outline up to which a gap may be open; the corner between a cuff and the body is open by more. The same
of one that shows the wall, which is closed all around but for a crack: the wedge between a sleeve and the side is open
by twice as much and ends in a point."""

CLOSED = 0.9
"""Cover from which pieces close a place: two soft edges side by side let a line of the wall through."""

PERSON = 0.5
"""Cover from which a gap shows the person and not the wall."""

TOUCHED = 3
"""Pixels within which a gap touches both pieces."""

WHOLE, REACH = 0.95, 2.5
"""Cover from which a pixel shows the cloth alone, and from how far around colours are carried into a gap, pixels."""

SURE = 0.05
"""Share of known cloth around a pixel below which colours come from farther away as well."""

SOFT = 0.7
"""Softness of what fills a gap where it is open, pixels (standard deviation): the garment's outline goes on there."""


def closed_up(torso: Piece, sleeves: list[Piece], unit: float, person: NDArray[np.float32]) -> Piece:
    """The torso with the gaps between it and the sleeves filled with the colours around them.

    Args:
        torso: Of the garment.
        sleeves: As they lie on it.
        unit: Shoulder width in pixels.
        person: ``(h, w)`` cover of the person behind the garment.
    """
    if not sleeves:
        return torso
    whole = Drape((torso, *sleeves), {}).alpha > CLOSED
    window = window_of(whole, 1)
    cloth = whole[window]
    widest = max(1, round(WIDEST * unit))
    gaps = closed(cloth, widest) & ~cloth
    parts = [piece.alpha[window] > 0.5 for piece in (torso, *sleeves)]
    wall, most = person[window] < PERSON, LARGEST * unit**2
    # The person's outline may cross a hole, neither half of which is closed without the other one.
    holes = _between(gaps, cloth, parts, LARGEST_HOLE * unit**2, OPEN_TO_WALL)
    gaps = _between(gaps & ~wall, cloth, parts, most, OPEN) | _between(gaps & wall, cloth, parts, most, OPEN_TO_WALL)
    gaps |= holes
    if not gaps.any():
        return torso
    known = torso.alpha[window] > WHOLE
    values = np.dstack([torso.colour[window], torso.across[window]])
    carried, weight = carried_out(values, known.astype(np.float32), REACH)
    farther, _ = carried_out(values, known.astype(np.float32), max(REACH, widest))
    carried += (farther - carried) * np.clip(1 - weight / SURE, 0, 1)[..., None]
    # Under the soft edge of what is beside it, too, and no farther out than the outline without the gap.
    outline = np.asarray(cv2.GaussianBlur((cloth | gaps).astype(np.float32), (0, 0), SOFT), np.float32)
    filled = np.maximum(np.clip(2 * outline - 0.5, 0, 1), torso.alpha[window])
    share = dilated(gaps, 2) & ~known
    colour, alpha, across = torso.colour.copy(), torso.alpha.copy(), torso.across.copy()
    colour[window][share], across[window][share] = carried[share][:, :3] * filled[share][:, None], carried[share][:, 3]
    alpha[window][share] = filled[share]
    return replace(torso, colour=colour, alpha=alpha, across=across)


def _between(gaps: BoolMask, cloth: BoolMask, parts: list[BoolMask], largest: float, most: float) -> BoolMask:
    """Those of some gaps that are small, between the first part and another one, and open by a small share at most."""
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(gaps.astype(np.uint8), connectivity=8)
    kept = stats[:, cv2.CC_STAT_AREA] <= largest
    kept[0] = False
    touched = [np.isin(np.arange(count), numbered[dilated(part, TOUCHED)]) for part in parts]
    kept &= touched[0] & np.logical_or.reduce(touched[1:])
    for number in np.flatnonzero(kept):
        gap = numbered == number
        around = dilated(gap, 1) & ~gap
        kept[number] = (around & ~cloth).sum() < most * around.sum()
    return np.asarray(kept[numbered])
