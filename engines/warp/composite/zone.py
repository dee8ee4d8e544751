"""How far from the garments a picture may differ from its photo."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import on_channels
from engines.garment.regions import BoolMask, window_of
from engines.warp.body.silhouette import ease

FADE_FROM, FADE_UNTIL = 0.09, 0.13
"""Distance from the old and the new garment up to which shadows and fills are drawn, and from which on no pixel is
touched, in shoulder widths."""


def kept_outside(
    picture: NDArray[np.float32], photo: NDArray[np.float32], garments: BoolMask, labels: NDArray[np.uint8], unit: float
) -> NDArray[np.float32]:
    """The picture where garments are and were, and the photo, to the last bit, everywhere else.

    Args:
        picture: ``(h, w, 3)`` float32, 0 to 1, finished.
        photo: The same as it was.
        garments: ``(h, w)`` bool, the old and the new one.
        labels: ``(h, w)`` of `Label`; cuffs of trousers may be called shoes.
        unit: Shoulder width in pixels.
    """
    zone = garments
    if (labels[garments] == Label.LOWER).any():
        zone = garments | (labels == Label.FEET)
    if not zone.any():
        return photo
    window, kept = window_of(zone, round(FADE_UNTIL * unit) + 1), photo.copy()
    away = cv2.distanceTransform((~zone[window]).astype(np.uint8), cv2.DIST_L2, 5) / np.float32(unit)
    share = on_channels(ease(np.asarray((FADE_UNTIL - away) / (FADE_UNTIL - FADE_FROM), dtype=np.float32)))
    before = photo[window]
    kept[window] = np.where(share > 0, before + (picture[window] - before) * share, before)
    return kept
