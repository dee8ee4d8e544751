"""A sailor's jumper: long sleeves, crew neck, navy stripes on cream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cli.samples.fabric import Cloth, dyed, knit, linear, rib, smooth_noise
from cli.samples.light import FlatLay, Fold, fold_relief, rumple, seam_relief
from cli.samples.outline import Canvas, Plane, Points, both_sides, curve, joined, mirrored

CREAM = (238, 230, 212)
NAVY = (36, 44, 74)

STRIPE_ROWS = (4, 3)
"""Rows of stitches: cream, then navy."""

PLAIN_YOKE_CM = 9.0
"""The stripes begin this far below the shoulder line."""

SHOULDER_TIP = (20.5, 5.0)
ARMPIT = (23.6, 24.5)
SLEEVE_START = (21.5, 13.0)
"""Middle of the armhole; the sleeve's axis runs from here to `CUFF_MIDDLE`."""

CUFF_MIDDLE = (40.2, 60.0)
CUFF_CM = 6.0
HEM_CM = 5.5
BODY_LENGTH_CM = 64.0
NECK_CENTRE = (0.0, -1.2)
"""The ribs of the collar point here."""


def _body() -> Points:
    neck = curve((0, 8.2), (4.0, 7.3), (7.4, 4.2), (8.9, 0.2))
    shoulder = curve((8.9, 0.2), (14.5, 2.2), SHOULDER_TIP)
    armhole = curve(SHOULDER_TIP, (19.6, 12.0), (20.6, 20.0), ARMPIT)
    side = curve(ARMPIT, (23.4, 36.0), (23.8, 50.0), (23.3, 58.0), (22.0, 60.0), (21.8, BODY_LENGTH_CM))
    hem = curve((21.8, BODY_LENGTH_CM), (11.0, BODY_LENGTH_CM + 0.5), (0, BODY_LENGTH_CM + 0.7))
    return both_sides(joined(neck, shoulder, armhole, side, hem))
