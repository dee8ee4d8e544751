"""What is looked up again and again while one photo is parsed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engines.person.body import Body
from engines.person.colour_models import LEAST_SKIN, Region, Skin
from engines.person.networks import Floats
from engines.person.priors import Priors
from engines.person.smoothing import Guide

FEW = 60
"""Fewer pixels than this teach no colour model."""

LIKE_SKIN = -14.5
"""Log density of skin above which a colour may well be skin: some three and a half standard deviations."""


@dataclass
class Evidence:
    """One photo, or its smaller copy, in the frame of the person's body."""

    body: Body
    inside: Region
    lab: Floats
    cells: NDArray[np.intp]
    likely: Floats
    guide: Guide
    priors: Priors
    skin: Floats = field(init=False)

    def likeness_to(self, skin: Skin) -> Floats:
        """``(height, width)`` logarithm of the density of skin, looked up inside the person only."""
        out = np.full(self.inside.shape, LEAST_SKIN, np.float32)
        out[self.inside] = skin.log_density(self.lab[self.inside])
        return out


def evidence_of(lab: Floats, cells: NDArray[np.intp], matte: Floats, likely: Floats, body: Body) -> Evidence:
    """Everything of `engines.person.parsing.parse`'s arguments that they say together."""
    height, width = body.shape
    part = np.s_[:height, :width]  # a shrunk body has no half pixels at its edge
    lab, cells, matte, likely = lab[part], cells[part], matte[part], likely[part]
    grey = np.ascontiguousarray(lab[..., 0] / np.float32(100.0))
    guide = Guide(grey, max(3, round(0.02 * body.breadth)), 1e-3)
    inside = matte > 0.5
    return Evidence(body, inside, lab, cells, likely, guide, Priors(body, inside))
