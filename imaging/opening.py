"""Open untrusted bytes as a Pillow image, and judge them by headers and markers, before any pixel is decoded.

Only the parsers of the three accepted formats are ever started, told by their first bytes; the weaknesses found in
image libraries over the years sit in the many others.

How much work a picture makes is told before even these. A decoder's time goes with the pixels times how often it walks
over them, and its parsers' time with the number of parts a file is cut into. A file of a few kilobytes can ask for
minutes of both. Every bound here is well above what cameras, phones and programs write, and says what it is based on.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import ExifTags, Image

from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import PHOTO_LIMITS, ImageLimits

SIGNATURE_LENGTH = 12
"""How many first bytes tell the format."""

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def format_of(start: bytes) -> str | None:
    """The accepted format that bytes begin like (JPEG, PNG, WEBP); whether they hold one, `inspect_image` says."""
    if start.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if start.startswith(PNG_SIGNATURE):
        return "PNG"
    return "WEBP" if start[:4] == b"RIFF" and start[8:12] == b"WEBP" else None


MOST_SCANS = 20
"""Scans of a JPEG of the most pixels allowed; one of half the pixels may have twice as many. libjpeg's own script of
a progressive JPEG has 10 scans in colour, 6 in grey, 14 in RGB and 18 in CMYK, the most of any encoder's usual script;
mozjpeg's search and jpegli end at 10 to 16, and cameras write one."""

MOST_JPEG_SEGMENTS = 1_000
"""Segments before the pixels. The longest colour profile allowed takes 64, a portrait's depth map in XMP
about 100, tables a few per scan."""

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

PNG_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Samples per pixel by colour type."""


def refuse_costly(data: bytes, limits: ImageLimits) -> None:
    """Refuse a picture that asks for more pixels or more work than is allowed.

    The work that is allowed goes with the pixels that are. Bytes that are damaged, or no picture at all, pass: the
    parser that comes next says so.

    Raises:
        ImageError: ``image_too_many_pixels``, ``image_too_complex``, or ``image_not_readable`` for a JPEG whose kind
            is not used for pictures.
    """
    match format_of(data[:SIGNATURE_LENGTH]):
        case "JPEG":
            _refuse_costly_jpeg(data, limits)
        case "PNG":
            _refuse_costly_png(data, limits)
        case "WEBP":
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
            _refuse_many_pixels(width, height, limits)
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
    for kind, place, length in _chunks(data, limits, len(PNG_SIGNATURE), ">I4s", 12):
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", data[place : place + 10].ljust(10, b"\0"))
            _refuse_many_pixels(width, height, limits)
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
    for kind, place, length in _chunks(data[: 8 + int.from_bytes(data[4:8], "little")], limits, 12, "<4sI", 8):
        head = data[place : place + 10].ljust(10, b"\0")
        if kind == b"VP8X":
            width, height = (1 + int.from_bytes(head[first : first + 3], "little") for first in (4, 7))
            _refuse_many_pixels(width, height, limits)
        elif kind == b"VP8L":
            packed = int.from_bytes(head[1:5], "little")
            _refuse_many_pixels((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1, limits)
        elif kind == b"VP8 ":
            width, height = struct.unpack_from("<HH", head, 6)
            _refuse_many_pixels(width & 0x3FFF, height & 0x3FFF, limits)
        exif += length if kind == b"EXIF" else 0
        _refuse_exif(exif)


def _chunks(data: bytes, limits: ImageLimits, place: int, layout: str, frame: int) -> Iterator[tuple[bytes, int, int]]:
    """Name, place and length of every chunk; RIFF pads odd ones with a byte.

    Raises:
        ImageError: ``image_too_complex``: there are too many.
    """
    for _ in range(limits.max_chunks):
        if place + 8 > len(data):
            return
        first, second = struct.unpack_from(layout, data, place)
        little = layout.startswith("<")
        (kind, length) = (first, second) if little else (second, first)
        yield kind, place + 8, length
        place += frame + length + (length % 2 if little else 0)
    raise _too_complex(f"more than {limits.max_chunks} chunks")


def _refuse_many_pixels(width: int, height: int, limits: ImageLimits) -> None:
    if width * height > limits.max_pixels:
        raise ImageError(ImageErrorCode.TOO_MANY_PIXELS, f"{width} x {height} is more than {limits.max_pixels} pixels")


def _refuse_exif(length: int) -> None:
    if length > MOST_EXIF_BYTES:
        raise _too_complex(f"{length} bytes of EXIF")


def _too_complex(detail: str) -> ImageError:
    return ImageError(ImageErrorCode.TOO_COMPLEX, detail)


TURNS: dict[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""How to turn the stored picture upright, by the value of EXIF's tag 274. 1 means upright already."""


def stored_orientation(image: Image.Image) -> int:
    """Read the tag of a picture that was loaded; a missing, unknown or unreadable one counts as upright.

    Pillow's own look goes on to the XMP, which programs leave as it was when they turn a picture, and to EXIF that old
    programs put into texts of a PNG. Browsers do neither, and what people saw there is what they mean.

    Returns:
        1 to 8.
    """
    exif = Image.Exif()
    try:
        exif.load(image.info.get("exif") or b"")
        value = exif.get(ExifTags.Base.Orientation, 1)
    except DECODER_FAILURES:
        return 1
    return value if value in TURNS else 1


def turn_upright(image: Image.Image, orientation: int) -> Image.Image:
    """Turn the pixels to the orientation in which the photo was taken."""
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
    """Turn Pillow's exceptions inside the block into an `ImageError`.

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
    """Open an encoded picture and hold its header against the limits; no pixel is decoded.

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
        is_jpeg = image.format in JPEG_FORMATS
        animated = not is_jpeg and getattr(image, "n_frames", 1) > 1
    width, height = image.size
    _refuse_many_pixels(width, height, limits)  # as the parser has it
    pixels, per_byte = width * height, JPEG_MAX_PIXELS_PER_BYTE if is_jpeg else MAX_PIXELS_PER_BYTE
    if pixels > len(data) * per_byte and (is_jpeg or pixels > FREE_PIXELS):
        raise ImageError(ImageErrorCode.NOT_READABLE, f"{len(data)} bytes claim to hold {pixels} pixels")
    shorter, longer = sorted(image.size)
    if shorter < limits.min_side:
        raise ImageError(
            ImageErrorCode.TOO_SMALL, f"{width} x {height}: the shorter side needs {limits.min_side} pixels"
        )
    if longer > limits.max_aspect * shorter:
        raise ImageError(ImageErrorCode.TOO_ELONGATED, f"{width} x {height} is longer than {limits.max_aspect:g} to 1")
    if animated:
        raise ImageError(ImageErrorCode.ANIMATED, f"an animated {image.format}; send a still picture")
    return image


DRAFT_DIVISOR = 8
"""A JPEG decoded at an eighth of its size still has its whole stream read, but few pixels made from it."""


def inspect_image(data: bytes, limits: ImageLimits = PHOTO_LIMITS) -> str:
    """Prove that the bytes are one whole, still, usable picture.

    The header is judged first. Then the whole stream is decoded, as cheaply as its format allows, so that a
    truncated or damaged picture is known here and not by the worker that would have drawn with it.

    Returns:
        Its media type, judged by the content: ``image/jpeg``, ``image/png`` or ``image/webp``.

    Raises:
        ImageError: Any of the ``image_…`` codes.
    """
    image = open_picture(data, limits)
    is_jpeg = image.format in JPEG_FORMATS
    with unreadable_on_failure():
        if is_jpeg:
            image.draft(None, (max(1, image.width // DRAFT_DIVISOR), max(1, image.height // DRAFT_DIVISOR)))
        image.load()
    return "image/jpeg" if is_jpeg else f"image/{image.format}".lower()
