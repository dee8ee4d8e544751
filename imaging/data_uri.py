"""Data URIs (RFC 2397) that carry a picture in base64."""

from __future__ import annotations

import re

import pybase64

from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import PHOTO_LIMITS, ImageLimits

ACCEPTED_HEADER = re.compile(r"data:image/(?:jpeg|jpg|png|webp);base64,", re.IGNORECASE | re.ASCII)
JPEG_HEADER = b"data:image/jpeg;base64,"
LONGEST_HEADER = len(JPEG_HEADER)


def is_data_uri(text: str) -> bool:
    """Say whether the text claims to be a data URI, well-formed or not."""
    return text[:5].lower() == "data:"


def decode_data_uri(text: str | memoryview, limits: ImageLimits = PHOTO_LIMITS) -> bytes:
    """Take the bytes out of a data URI.

    The media type has to be one that is accepted, but it is not believed: what the bytes are is for
    `imaging.opening` to say. The size follows from the length of the text, so an oversized picture is refused
    before anything is decoded.

    Args:
        text: ``data:image/<jpeg|jpg|png|webp>;base64,<DATA>``, the part before the comma in any case. As text, or
            as the bytes of such a text.
        limits: Only ``max_bytes`` matters here.

    Returns:
        The decoded bytes, at most ``limits.max_bytes`` of them. Possibly none.

    Raises:
        ImageError: ``malformed_data_uri`` or ``image_too_large``.
    """
    beginning = text[:LONGEST_HEADER] if isinstance(text, str) else bytes(text[:LONGEST_HEADER]).decode("latin-1")
    header = ACCEPTED_HEADER.match(beginning)
    if header is None:
        raise ImageError(
            ImageErrorCode.MALFORMED_DATA_URI,
            "expected data:image/jpeg;base64,… (or png, webp) with nothing before it",
        )
    encoded = text[header.end() :]
    if len(encoded) % 4:
        raise ImageError(ImageErrorCode.MALFORMED_DATA_URI, "base64 cut short: its length is no multiple of 4")
    last_two = encoded[-2:] if isinstance(encoded, str) else bytes(encoded[-2:]).decode("latin-1")
    padding = len(last_two) - len(last_two.rstrip("="))
    size = len(encoded) // 4 * 3 - padding
    if size > limits.max_bytes:
        raise ImageError(
            ImageErrorCode.TOO_LARGE, f"the picture has {size} bytes after decoding, {limits.max_bytes} are allowed"
        )
    try:
        return pybase64.b64decode(encoded, validate=True)
    except ValueError as error:
        raise ImageError(
            ImageErrorCode.MALFORMED_DATA_URI, "the text after the comma is not standard base64 (RFC 4648, section 4)"
        ) from error


def encode_data_uri_bytes(jpeg: bytes) -> bytes:
    """Wrap the bytes of a JPEG as ``data:image/jpeg;base64,<DATA>``, for bodies that are put together from bytes."""
    return JPEG_HEADER + pybase64.b64encode(jpeg)
