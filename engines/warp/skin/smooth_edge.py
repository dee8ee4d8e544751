"""Masks with one smooth line for an edge."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask, window_of
from engines.warp.body.bare_parts import BarePart
from engines.warp.body.silhouette import ease

EDGE_SIGMA, EDGE_STEEPNESS = 2.0, 3.2
"""Pixels over which an edge of invented skin is straightened, and how much steeper than that it is."""

LEG_STEEPNESS = 3.6
"""The same at the edges of upright legs, which are long: as soft as others they would have a pale outline."""

UPRIGHT_SIGMA = 0.035
"""Standard deviation over which the edge of an upright leg is straightened along it, in shoulder widths: it is made of
long steps of one pixel."""

UPRIGHT = 0.4
"""How far aside a leg may run over how far down, to be upright."""


def antialiased(
    mask: NDArray[np.bool_], along: float = EDGE_SIGMA, steepness: float = EDGE_STEEPNESS
) -> NDArray[np.float32]:
    """A mask's cover, ``(height, width)`` float32, with its staircase edge made one smooth line.

    Args:
        mask: ``(height, width)``.
        along: Pixels over which it is straightened up and down.
        steepness: How much steeper than a straightened edge it is.
    """
    cover = np.zeros(mask.shape, np.float32)
    window = window_of(mask, round(4 * max(EDGE_SIGMA, along)))
    if mask[window].size:
        blurred = cv2.GaussianBlur(mask[window].astype(np.float32), (0, 0), sigmaX=EDGE_SIGMA, sigmaY=along)
        cover[window] = ease((np.asarray(blurred) - 0.5) * np.float32(steepness) + 0.5)
    return cover


def with_straight_legs(cover: NDArray[np.float32], mask: BoolMask, legs: list[BarePart], unit: float) -> None:
    """Straighten the edges of upright legs along them, in place.

    Args:
        cover: ``(height, width)`` of skin, 0 to 1.
        mask: ``(height, width)``, where it is wanted.
        legs: What is bared of the legs.
        unit: Shoulder width in pixels.
    """
    along = max(EDGE_SIGMA, UPRIGHT_SIGMA * unit)
    for leg in legs:
        if not _upright(leg):
            continue
        window = window_of(leg.on, round(2 * EDGE_SIGMA))
        straight = antialiased(mask[window], along, LEG_STEEPNESS)
        # At the ends of the leg, and where the other one meets it, that would round corners.
        inner = slice(round(2 * along), -round(2 * along))
        ending = np.zeros((straight.shape[0], 1), np.float32)
        ending[inner] = 1.0
        share = cv2.GaussianBlur(ending, (0, 0), sigmaX=1.0, sigmaY=along / 2.0)
        cover[window] += (straight - cover[window]) * np.asarray(share).reshape(-1, 1)


def _upright(leg: BarePart) -> bool:
    """Whether a leg runs down the picture."""
    rows, columns = np.nonzero(leg.on)
    if len(rows) < 2 or np.ptp(rows) < 2:
        return False
    slope = np.polyfit(rows[::16], columns[::16], 1)[0] if len(rows) >= 64 else np.inf
    return bool(abs(slope) < UPRIGHT)
