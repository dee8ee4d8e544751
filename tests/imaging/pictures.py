"""Pictures made on the spot, in every shape that the tests ask for."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

RED, GREEN, BLUE, GREY = (200, 40, 40), (40, 160, 60), (40, 60, 190), (128, 128, 128)


def quarters(width: int = 320, height: int = 400) -> NDArray[np.uint8]:
    """Red, green, blue and grey, clockwise from the top left: any turn or flip of it can be told."""
    picture = np.empty((height, width, 3), np.uint8)
    half_height, half_width = height // 2, width // 2
    picture[:half_height, :half_width] = RED
    picture[:half_height, half_width:] = GREEN
    picture[half_height:, half_width:] = BLUE
    picture[half_height:, :half_width] = GREY
    return picture


def textured(width: int = 320, height: int = 400, seed: int = 7) -> NDArray[np.uint8]:
    """Noise, so that every part of the file carries something."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def saved(picture: NDArray[np.uint8] | Image.Image, file_format: str, **options: Any) -> bytes:
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    sink = io.BytesIO()
    image.save(sink, file_format, **options)
    return sink.getvalue()


def exif_with_orientation(value: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = value
    return exif.tobytes()


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_of(width: int, height: int, *chunks: bytes, colour_type: int = 2, depth: int = 8) -> bytes:
    """A PNG with the given header and, between it and the end, exactly these chunks."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + b"".join(chunks) + png_chunk(b"IEND", b"")


def corner_colours(picture: NDArray[np.uint8]) -> list[tuple[int, ...]]:
    """The colour in the middle of each quarter, clockwise from the top left."""
    height, width = picture.shape[:2]
    spots = ((1, 1), (1, 3), (3, 3), (3, 1))
    return [tuple(int(value) for value in picture[height * row // 4, width * column // 4]) for row, column in spots]


def is_close(left: tuple[int, ...], right: tuple[int, ...], tolerance: int = 6) -> bool:
    return all(abs(a - b) <= tolerance for a, b in zip(left, right, strict=True))
