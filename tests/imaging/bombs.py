"""Pictures that are made to be costly. Small ones: what counts is that they are refused, and what for."""

from __future__ import annotations

import struct
import zlib

from tests.imaging.pictures import png_chunk, png_of, quarters, saved


def jpeg_of_scans(scans: int, width: int = 1600, height: int = 1600) -> bytes:
    """A progressive JPEG whose last scan stands in it again and again."""
    data = saved(quarters(width, height), "JPEG", progressive=True)
    last = data.rindex(b"\xff\xda")
    return data[:-2] + data[last:-2] * (scans - data.count(b"\xff\xda")) + data[-2:]


def jpeg_of_segments(count: int, payload: bytes = b"", marker: int = 0xEF) -> bytes:
    """A JPEG with so many segments of an application before its picture."""
    data = saved(quarters(), "JPEG")
    return data[:2] + (bytes([0xFF, marker]) + struct.pack(">H", len(payload) + 2) + payload) * count + data[2:]


def exif_of_entries(count: int, blob: int) -> bytes:
    """A TIFF directory in which every entry names the same bytes."""
    entries = b"".join(struct.pack("<HHII", number + 1, 7, blob, 8) for number in range(count))
    body = bytes(blob)
    return b"II*\0" + struct.pack("<I", 8 + blob) + body + struct.pack("<H", count) + entries + bytes(4)


def png_with(*chunks: bytes) -> bytes:
    """A good PNG with these chunks before its pixels."""
    data = saved(quarters(), "PNG")
    return data[:33] + b"".join(chunks) + data[33:]


def broken_text(kind: bytes = b"zTXt") -> bytes:
    """A chunk that unfolds to nearly a megabyte and is thrown away at its damaged end, so that nobody counts it."""
    return png_chunk(kind, b"a\0\0" + zlib.compress(bytes(1_000_000))[:-4] + b"\0\0\0\0")


def deep_png(side: int) -> bytes:
    """RGBA with 16 bits: eight bytes a pixel."""
    row = b"\0" + bytes(side * 8)
    return png_of(side, side, png_chunk(b"IDAT", zlib.compress(row * side)), colour_type=6, depth=16)


def webp_with_exif(length: int) -> bytes:
    return saved(quarters(), "WEBP", exif=b"Exif\0\0" + bytes(length))
