"""The form of a bare torso: collarbones, breastbone, chest muscles, navel and the furrows of the belly."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import window_of
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease

COLLARBONE_RELIEF, PIT_RELIEF, BREASTBONE_RELIEF = 0.085, 0.100, 0.050
"""How much lighter the collarbones and darker the hollows beside them, the pit of the neck and the middle of the chest
are."""

NECK_MUSCLE, PECTORAL_SHADE, DELTOID_LIGHT = 0.050, 0.080, 0.040
"""How much lighter the muscles that run down the neck to its pit are, how dark the furrow between chest and shoulder
is, and how light the round of the shoulder beside it."""

NAVEL, NAVEL_RELIEF = 0.76, 0.34
"""Height of the navel in torso lengths, and how dark it is."""

BELLY_RELIEF, RIM_RELIEF, GROIN_RELIEF = 0.045, 0.055, 0.070
"""How much darker than its sides the line above the navel is, how dark the furrows beside the belly's muscles are, and
those that run from the hip bones inwards and down."""

FROM_ABOVE = 0.060
"""How much lighter the shoulders and darker the belly are than the chest between them."""

CHEST, SEEN_CHEST = (Label.NECK, Label.TORSO_SKIN), 0.14
"""Labels among which the collarbones are, and their area in squared shoulder widths from which they are seen."""

ASIDE = 0.75
"""How far beside the axis a torso has a form, in shoulder widths."""

BESIDE_SEEN = 0.07
"""Over what distance from a chest that is seen its form comes into being, in shoulder widths."""


def chest_relief(body: BodyModel) -> NDArray[np.float32]:
    """Factors around 1 for the form of neck and chest, ``(height, width)``; light falls on them from above.

    Where the photo shows the chest it shows its form too, and no collarbones are invented beside it.
    """
    relief = np.ones(body.shape, np.float32)
    along = body.heights * np.float32(body.torso_length / body.shoulder_width)
    on = (along > -0.25) & (along < 1.6) & (np.abs(body.laterals) < ASIDE)
    if not on.any():
        return relief
    window = window_of(on)
    along, aside = along[window], np.abs(body.laterals[window])
    from_above = (
        FROM_ABOVE * (1.0 - 2.0 * ease((along - 0.02) / 0.9)) * ease((along + 0.2) / 0.2) * ease((1.6 - along) / 0.4)
    )
    form = from_above + _chest_muscles(along, aside)
    seen = labelled_as(body.labels, CHEST)
    if seen.sum() > SEEN_CHEST * body.shoulder_width**2:
        sigma = max(BESIDE_SEEN * body.shoulder_width / 4, 0.6)
        size = (max(4, along.shape[1] // 4), max(4, along.shape[0] // 4))
        small = cv2.resize(seen[window].astype(np.float32), size, interpolation=cv2.INTER_AREA)
        near = cv2.GaussianBlur(small, (0, 0), sigma)
        form = form * (1.0 - ease(2.5 * cv2.resize(near, (along.shape[1], along.shape[0]))))
    else:
        form = form + _collarbones(along, aside)
    # Beside the torso it dies out.
    relief[window] += form * ease((ASIDE - aside) / 0.1)
    return relief


def _collarbones(along: NDArray[np.float32], aside: NDArray[np.float32]) -> NDArray[np.float32]:
    """Light and shade of collarbones, the pit between them and the muscles of the neck, by place in shoulder widths."""
    # The collarbones rise from the pit of the neck to the shoulders, and are hidden in flesh further out.
    below = along - (0.090 - 0.26 * np.clip(aside - 0.05, 0.0, 0.4))
    reach = ease((aside - 0.03) / 0.05) * ease((0.38 - aside) / 0.26)
    bone = np.exp(-((below / 0.020) ** 2)) - 0.9 * np.exp(-(((below - 0.045) / 0.026) ** 2))
    bone = bone - 0.8 * np.exp(-(((below + 0.045) / 0.032) ** 2)) * ease((0.26 - aside) / 0.14)
    pit = np.exp(-((aside / 0.040) ** 2) - ((along - 0.070) / 0.036) ** 2)
    beside = aside - (0.035 + 0.40 * np.clip(0.05 - along, 0.0, 0.4))
    muscle = np.exp(-((beside / 0.028) ** 2)) - 0.8 * np.exp(-(((beside - 0.055) / 0.035) ** 2))
    muscle = muscle * ease((along + 0.24) / 0.12) * ease((0.07 - along) / 0.05)
    return np.asarray(COLLARBONE_RELIEF * bone * reach - PIT_RELIEF * pit + NECK_MUSCLE * muscle, np.float32)


def _chest_muscles(along: NDArray[np.float32], aside: NDArray[np.float32]) -> NDArray[np.float32]:
    """Light and shade of breastbone, chest muscles and the round of the shoulders, by place in shoulder widths."""
    middle = np.exp(-((aside / 0.045) ** 2)) * ease((along - 0.14) / 0.10) * ease((0.75 - along) / 0.30)
    # The furrow runs from the collarbone's end outwards and down into the armpit.
    beside = aside - 0.42 + 0.10 * along
    length = ease((along - 0.08) / 0.22) * ease((0.62 - along) / 0.2)
    furrow = np.exp(-((beside / 0.045) ** 2)) * length
    shoulder = np.exp(-(((beside - 0.11) / 0.06) ** 2)) * ease((along + 0.10) / 0.2) * ease((0.50 - along) / 0.3)
    return np.asarray(DELTOID_LIGHT * shoulder - BREASTBONE_RELIEF * middle - PECTORAL_SHADE * furrow, dtype=np.float32)


def belly_relief(body: BodyModel) -> NDArray[np.float32]:
    """Factors around 1 for navel, muscles and groins, ``(height, width)``; none where the belly is seen."""
    relief = np.ones(body.shape, np.float32)
    on = (body.heights > 0.38) & (body.heights < 1.05) & (np.abs(body.laterals) < ASIDE)
    x, y = np.rint(body.point(NAVEL)).astype(int)
    framed = 0 <= x < body.shape[1] and 0 <= y < body.shape[0]
    if not on.any() or not framed or body.labels[y, x] == Label.TORSO_SKIN:
        return relief
    window = window_of(on)
    heights, laterals = body.heights[window], body.laterals[window]
    aside = np.abs(laterals)
    along = (heights - NAVEL) / 0.016
    navel = np.exp(-((laterals / 0.016) ** 2) - along**2)
    rim = np.exp(-((laterals / 0.024) ** 2) - (along - 1.5) ** 2)
    line = np.exp(-((laterals / 0.035) ** 2)) * ease((heights - 0.40) / 0.12) * ease((NAVEL - heights) / 0.05)
    sides = np.exp(-(((aside - 0.12) / 0.07) ** 2)) * ease((heights - 0.45) / 0.15)
    # The straight muscles end in a soft furrow that comes in towards the hips.
    edge = 0.255 - 0.10 * np.clip(heights - 0.60, 0.0, 0.4)
    furrow = np.exp(-(((aside - edge) / 0.040) ** 2)) * ease((heights - 0.42) / 0.15) * ease((0.96 - heights) / 0.12)
    groin = np.exp(-(((aside - 0.33 + 0.95 * (heights - 0.82)) / 0.035) ** 2)) * ease((heights - 0.80) / 0.08)
    added = NAVEL_RELIEF * (0.35 * rim - navel) * ease((0.92 - heights) / 0.06)
    added = added + BELLY_RELIEF * (sides - line) - RIM_RELIEF * furrow - GROIN_RELIEF * groin
    relief[window] += added * ease((1.05 - heights) / 0.06)
    return relief
