"""Whether a garment photo shows somebody wearing the garment: this engine can only lift garments off their ground."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask
from engines.warp.pieces import Cloth

SKIN_HUE = (28.0, 78.0)
"""Hue of human skin of any tone, degrees in the a-b plane of CIE Lab."""

SKIN_CHROMA = (9.0, 42.0)
SKIN_LIGHTNESS = (18.0, 92.0)
"""Its colourfulness and lightness in the same space."""

HEAD_ROWS, CHEST_ROWS = (0.02, 0.20), (0.38, 0.60)
"""Shares of the cut-out's height in which a wearer's face or neck, and the garment itself, would be."""

MOST_AT_HEAD, MOST_ON_CHEST = 0.42, 0.35
"""Shares of skin colour: more at the head and less on the chest, and somebody is in the picture."""


def skin_coloured(cloth: Cloth) -> BoolMask:
    """``(h, w)`` bool: pixels of the cloth that could be skin by their colour."""
    lab = to_lab(np.asarray(np.clip(cloth.colour * 255, 0, 255), dtype=np.uint8))
    hue = np.degrees(np.arctan2(lab[..., 2], lab[..., 1]))
    chroma = np.asarray(cv2.magnitude(lab[..., 1], lab[..., 2]), np.float32)
    return np.asarray(
        _between(hue, SKIN_HUE)
        & _between(chroma, SKIN_CHROMA)
        & _between(lab[..., 0], SKIN_LIGHTNESS)
        & (cloth.alpha > 0.5)
    )


def is_worn(cloth: Cloth) -> bool:
    """Whether face and neck of a wearer are part of the cut-out.

    Skin-coloured garments are not taken for people: they have that colour on the chest too.
    """
    mask = cloth.alpha > 0.5
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if len(rows) < 20:
        return False
    skin = skin_coloured(cloth)
    middle, reach = (columns[0] + columns[-1]) / 2, 0.22 * (columns[-1] - columns[0])
    central = slice(int(middle - reach), int(middle + reach) + 1)

    def share(window: tuple[float, float]) -> float:
        first, last = (int(rows[0] + part * (rows[-1] - rows[0])) for part in window)
        inside = mask[first:last, central]
        return float(skin[first:last, central].sum() / max(int(inside.sum()), 1))

    return share(HEAD_ROWS) > MOST_AT_HEAD and share(CHEST_ROWS) < MOST_ON_CHEST


def _between(values: NDArray[np.float32], bounds: tuple[float, float]) -> BoolMask:
    return np.asarray((values > bounds[0]) & (values < bounds[1]))
