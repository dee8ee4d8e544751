"""How much larger or smaller than fitting a garment is drawn, from the sizes of garment and customer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engines.sizes import Fit

GIRTH_PER_SIZE = 0.06
"""Growth of chest or waist from one size to the next; EN 13402-3 has 6 to 8 cm on some 100."""

TOP_LENGTH_PER_SIZE = 0.025
"""Growth of a top's length from one size to the next: about 2 cm of 72."""

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


def _bounded(girth: float, length: float) -> Sizing:
    return Sizing(float(np.clip(girth, TIGHTEST, LOOSEST)), float(np.clip(length, SHORTEST, LONGEST)))
