"""Whether a cut-out holds more than the garment: somebody who wears it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.cloth import Cloth
from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask, window_of

SKIN_HUE = (28.0, 78.0)
"""Hue of human skin of any tone, degrees in the a-b plane of CIE Lab."""

SKIN_CHROMA = (9.0, 42.0)
SKIN_LIGHTNESS = (18.0, 92.0)
"""Its colourfulness and lightness in the same space."""

HEAD_ROWS, CHEST_ROWS = (0.02, 0.20), (0.38, 0.60)
"""Shares of the cut-out's height in which a wearer's face or neck, and the garment itself, would be."""

HIP_ROWS, SHIN_ROWS = (0.15, 0.40), (0.80, 0.90)
"""The same for a garment for the lower body, and for the legs that hang out of it."""

MOST_BESIDE, MOST_ON_GARMENT = 0.42, 0.35
"""Shares of skin colour: more beside the garment and less on it, and somebody is in the picture."""

CENTRAL, LEAST_ROWS = 0.22, 20
"""Half width of the middle of the cut-out, as a share of its width, and the least height that can be judged, pixels."""


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
    return _share_of_skin(cloth, HEAD_ROWS) > MOST_BESIDE and _share_of_skin(cloth, CHEST_ROWS) < MOST_ON_GARMENT


def shows_legs(cloth: Cloth) -> bool:
    """Whether bare legs hang out of a garment for the lower body, or face and neck are above it."""
    shins, hips = _share_of_skin(cloth, SHIN_ROWS, 0.5), _share_of_skin(cloth, HIP_ROWS, 0.5)
    bare_legs = shins > MOST_BESIDE and hips < MOST_ON_GARMENT
    return bare_legs or is_worn(cloth)


def _share_of_skin(cloth: Cloth, window: tuple[float, float], reach: float = CENTRAL) -> float:
    """Share of skin colour in some of the cut-out's rows, to both sides of its middle."""
    mask = cloth.alpha > 0.5
    rows, columns = window_of(mask)
    if mask.any(axis=1).sum() < LEAST_ROWS:
        return 0.0
    middle, reach = (columns.start + columns.stop - 1) / 2, reach * (columns.stop - 1 - columns.start)
    first, last = (int(rows.start + part * (rows.stop - 1 - rows.start)) for part in window)
    central = (slice(first, last), slice(int(middle - reach), int(middle + reach) + 1))
    skin = skin_coloured(Cloth(cloth.colour[central], cloth.alpha[central]))
    return float(skin.sum() / max(int(mask[central].sum()), 1))


def _between(values: NDArray[np.float32], bounds: tuple[float, float]) -> BoolMask:
    return np.asarray((values > bounds[0]) & (values < bounds[1]))
