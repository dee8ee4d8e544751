"""Untrusted bytes to an upright 8-bit sRGB array, whatever mode and colour profile the accepted formats can carry."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from imaging.limits import LOGO_LIMITS, PHOTO_LIMITS, ImageLimits
from imaging.opening import (
    DECODER_FAILURES,
    JPEG_FORMATS,
    open_picture,
    stored_orientation,
    turn_upright,
    unreadable_on_failure,
)

MAX_PROFILE_BYTES = 4 * 1024 * 1024
"""Press profiles reach 3 MB; beyond this it is no profile."""

PROFILE_MODES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK"}
"""The mode in which pixels have to be for a profile of that colour space."""

SIXTEEN_BIT_GREY = frozenset({"I;16", "I;16B", "I;16L", "I;16N", "I"})

WHITE = (255, 255, 255)

SRGB = ImageCms.createProfile("sRGB")

REDUCING_GAP = 2.0
"""Averaging whole blocks down to twice the wanted size before the fine filter: no visible loss, far quicker."""


def decode_image(data: bytes, limits: ImageLimits = PHOTO_LIMITS, max_side: int | None = None) -> NDArray[np.uint8]:
    """Decode a picture for the engines.

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
        upright = turn_upright(_shrink(_flatten(image), wanted), orientation)
        return np.array(_to_srgb(upright, profile))


def decode_logo(data: bytes, limits: ImageLimits = LOGO_LIMITS, max_side: int | None = 1024) -> NDArray[np.uint8]:
    """Decode a logo as `decode_image` does, but keep its transparency.

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
            opaque = _to_srgb(_flatten(image), profile)
            layered = opaque.convert("RGBA")
        else:
            layered = image.convert("RGBA")
            colours = _to_srgb(layered.convert("RGB"), profile)
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


def _flatten(image: Image.Image) -> Image.Image:
    """Bring any mode down to ``RGB``, ``L`` or ``CMYK``, transparent parts laid on white."""
    if image.mode in SIXTEEN_BIT_GREY:
        return Image.fromarray((np.asarray(image).clip(0, 65535) >> 8).astype(np.uint8))
    if image.has_transparency_data:
        layered = image.convert("RGBA")
        canvas = Image.new("RGB", image.size, WHITE)
        canvas.paste(layered, mask=layered.getchannel("A"))
        return canvas
    return image if image.mode in {"RGB", "L", "CMYK"} else image.convert("RGB")


def _to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert colours to sRGB.

    A profile that is damaged, or that describes another colour space than the pixels are in, is passed over: such
    a picture is shown by every viewer as if it had none.

    Args:
        image: ``RGB``, ``L`` or ``CMYK``; the result is ``RGB``.
        profile: The ICC profile the picture came with.
    """
    if profile and len(profile) <= MAX_PROFILE_BYTES:
        try:
            return _through_profile(image, profile)
        except (ImageCms.PyCMSError, *DECODER_FAILURES):
            pass
    return image.convert("RGB")


def _through_profile(image: Image.Image, profile: bytes) -> Image.Image:
    source = ImageCms.getOpenProfile(io.BytesIO(profile))
    mode = PROFILE_MODES[source.profile.xcolor_space]
    if image.mode == "L" and mode == "RGB":
        image = image.convert("RGB")
    if image.mode != mode:
        raise ValueError(f"a profile for {mode} on pixels in {image.mode}")
    if mode == "RGB" and (source.profile.profile_description or "").startswith("sRGB"):
        return image
    converted = ImageCms.profileToProfile(
        image, source, SRGB, renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB"
    )
    if converted is None:  # only for in-place conversion, which is not asked for
        raise ValueError("no picture came back")
    return converted
