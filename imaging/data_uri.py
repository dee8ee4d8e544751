"""Data URIs (RFC 2397) that carry a picture in base64."""

from __future__ import annotations

import re

import pybase64

from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import PHOTO_LIMITS, ImageLimits

ACCEPTED_HEADER = re.compile(rb"data:image/(?:jpeg|jpg|png|webp);base64,", re.IGNORECASE)
JPEG_HEADER = b"data:image/jpeg;base64,"


def is_data_uri(text: str) -> bool:
    """Whether the text begins like a data URI, well-formed or not."""
    return text[:5].lower() == "data:"


def decode_data_uri(text: str | memoryview, limits: ImageLimits = PHOTO_LIMITS) -> bytes:
    """Take the bytes out of a data URI.

    The media type must be an accepted one, but is not trusted: `imaging.opening` judges the bytes. The size follows
    from the length of the text, so an oversized picture is refused before anything is decoded.

    Args:
        text: ``data:image/<jpeg|jpg|png|webp>;base64,<DATA>``, the part before the comma in any case. As text, or
            as the bytes of such a text.
        limits: Only ``max_bytes`` matters here.

    Returns:
        The decoded bytes, at most ``limits.max_bytes`` of them. Possibly none.

    Raises:
        ImageError: ``malformed_data_uri`` or ``image_too_large``.
    """
    data = memoryview(text.encode(errors="replace")) if isinstance(text, str) else text
    header = ACCEPTED_HEADER.match(bytes(data[: len(JPEG_HEADER)]))
    if header is None:
        raise ImageError(
            ImageErrorCode.MALFORMED_DATA_URI,
            "expected data:image/jpeg;base64,… (or png, webp) with nothing before it",
        )
    encoded = data[header.end() :]
    if len(encoded) % 4:
        raise ImageError(ImageErrorCode.MALFORMED_DATA_URI, "base64 cut short: its length is no multiple of 4")
    size = len(encoded) // 4 * 3 - bytes(encoded[-2:]).count(b"=")
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
