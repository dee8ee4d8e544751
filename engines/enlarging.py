"""Enlarges a drawn picture to the size of its photo, and blends it into the photo."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.regions import window_of

SHARPENED_DETAIL, SHARPENING = 0.6, 0.7
"""Size, in pixels before enlarging, and strength of the detail that is sharpened afterwards."""

BAND_ROWS = 256
"""Rows blended at a time: a whole camera photo in floats would take more memory than the rest of a render."""


def enlarged_sharply(picture: Picture, width: int, height: int) -> Picture:
    """Resize a picture, and restore the contrast of fine detail that enlarging takes away.

    Args:
        picture: ``(h, w, 3)``.
        width: Wanted columns; where they are fewer, pixels are averaged and nothing is sharpened.
        height: Wanted rows.
    """
    if picture.shape[1] >= width:
        return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    enlarged = cv2.resize(picture, (width, height), interpolation=cv2.INTER_LANCZOS4)
    blurred = cv2.GaussianBlur(enlarged, (0, 0), SHARPENED_DETAIL * width / picture.shape[1])
    return np.asarray(cv2.addWeighted(enlarged, 1 + SHARPENING, blurred, -SHARPENING, 0, dst=blurred), dtype=np.uint8)


def laid_over(photo: Picture, picture: Picture, share: NDArray[np.float32]) -> Picture:
    """Blend the picture into the photo; where the share is 0, the photo's pixels stay bit-identical.

    Args:
        photo: ``(H, W, 3)``.
        picture: The same size.
        share: ``(h, w)``, 0 to 1, at any size; enlarged smoothly.
    """
    cover = np.asarray(cv2.resize(share, (photo.shape[1], photo.shape[0]), interpolation=cv2.INTER_LINEAR), np.float32)
    result = photo.copy()
    rows, columns = window_of(cover > 0)
    for first in range(rows.start, rows.stop, BAND_ROWS):
        band = (slice(first, min(first + BAND_ROWS, rows.stop)), columns)
        part, own = cover[band][..., None], photo[band]
        blended = np.rint(own + (picture[band].astype(np.float32) - own) * part).clip(0, 255).astype(np.uint8)
        result[band] = np.where(part > 0, blended, own)
    return result
