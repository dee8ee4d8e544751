"""Cloth told from the shadow it throws: a shadow ends softly, cloth ends at once.

The strongest edge near a garment's outline may be that of its print, and the faint end of a wide shadow may lie farther
from the cloth than an edge is looked for. Walking inwards from the ground settles both: shadow goes on as long as
nothing changes quickly.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.ground import Ground
from engines.garment.regions import BoolMask, dilated, opened, reaching_border

QUICK = 14.0
"""Change of colour (Sobel of CIE Lab, all channels) at which cloth begins."""

SHADOW_DEPTH, SHADOW_CHROMA = 0.5, 4.0
"""A shadow has at least this share of the ground's lightness; its a and b differ by no more than the second."""

SHADOW_SHARE = 0.5
"""A region with more shadow-coloured pixels than this share is shadow."""

THINNEST_PRINT = 3
"""Half the width in canvas pixels of print that is given back; what is thinner is the dark line under an edge."""

THINNEST_SHADOW = 10
"""Half the width of ground and shadow together: a narrower way inwards is a pale stripe of the cloth."""

MOST_SHADOW = 0.06
"""Share of a garment that may be taken off as shadow; beyond it the cloth is as pale as its ground."""


def outline_settled(
    lab: NDArray[np.float32], ground: Ground, flooded: BoolMask, snapped: BoolMask, quickness: NDArray[np.float32]
) -> BoolMask:
    """The garment's mask with print given back and shadow taken off.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of the canvas.
        ground: The surface fitted to its border.
        flooded: ``(h, w)``, all that differs from the ground: cloth and shadow.
        snapped: ``(h, w)``, up to the strongest edge near the outline of ``flooded``.
        quickness: ``(h, w)`` change of colour at each pixel.
    """
    shadowed = _shadow_coloured(lab, ground)
    soft = quickness < QUICK
    outside = reaching_border(~flooded | (soft & shadowed))
    print_lost = _mostly_not(shadowed, opened(flooded & ~outside & ~snapped, THINNEST_PRINT))
    whole = snapped | (dilated(print_lost, THINNEST_PRINT) & flooded & ~outside)
    shadow = opened(outside, THINNEST_SHADOW) & whole
    return whole & ~shadow if shadow.sum() < MOST_SHADOW * whole.sum() else whole


def _shadow_coloured(lab: NDArray[np.float32], ground: Ground) -> BoolMask:
    lightness, ground_lightness = lab[..., 0], ground.colour[..., 0]
    shadowed = (lightness > SHADOW_DEPTH * ground_lightness) & (lightness < ground_lightness)
    for channel in (1, 2):
        shadowed &= np.abs(lab[..., channel] - ground.colour[..., channel]) < SHADOW_CHROMA
    return np.asarray(shadowed)


def _mostly_not(colour: BoolMask, mask: BoolMask) -> BoolMask:
    """The connected regions of a mask in which a colour is rare."""
    count, labels = cv2.connectedComponents(mask.astype(np.uint8))
    area = np.maximum(np.bincount(labels.ravel(), minlength=count), 1)
    share = np.bincount(labels[colour & mask], minlength=count) / area
    kept = share < SHADOW_SHARE
    kept[0] = False
    return np.asarray(kept[labels])
