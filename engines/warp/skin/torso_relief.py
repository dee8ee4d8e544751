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

COLLARBONE_RELIEF, PIT_RELIEF, BREASTBONE_RELIEF = 0.090, 0.070, 0.080
"""How much lighter the collarbones and darker the hollows beside them, the pit of the neck and the middle of the chest
are."""

NECK_MUSCLE, PECTORAL_SHADE, DELTOID_LIGHT = 0.060, 0.120, 0.060
"""How much lighter the muscles that run down the neck to its pit are, how dark the furrow between chest and shoulder
is, and how light the round of the shoulder beside it."""

NAVEL, ABOVE_WAISTBAND = 0.725, (0.01, 0.05)
"""Height of the navel in torso lengths, and how far above the middle of a waistband it has to lie to be seen, and to be
seen whole."""

NAVEL_WIDTH, NAVEL_HEIGHT = 0.020, 0.028
"""Half the width and the height of the navel, in shoulder widths."""

NAVEL_SHADE, NAVEL_RIM, NAVEL_HOLLOW = 0.30, 0.10, 0.06
"""How dark the navel is below its upper rim, how light both rims are, and how dark the shallow hollow around it is."""

BELLY_RELIEF, RIM_RELIEF, GROIN_RELIEF = 0.075, 0.085, 0.085
"""How much darker than its sides the line above the navel is, how dark the furrows beside the belly's muscles are, and
those that run from the hip bones inwards and down."""

RIB_SHADE = 0.060
"""How dark the belly is below the arch of the ribs."""

FROM_ABOVE = 0.090
"""How much lighter the shoulders and darker the belly are than the chest between them."""

CHEST, SEEN_CHEST = (Label.NECK, Label.TORSO_SKIN), 0.14
"""Labels among which the collarbones are, and their area in squared shoulder widths from which they are seen."""

PIT, BONE_SLOPE = -0.105, 0.14
"""Height of the collarbones' inner ends in shoulder widths below the middle between the shoulder joints, and by how
much they rise for one width outwards."""

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
    on = (along > -0.45) & (along < 1.6) & (np.abs(body.laterals) < ASIDE)
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
    along = along - np.float32(PIT)
    below = along + BONE_SLOPE * np.clip(aside - 0.05, 0.0, 0.4)
    reach = ease((aside - 0.03) / 0.05) * ease((0.38 - aside) / 0.26)
    bone = np.exp(-((below / 0.020) ** 2)) - 0.9 * np.exp(-(((below - 0.045) / 0.026) ** 2))
    bone = bone - 0.8 * np.exp(-(((below + 0.045) / 0.032) ** 2)) * ease((0.26 - aside) / 0.14)
    pit = np.exp(-((aside / 0.040) ** 2) - ((along + 0.020) / 0.036) ** 2)
    beside = aside - (0.035 + 0.40 * np.clip(-0.04 - along, 0.0, 0.4))
    muscle = np.exp(-((beside / 0.028) ** 2)) - 0.8 * np.exp(-(((beside - 0.055) / 0.035) ** 2))
    muscle = muscle * ease((along + 0.33) / 0.12) * ease((-0.02 - along) / 0.05)
    return np.asarray(COLLARBONE_RELIEF * bone * reach - PIT_RELIEF * pit + NECK_MUSCLE * muscle, np.float32)


def _chest_muscles(along: NDArray[np.float32], aside: NDArray[np.float32]) -> NDArray[np.float32]:
    """Light and shade of breastbone, chest muscles and the round of the shoulders, by place in shoulder widths."""
    middle = np.exp(-((aside / 0.045) ** 2)) * ease((along - 0.02) / 0.10) * ease((0.75 - along) / 0.30)
    # The furrow runs from the collarbone's end outwards and down into the armpit.
    beside = aside - 0.42 + 0.10 * along
    length = ease((along - 0.08) / 0.22) * ease((0.62 - along) / 0.2)
    furrow = np.exp(-((beside / 0.045) ** 2)) * length
    shoulder = np.exp(-(((beside - 0.11) / 0.06) ** 2)) * ease((along + 0.10) / 0.2) * ease((0.50 - along) / 0.3)
    return np.asarray(DELTOID_LIGHT * shoulder - BREASTBONE_RELIEF * middle - PECTORAL_SHADE * furrow, dtype=np.float32)


def belly_relief(body: BodyModel) -> NDArray[np.float32]:
    """Factors around 1 for ribs, navel, muscles and groins, ``(height, width)``; none where the belly is seen."""
    relief = np.ones(body.shape, np.float32)
    on = (body.heights > 0.38) & (body.heights < 1.05) & (np.abs(body.laterals) < ASIDE)
    x, y = np.rint(body.point(NAVEL)).astype(int)
    framed = 0 <= x < body.shape[1] and 0 <= y < body.shape[0]
    if not on.any() or not framed or body.labels[y, x] == Label.TORSO_SKIN:
        return relief
    window = window_of(on)
    heights, laterals = body.heights[window], body.laterals[window]
    aside = np.abs(laterals)
    line = np.exp(-((laterals / 0.040) ** 2)) * ease((heights - 0.40) / 0.12) * ease((NAVEL + 0.03 - heights) / 0.06)
    sides = np.exp(-(((aside - 0.12) / 0.07) ** 2)) * ease((heights - 0.45) / 0.15)
    # The straight muscles end in a soft furrow that comes in towards the hips.
    edge = 0.255 - 0.10 * np.clip(heights - 0.60, 0.0, 0.4)
    furrow = np.exp(-(((aside - edge) / 0.045) ** 2)) * ease((heights - 0.42) / 0.15) * ease((0.96 - heights) / 0.12)
    groin = np.exp(-(((aside - 0.33 + 0.95 * (heights - 0.82)) / 0.035) ** 2)) * ease((heights - 0.80) / 0.08)
    # The arch runs from the breastbone's end outwards and down; what is below it lies deeper.
    arch = heights - (0.50 + 0.34 * np.minimum(aside, 0.34))
    ribs = ease((arch + 0.03) / 0.06) * ease((0.16 - arch) / 0.14) * ease((aside - 0.04) / 0.10)
    added = BELLY_RELIEF * (0.6 * sides - line) - RIM_RELIEF * furrow - GROIN_RELIEF * groin - RIB_SHADE * ribs
    waistband = float(body.waist.line(np.zeros(1, np.float32))[0])
    seen = float(ease((waistband - NAVEL - ABOVE_WAISTBAND[0]) / (ABOVE_WAISTBAND[1] - ABOVE_WAISTBAND[0])))
    along = (heights - NAVEL) * np.float32(body.torso_length / body.shoulder_width)
    added = added + seen * _navel(along, laterals)
    relief[window] += added * ease((1.05 - heights) / 0.06)
    return relief


def _navel(along: NDArray[np.float32], laterals: NDArray[np.float32]) -> NDArray[np.float32]:
    """Light and shade of a navel: its upper rim is a lid that shades the pit, the lower one catches the light."""
    down, across = along / NAVEL_HEIGHT, laterals / NAVEL_WIDTH
    pit = ease(1.1 * (1.3 - np.hypot(across, down))) * (0.62 - 0.38 * np.clip(1.2 * down, -1.0, 1.0))
    lower = np.exp(-((across / 1.1) ** 2) - ((down - 1.35) / 0.45) ** 2)
    upper = np.exp(-((across / 1.3) ** 2) - ((down + 1.55) / 0.50) ** 2)
    hollow = np.exp(-((across / 3.0) ** 2) - ((down + 0.3) / 2.6) ** 2)
    return np.asarray(NAVEL_RIM * (lower + 0.5 * upper) - NAVEL_SHADE * pit - NAVEL_HOLLOW * hollow, np.float32)
