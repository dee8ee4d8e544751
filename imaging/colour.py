"""Any mode and colour profile that the accepted formats can carry, to 8-bit sRGB."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageCms

from imaging.opening import DECODER_FAILURES

MAX_PROFILE_BYTES = 4 * 1024 * 1024
"""Press profiles reach 3 MB; beyond this it is no profile."""

PROFILE_MODES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK"}
"""The mode in which pixels have to be for a profile of that colour space."""

SIXTEEN_BIT_GREY = frozenset({"I;16", "I;16B", "I;16L", "I;16N", "I"})

WHITE = (255, 255, 255)

SRGB = ImageCms.createProfile("sRGB")


def flatten(image: Image.Image) -> Image.Image:
    """Bring any mode down to ``RGB``, ``L`` or ``CMYK``, transparent parts laid on white."""
    if image.mode in SIXTEEN_BIT_GREY:
        return Image.fromarray((np.asarray(image).clip(0, 65535) >> 8).astype(np.uint8))
    if image.has_transparency_data:
        layered = image.convert("RGBA")
        canvas = Image.new("RGB", image.size, WHITE)
        canvas.paste(layered, mask=layered.getchannel("A"))
        return canvas
    return image if image.mode in {"RGB", "L", "CMYK"} else image.convert("RGB")


def to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert colours to sRGB.

    A profile that is damaged, or that describes another colour space than the pixels are in, is passed over: such
    a picture is shown by every viewer as if it had none.

    Args:
        image: ``RGB``, ``L`` or ``CMYK``.
        profile: The ICC profile the picture came with.

    Returns:
        An ``RGB`` image.
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
