"""Open untrusted bytes as a Pillow image and judge it by its header, before any pixel is decoded.

Only the parsers of the three accepted formats are ever started, told by their first bytes; the weaknesses found in
image libraries over the years sit in the many others. The header also says which way up a photo was taken (EXIF tag
274).
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PIL import ExifTags, Image

from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import PHOTO_LIMITS, ImageLimits
from imaging.work import refuse_costly, refuse_many_pixels

SIGNATURE_LENGTH = 12
"""So many first bytes are needed to tell."""

JPEG_START = b"\xff\xd8\xff"

PNG_START = b"\x89PNG\r\n\x1a\n"

RIFF_START, WEBP_FORM = b"RIFF", b"WEBP"


def has_image_signature(start: bytes) -> bool:
    """Say whether the bytes begin like a JPEG, PNG or WebP. Whether they are one is for `inspect_image` to say."""
    is_webp = start[:4] == RIFF_START and start[8:12] == WEBP_FORM
    return start.startswith((JPEG_START, PNG_START)) or is_webp


TURNS: dict[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""How to turn the stored picture upright, by the tag's value. 1 means upright already."""

SIDES_SWAPPED = frozenset({5, 6, 7, 8})
"""Values for which width and height trade places."""


def stored_orientation(image: Image.Image) -> int:
    """Read the tag; a missing, unknown or unreadable one counts as upright.

    Returns:
        1 to 8.
    """
    try:
        value = image.getexif().get(ExifTags.Base.Orientation, 1)
    except DECODER_FAILURES:
        return 1
    return value if value in TURNS else 1


def turn_upright(image: Image.Image, orientation: int) -> Image.Image:
    """Turn the pixels so that the picture is seen as it was taken."""
    turn = TURNS.get(orientation)
    return image if turn is None else image.transpose(turn)


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


CONTENT_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}

DRAFT_DIVISOR = 8
"""A JPEG decoded at an eighth of its size still has its whole stream read, but few pixels made from it."""


@dataclass(frozen=True)
class ImageFacts:
    """What a picture is, judged by its content.

    Attributes:
        format: ``JPEG``, ``PNG`` or ``WEBP``.
        width: Pixels, the photo held upright.
        height: Pixels, the photo held upright.
        content_type: The media type that fits the content.
    """

    format: str
    width: int
    height: int
    content_type: str


def inspect_image(data: bytes, limits: ImageLimits = PHOTO_LIMITS) -> ImageFacts:
    """Prove that the bytes are one whole, still, usable picture.

    The header is judged first. Then the whole stream is decoded, as cheaply as its format allows, so that a
    truncated or damaged picture is known here and not by the worker that would have drawn with it.

    Args:
        data: The encoded picture. No label is asked for: the content decides.
        limits: What it has to meet.

    Raises:
        ImageError: Any of the ``image_…`` codes.
    """
    image = open_picture(data, limits)
    width, height = image.size
    with unreadable_on_failure():
        if image.format in JPEG_FORMATS:
            image.draft(None, (max(1, width // DRAFT_DIVISOR), max(1, height // DRAFT_DIVISOR)))
        image.load()
    if stored_orientation(image) in SIDES_SWAPPED:
        width, height = height, width
    name = "JPEG" if image.format in JPEG_FORMATS else str(image.format)
    return ImageFacts(format=name, width=width, height=height, content_type=CONTENT_TYPES[name])
