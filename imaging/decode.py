"""Untrusted bytes to an upright sRGB array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imaging.colour import flatten, to_srgb
from imaging.limits import LOGO_LIMITS, PHOTO_LIMITS, ImageLimits
from imaging.opening import JPEG_FORMATS, open_picture, stored_orientation, turn_upright, unreadable_on_failure

REDUCING_GAP = 2.0
"""Averaging whole blocks down to twice the wanted size before the fine filter: no visible loss, far quicker."""


def decode_image(data: bytes, limits: ImageLimits = PHOTO_LIMITS, max_side: int | None = None) -> NDArray[np.uint8]:
    """Decode a picture to what the engines work with.

    The pixels are upright (EXIF orientation applied), in sRGB (CMYK, palettes, 16 bits, grey and colour profiles
    converted) and opaque (transparent parts laid on white). No metadata goes with them.

    Args:
        data: A JPEG, PNG or WebP.
        limits: What it has to meet, before any shrinking.
        max_side: Shrink so that the longer side has at most this many pixels; never enlarges.

    Returns:
        ``(height, width, 3)`` uint8, writable and owned by the caller.

    Raises:
        ImageError: Any of the ``image_…`` codes.
    """
    image = open_picture(data, limits)
    with unreadable_on_failure():
        wanted = _size_within(image.size, max_side)
        if image.format in JPEG_FORMATS and wanted != image.size:
            image.draft(None, (int(wanted[0] * REDUCING_GAP), int(wanted[1] * REDUCING_GAP)))
        image.load()
        orientation, profile = stored_orientation(image), image.info.get("icc_profile")
        upright = turn_upright(_shrink(flatten(image), wanted), orientation)
        return np.array(to_srgb(upright, profile))


def decode_logo(data: bytes, limits: ImageLimits = LOGO_LIMITS, max_side: int | None = 1024) -> NDArray[np.uint8]:
    """Decode a logo and keep its transparency.

    Args:
        data: A PNG, WebP or JPEG.
        limits: What it has to meet, before any shrinking.
        max_side: Shrink so that the longer side has at most this many pixels; never enlarges.

    Returns:
        ``(height, width, 4)`` uint8, sRGB with straight alpha; opaque where the file knows no transparency.

    Raises:
        ImageError: Any of the ``image_…`` codes.
    """
    image = open_picture(data, limits)
    with unreadable_on_failure():
        image.load()
        orientation, profile = stored_orientation(image), image.info.get("icc_profile")
        if not image.has_transparency_data:
            opaque = to_srgb(flatten(image), profile)
            layered = opaque.convert("RGBA")
        else:
            layered = image.convert("RGBA")
            colours = to_srgb(layered.convert("RGB"), profile)
            colours.putalpha(layered.getchannel("A"))
            layered = colours
        return np.array(turn_upright(_shrink(layered, _size_within(image.size, max_side)), orientation))


def _size_within(size: tuple[int, int], max_side: int | None) -> tuple[int, int]:
    """The size that keeps the shape and whose longer side is at most ``max_side``."""
    longer = max(size)
    if max_side is None or longer <= max_side:
        return size
    width, height = size
    return max(1, round(width * max_side / longer)), max(1, round(height * max_side / longer))


def _shrink(image: Image.Image, wanted: tuple[int, int]) -> Image.Image:
    if image.size == wanted:
        return image
    return image.resize(wanted, Image.Resampling.LANCZOS, reducing_gap=REDUCING_GAP)
