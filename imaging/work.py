"""How much work a picture makes, told from its headers and markers alone, before a decoder sees it.

A decoder's time goes with the pixels times how often it walks over them, and its parsers' time with the number of
parts a file is cut into. A file of a few kilobytes can ask for minutes of both. Every bound here is well above what
cameras, phones and programs write, and says what it is based on.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits

MOST_SCANS = 20
"""Scans of a JPEG of the most pixels allowed; one of half the pixels may have twice as many. libjpeg's own script of
a progressive JPEG has 10 scans in colour, 6 in grey, 14 in RGB and 18 in CMYK, the most of any encoder's usual script;
mozjpeg's search and jpegli end at 10 to 16, and cameras write one."""

MOST_JPEG_SEGMENTS = 1_000
"""Segments before the pixels. The longest colour profile allowed takes 64, a portrait's depth map in XMP
about 100, tables a few per scan."""

MOST_CHUNKS = 20_000
"""Of a PNG or WebP. The usual chunk of a PNG's pixels has 8 KB, so that 8 MB are 1,024 of them."""

MOST_COMPRESSED_TEXTS = 64
"""Chunks of a PNG that unfold to up to a megabyte each: texts and profiles. Programs write fewer than ten."""

PNG_BYTES_PER_PIXEL = 4
"""At the most pixels allowed: RGBA with 8 bits. A PNG with 16 bits unfolds to twice as much, and may have half as many
pixels."""

MOST_EXIF_BYTES = 131_072
"""Twice what fits into a JPEG's segment. A directory of EXIF may name the same bytes in every entry, so that what its
parser copies grows with the square of its length: 350 MB here."""

JPEG_MARKER = re.compile(rb"\xff[\xc0-\xcf\xd8-\xfe]")
"""What ends a stretch of coded pixels: any marker but a restart."""

START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
HUFFMAN_FRAMES = frozenset({0xC0, 0xC1, 0xC2})
"""Baseline, extended and progressive. The others are lossless or arithmetic: no browser shows them, and a few bytes
of arithmetic coding can stand for any number of coefficients."""

START_OF_SCAN, END_OF_IMAGE, START_OF_IMAGE, APP1 = 0xDA, 0xD9, 0xD8, 0xE1

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Samples per pixel by colour type."""


def refuse_costly(data: bytes, limits: ImageLimits) -> None:
    """Refuse a picture that asks for more pixels or more work than is allowed.

    Bytes that are damaged, or no picture at all, pass: the parser that comes next says so.

    Args:
        data: The encoded picture.
        limits: How many pixels it may have; the work that is allowed goes with that.

    Raises:
        ImageError: ``image_too_many_pixels``, ``image_too_complex``, or ``image_not_readable`` for a JPEG whose kind
            is not used for pictures.
    """
    if data.startswith(b"\xff\xd8"):
        _refuse_costly_jpeg(data, limits)
    elif data.startswith(PNG_SIGNATURE):
        _refuse_costly_png(data, limits)
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        _refuse_costly_webp(data, limits)


def _refuse_costly_jpeg(data: bytes, limits: ImageLimits) -> None:
    """Walk from marker to marker as a decoder does: what follows the picture, such as a video, is not looked at."""
    pixels = scans = segments = exif = 0
    place = 2
    while (found := JPEG_MARKER.search(data, place)) is not None and found[0][1] != END_OF_IMAGE:
        kind, place = found[0][1], found.end()
        if kind == START_OF_IMAGE:
            continue
        segments += 1
        if kind in START_OF_FRAME:
            if kind not in HUFFMAN_FRAMES:
                raise ImageError(ImageErrorCode.NOT_READABLE, f"a JPEG with a frame of kind {kind:#x}")
            height, width = struct.unpack(">HH", data[place + 3 : place + 7].ljust(4, b"\0"))
            pixels = max(pixels, width * height)
            refuse_many_pixels(width, height, limits)
        elif kind == START_OF_SCAN:
            # Their markers, and perhaps bytes that look like one: nearly every picture needs no closer look.
            if scans == 0 and pixels * (1 + data.count(b"\xff\xda", place)) <= limits.max_pixels * MOST_SCANS:
                return
            scans += 1
        elif kind == APP1 and data.startswith(b"Exif\0\0", place + 2):
            exif += int.from_bytes(data[place : place + 2])
        place += int.from_bytes(data[place : place + 2])
        if pixels * scans > limits.max_pixels * MOST_SCANS:
            raise _too_complex(f"a JPEG of {pixels} pixels and more than {scans - 1} scans")
        if segments - scans > MOST_JPEG_SEGMENTS:
            raise _too_complex(f"a JPEG of more than {MOST_JPEG_SEGMENTS} segments")
        _refuse_exif(exif)


def _refuse_costly_png(data: bytes, limits: ImageLimits) -> None:
    compressed = exif = 0
    for kind, place, length in _chunks(data, len(PNG_SIGNATURE), ">I4s", 12):
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", data[place : place + 10].ljust(10, b"\0"))
            refuse_many_pixels(width, height, limits)
            unfolded = height * (width * depth * PNG_SAMPLES.get(colours, 4) // 8 + 1)
            if unfolded > (limits.max_pixels + height) * PNG_BYTES_PER_PIXEL:
                raise _too_complex(f"a PNG that unfolds to {unfolded} bytes")
        elif kind == b"IEND":
            return
        compressed += kind in {b"zTXt", b"iTXt", b"iCCP"}
        if compressed > MOST_COMPRESSED_TEXTS:
            raise _too_complex(f"a PNG of more than {MOST_COMPRESSED_TEXTS} compressed texts")
        exif += length if kind == b"eXIf" else 0
        _refuse_exif(exif)


def _refuse_costly_webp(data: bytes, limits: ImageLimits) -> None:
    """The canvas is made when the file is opened, so its size has to be known before."""
    exif = 0
    for kind, place, length in _chunks(data[: 8 + int.from_bytes(data[4:8], "little")], 12, "<4sI", 8):
        head = data[place : place + 10].ljust(10, b"\0")
        if kind == b"VP8X":
            width, height = (1 + int.from_bytes(head[first : first + 3], "little") for first in (4, 7))
            refuse_many_pixels(width, height, limits)
        elif kind == b"VP8L":
            packed = int.from_bytes(head[1:5], "little")
            refuse_many_pixels((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1, limits)
        elif kind == b"VP8 ":
            width, height = struct.unpack_from("<HH", head, 6)
            refuse_many_pixels(width & 0x3FFF, height & 0x3FFF, limits)
        exif += length if kind == b"EXIF" else 0
        _refuse_exif(exif)


def _chunks(data: bytes, place: int, layout: str, frame: int) -> Iterator[tuple[bytes, int, int]]:
    """Name, place and length of every chunk; RIFF pads odd ones with a byte.

    Raises:
        ImageError: ``image_too_complex``: there are too many.
    """
    for _ in range(MOST_CHUNKS):
        if place + 8 > len(data):
            return
        first, second = struct.unpack_from(layout, data, place)
        little = layout.startswith("<")
        (kind, length) = (first, second) if little else (second, first)
        yield kind, place + 8, length
        place += frame + length + (length % 2 if little else 0)
    raise _too_complex(f"more than {MOST_CHUNKS} chunks")


def refuse_many_pixels(width: int, height: int, limits: ImageLimits) -> None:
    """Refuse a picture of more pixels than are allowed.

    Raises:
        ImageError: ``image_too_many_pixels``.
    """
    if width * height > limits.max_pixels:
        raise ImageError(ImageErrorCode.TOO_MANY_PIXELS, f"{width} x {height} is more than {limits.max_pixels} pixels")


def _refuse_exif(length: int) -> None:
    if length > MOST_EXIF_BYTES:
        raise _too_complex(f"{length} bytes of EXIF")


def _too_complex(detail: str) -> ImageError:
    return ImageError(ImageErrorCode.TOO_COMPLEX, detail)
