"""How much larger or smaller than fitting a garment is drawn, from the sizes of garment and customer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.sizes import Fit
from engines.warp.ribbon import Reals

GIRTH_PER_SIZE = 0.06
"""Growth of chest or waist from one size to the next; EN 13402-3 has 6 to 8 cm on some 100."""

TOP_LENGTH_PER_SIZE = 0.025
"""Growth of a top's length from one size to the next: about 2 cm of 72."""

LEG_LENGTH_PER_SIZE, LEG_LENGTH_PER_TWO_INCHES = 0.012, 0.06
"""Growth of trousers, skirts and dresses along the body from one size to the next: about 1 cm of 80, for people grow
in girth rather than in height; and what two inches are of an inseam of 80 cm, where a size names it."""

HELD_BY_WAISTBAND = 0.4
"""Share of what a garment is too wide or too narrow that shows at its waistband; a belt or a seat takes up the rest."""

TIGHTEST_EASE = 1.005
"""Width of cloth that is too small over that of the body."""

TIGHTEST, LOOSEST = 0.88, 1.25
"""Girths beyond which a picture says no more."""

SHORTEST, LONGEST = 0.85, 1.15
"""The same for lengths."""


@dataclass(frozen=True)
class Sizing:
    """Factors on what the body alone would ask for.

    Attributes:
        girth: On widths; below 1 for a garment that is too small.
        length: On lengths.
    """

    girth: float = 1.0
    length: float = 1.0


FITTING = Sizing()


def sizing_of_top(fit: Fit | None) -> Sizing:
    """For tops, which grow in both directions from size to size."""
    if fit is None:
        return FITTING
    return _bounded(1.0 + GIRTH_PER_SIZE * fit.tightness, 1.0 + TOP_LENGTH_PER_SIZE * fit.tightness)


def sizing_below_waist(fit: Fit | None) -> Sizing:
    """For trousers, skirts and dresses; a length of leg counts where both sizes name one."""
    if fit is None:
        return FITTING
    length = 1.0 + LEG_LENGTH_PER_SIZE * fit.tightness + LEG_LENGTH_PER_TWO_INCHES * fit.length
    return _bounded(1.0 + GIRTH_PER_SIZE * fit.tightness, length)


def sized(half: Reals, girth: float, inside: Reals, down: Reals | float) -> NDArray[np.float64]:
    """Half widths of hanging cloth that is wider or narrower than what fits.

    Args:
        half: ``(n,)`` of cloth that fits, pixels.
        girth: By what it is wider.
        inside: ``(n,)`` of the body, which no cloth is narrower than.
        down: ``(n,)`` or for all rows: 0 at the waistband, 1 where the cloth hangs as it likes.
    """
    factor = 1.0 + (girth - 1.0) * (HELD_BY_WAISTBAND + (1.0 - HELD_BY_WAISTBAND) * np.asarray(down))
    return np.asarray(np.maximum(half * factor, np.minimum(half, TIGHTEST_EASE * inside)), np.float64)


def _bounded(girth: float, length: float) -> Sizing:
    return Sizing(float(np.clip(girth, TIGHTEST, LOOSEST)), float(np.clip(length, SHORTEST, LONGEST)))
