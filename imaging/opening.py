"""Open untrusted bytes as a Pillow image and judge it by its header, before any pixel is decoded.

Only the parsers of the three accepted formats are ever started; the weaknesses found in image libraries over the
years sit in the many others.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image

from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.work import refuse_costly, refuse_many_pixels

PARSERS = ("JPEG", "PNG", "WEBP")
"""Pillow's parsers that may run. The one for JPEG answers "MPO" for a JPEG that carries further pictures."""

JPEG_FORMATS = frozenset({"JPEG", "MPO"})

JPEG_MAX_PIXELS_PER_BYTE = 1_000
"""A JPEG of one colour reaches about 170. Above this the header lies, and the decoder would fill in grey."""

MAX_PIXELS_PER_BYTE = 2_000
"""For PNG and WebP, where small blank pictures compress further than this; hence the next constant."""

FREE_PIXELS = 4_000_000
"""Below this `MAX_PIXELS_PER_BYTE` is not asked: so few pixels cost nothing to decode."""

DECODER_FAILURES = (
    OSError,
    ValueError,
    SyntaxError,
    struct.error,
    zlib.error,
    EOFError,
    MemoryError,
    OverflowError,
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    ZeroDivisionError,
    RuntimeError,
    Warning,
)
"""What Pillow's parsers are known to raise on damaged input, warnings turned into errors included."""


@contextmanager
def unreadable_on_failure() -> Iterator[None]:
    """Turn whatever Pillow raises inside the block into an `ImageError`.

    Raises:
        ImageError: ``image_not_readable``; or ``image_too_many_pixels`` when Pillow's own bomb guard refuses a
            header, which it does at more pixels than any limit here allows.
    """
    try:
        yield
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(ImageErrorCode.TOO_MANY_PIXELS, str(error)) from error
    except DECODER_FAILURES as error:
        raise ImageError(ImageErrorCode.NOT_READABLE, f"{type(error).__name__}: {error}") from error


def open_picture(data: bytes, limits: ImageLimits) -> Image.Image:
    """Open a picture and hold its header against the limits; no pixel is decoded.

    Args:
        data: The encoded picture.
        limits: What it has to meet.

    Returns:
        The image, not yet loaded, its ``format`` one of JPEG, MPO, PNG and WEBP.

    Raises:
        ImageError: Any of the ``image_…`` codes.
    """
    if len(data) > limits.max_bytes:
        raise ImageError(ImageErrorCode.TOO_LARGE, f"the picture has {len(data)} bytes, {limits.max_bytes} are allowed")
    refuse_costly(data, limits)
    with unreadable_on_failure():
        image = Image.open(io.BytesIO(data), formats=PARSERS)
        animated = image.format not in JPEG_FORMATS and getattr(image, "n_frames", 1) > 1
    refuse_many_pixels(image.width, image.height, limits)  # as the parser has it
    _refuse_false_header(image, data)
    _refuse_shape(image.width, image.height, limits)
    if animated:
        raise ImageError(ImageErrorCode.ANIMATED, f"an animated {image.format}; send a still picture")
    return image


def _refuse_false_header(image: Image.Image, data: bytes) -> None:
    """Refuse headers that promise more pixels than such a file can hold."""
    pixels = image.width * image.height
    is_jpeg = image.format in JPEG_FORMATS
    per_byte = JPEG_MAX_PIXELS_PER_BYTE if is_jpeg else MAX_PIXELS_PER_BYTE
    if pixels > len(data) * per_byte and (is_jpeg or pixels > FREE_PIXELS):
        raise ImageError(ImageErrorCode.NOT_READABLE, f"{len(data)} bytes claim to hold {pixels} pixels")


def _refuse_shape(width: int, height: int, limits: ImageLimits) -> None:
    shorter, longer = sorted((width, height))
    if shorter < limits.min_side:
        raise ImageError(
            ImageErrorCode.TOO_SMALL, f"{width} x {height}: the shorter side needs {limits.min_side} pixels"
        )
    if longer > limits.max_aspect * shorter:
        raise ImageError(ImageErrorCode.TOO_ELONGATED, f"{width} x {height} is longer than {limits.max_aspect:g} to 1")
