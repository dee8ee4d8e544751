"""Small pictures as bytes and data: URIs."""

from __future__ import annotations

import base64
import io
import zlib
from typing import Any

import numpy as np
from PIL import Image


def photo(width: int = 320, height: int = 400, seed: int = 0) -> Image.Image:
    """A picture with some structure, so that it does not compress to nothing."""
    coarse = np.random.default_rng(seed).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)


def encoded(image: Image.Image | None = None, format: str = "JPEG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    (image or photo()).save(buffer, format, **options)
    return buffer.getvalue()


def padded(data: bytes, size: int) -> bytes:
    """The same JPEG, exactly ``size`` bytes long: comment segments behind the first marker hold the rest."""
    missing = size - len(data)
    segments = b""
    while missing > 0:
        payload = min(missing - 4, 60_000)
        if 0 < missing - payload - 4 < 4:
            payload -= 4
        segments += b"\xff\xfe" + (payload + 2).to_bytes(2, "big") + b"x" * payload
        missing -= payload + 4
    return data[:2] + segments + data[2:]


def data_uri(data: bytes | None = None, media_type: str = "image/jpeg") -> str:
    return f"data:{media_type};base64," + base64.b64encode(encoded() if data is None else data).decode()


def png_claiming(width: int, height: int) -> bytes:
    """A few hundred bytes that say they are a large picture."""

    def chunk(kind: bytes, payload: bytes) -> bytes:
        return len(payload).to_bytes(4, "big") + kind + payload + zlib.crc32(kind + payload).to_bytes(4, "big")

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    pixels = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
