"""Logos as files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imaging.errors import ImageError, ImageErrorCode
from imaging.remote import RemoteImageFetcher
from tests.pictures import encoded

LOGO_URL = "https://shop.example/logo.png"
ORANGE = (250, 120, 10)


def disc(side: int = 200, border: int = 0, colour: tuple[int, int, int] = ORANGE) -> NDArray[np.uint8]:
    """A disc on a transparent ground whose hidden colour is a glaring green, with a transparent border around."""
    y, x = np.ogrid[:side, :side]
    logo = np.full((side + 2 * border, side + 2 * border, 4), (0, 255, 0, 0), np.uint8)
    inside = (x - side / 2 + 0.5) ** 2 + (y - side / 2 + 0.5) ** 2 <= (side / 2) ** 2
    logo[border : border + side, border : border + side][inside] = (*colour, 255)
    return logo


def logo_file(logo: NDArray[np.uint8] | None = None, format: str = "PNG", **options: object) -> bytes:
    image = Image.fromarray(disc() if logo is None else logo)
    return encoded(image.convert("RGB") if format == "JPEG" else image, format, **options)


class OneLogo(RemoteImageFetcher):
    """A world with one address in it."""

    async def fetch(self, url: str, max_bytes: int | None = None) -> bytes:
        if url != LOGO_URL:
            raise ImageError(ImageErrorCode.URL_UNREACHABLE, "answered 404")
        return logo_file()
