"""From a logo's pixels to the copy that is kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imaging.encode import encode_png
from imaging.errors import ImageError, ImageErrorCode

KEPT_SIDE = 1024
"""Longer side in pixels of the kept copy: sharp at 18 % of the width of pictures up to 5600 pixels wide."""

VISIBLE_ALPHA = 8
"""Opacity, 0 to 255, from which a pixel counts as part of the logo; fainter ones are left-overs of drawing tools."""


@dataclass(frozen=True)
class KeptLogo:
    """A logo as it is kept.

    Attributes:
        png: RGBA, sRGB, without metadata and without an invisible border.
        width: Pixels.
        height: Pixels.
    """

    png: bytes
    width: int
    height: int


def normalise_logo(logo: NDArray[np.uint8]) -> KeptLogo:
    """Cut off a logo's border where nothing can be seen, and encode it afresh.

    Without the cut, a logo in the middle of a large empty canvas would come out tiny and far from its corner.

    Args:
        logo: ``(height, width, 4)``, straight alpha, with `KEPT_SIDE` pixels at most.

    Raises:
        ImageError: ``image_not_readable`` for a logo that is wholly transparent.
    """
    logo = _visible_part(logo)
    return KeptLogo(encode_png(logo), width=logo.shape[1], height=logo.shape[0])


def _visible_part(logo: NDArray[np.uint8]) -> NDArray[np.uint8]:
    rows, columns = np.nonzero(logo[..., 3] >= VISIBLE_ALPHA)
    if rows.size == 0:
        raise ImageError(ImageErrorCode.NOT_READABLE, "a logo of which nothing can be seen")
    return logo[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
