"""Tell the accepted formats by their first bytes."""

from __future__ import annotations

SIGNATURE_LENGTH = 12
"""So many first bytes are needed to tell."""

JPEG_START = b"\xff\xd8\xff"
PNG_START = b"\x89PNG\r\n\x1a\n"
RIFF_START, WEBP_FORM = b"RIFF", b"WEBP"


def has_image_signature(start: bytes) -> bool:
    """Say whether the bytes begin like a JPEG, PNG or WebP. Whether they are one is for `inspect_image` to say."""
    is_webp = start[:4] == RIFF_START and start[8:12] == WEBP_FORM
    return start.startswith((JPEG_START, PNG_START)) or is_webp
