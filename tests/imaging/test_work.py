"""What asks for too much work is refused from its markers: no decoder and no parser is started."""

from __future__ import annotations

import struct
from unittest.mock import Mock

import pytest
from PIL import Image

from imaging import opening
from imaging.errors import ImageError
from imaging.limits import PHOTO_LIMITS, STORED_LIMITS, ImageLimits
from imaging.opening import inspect_image
from tests.imaging import bombs
from tests.imaging.pictures import exif_with_orientation, png_chunk, png_of, quarters, saved, textured

MEGAPIXELS_2_56 = ImageLimits(max_pixels=1600 * 1600)


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = Mock(side_effect=AssertionError("a parser was started"))
    monkeypatch.setattr(opening.Image, "open", parser)


def refused(data: bytes, limits: ImageLimits | None = None) -> str:
    with pytest.raises(ImageError) as caught:
        inspect_image(data, limits or ImageLimits())
    return caught.value.code


@pytest.mark.usefixtures("no_parser")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(bombs.jpeg_of_segments(opening.MOST_JPEG_SEGMENTS + 1), id="segments"),
        pytest.param(bombs.jpeg_of_segments(3, b"Exif\0\0" + bytes(60_000), 0xE1), id="exif-in-segments"),
        pytest.param(bombs.png_with(*[bombs.broken_text()] * (opening.MOST_COMPRESSED_TEXTS + 1)), id="texts"),
        pytest.param(
            bombs.png_with(*[bombs.broken_text(b"iCCP")] * (opening.MOST_COMPRESSED_TEXTS + 1)), id="profiles"
        ),
        pytest.param(bombs.png_with(*[png_chunk(b"teSt", b"")] * (PHOTO_LIMITS.max_chunks + 1)), id="chunks"),
        pytest.param(bombs.png_with(png_chunk(b"eXIf", bombs.exif_of_entries(9_000, 90_000))), id="exif-in-png"),
        pytest.param(bombs.webp_with_exif(200_000), id="exif-in-webp"),
    ],
)
def test_a_file_of_too_many_parts(data: bytes) -> None:
    assert refused(data) == "image_too_complex"


def test_our_own_picture_may_have_as_many_parts_as_it_takes() -> None:
    """One of 60 megapixels, uncompressed, has 22,000 chunks."""
    picture = bombs.png_with(*[png_chunk(b"teSt", b"")] * (PHOTO_LIMITS.max_chunks + 1))
    assert inspect_image(picture, STORED_LIMITS) == "image/png"


@pytest.mark.usefixtures("no_parser")
def test_a_jpeg_of_too_many_scans() -> None:
    assert refused(bombs.jpeg_of_scans(opening.MOST_SCANS + 1), MEGAPIXELS_2_56) == "image_too_complex"


@pytest.mark.usefixtures("no_parser")
def test_a_png_that_unfolds_to_more_than_the_largest_usual_one() -> None:
    limits = ImageLimits(max_pixels=640_000)
    assert refused(bombs.deep_png(600), limits) == "image_too_complex"


def test_a_deep_png_of_half_the_pixels() -> None:
    inspect_image(bombs.deep_png(560), ImageLimits(max_pixels=640_000))


def test_a_jpeg_of_the_most_scans_at_the_most_pixels() -> None:
    inspect_image(bombs.jpeg_of_scans(opening.MOST_SCANS), MEGAPIXELS_2_56)


def test_a_small_jpeg_may_have_more_scans() -> None:
    quarter = bombs.jpeg_of_scans(4 * opening.MOST_SCANS, 800, 800)
    inspect_image(quarter, MEGAPIXELS_2_56)
    assert refused(bombs.jpeg_of_scans(4 * opening.MOST_SCANS + 1, 800, 800), MEGAPIXELS_2_56) == "image_too_complex"


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_what_encoders_write_passes_at_the_most_pixels(mode: str) -> None:
    picture = Image.fromarray(quarters(640, 640)).convert(mode)
    data = saved(picture, "JPEG", progressive=True)
    inspect_image(data, ImageLimits(max_pixels=640 * 640))
    assert {"L": 6, "RGB": 10, "CMYK": 18}[mode] == data.count(b"\xff\xda") <= opening.MOST_SCANS


def test_scans_of_thumbnails_and_of_what_follows_the_picture_do_not_count() -> None:
    """Phones put a thumbnail before a photo, and further pictures or a video behind it."""
    photo = saved(quarters(1600, 1600), "JPEG", progressive=True)
    thumbnails = b"\xff\xe5" + struct.pack(">H", 2 + 400) + b"\xff\xda" * 200
    followed = photo[:2] + thumbnails + photo[2:] + b"\xff\xda\0\x02" * 5_000
    inspect_image(followed, MEGAPIXELS_2_56)


@pytest.mark.parametrize("hidden", ["fill bytes", "restart", "segment between"])
def test_scans_cannot_be_hidden(hidden: str) -> None:
    data = saved(quarters(1600, 1600), "JPEG", progressive=True)
    last = data.rindex(b"\xff\xda")
    between = {
        "fill bytes": b"\xff\xff\xff",
        "restart": b"\xff\xd0\xff\x01",
        "segment between": b"\xff\xfe\0\x04\xff\xd9",
    }[hidden]
    bomb = data[:-2] + (between + data[last:-2]) * 30 + data[-2:]
    assert refused(bomb, MEGAPIXELS_2_56) == "image_too_complex"


@pytest.mark.usefixtures("no_parser")
@pytest.mark.parametrize("kind", [0xC3, 0xC9, 0xCA])
def test_kinds_of_jpeg_that_no_browser_shows(kind: int) -> None:
    data = saved(quarters(), "JPEG").replace(b"\xff\xc0", bytes([0xFF, kind]), 1)
    assert refused(data) == "image_not_readable"


@pytest.mark.usefixtures("no_parser")
@pytest.mark.parametrize("lossless", [True, False])
@pytest.mark.parametrize("alpha", [True, False])
def test_a_webp_of_too_many_pixels_is_refused_before_its_canvas_is_made(lossless: bool, alpha: bool) -> None:
    picture = Image.fromarray(textured()).convert("RGBA" if alpha else "RGB")
    if alpha:
        picture.putalpha(Image.fromarray(textured()).convert("L"))
    data = saved(picture, "WEBP", lossless=lossless)
    assert refused(data, ImageLimits(max_pixels=320 * 400 - 1)) == "image_too_many_pixels"


@pytest.mark.usefixtures("no_parser")
def test_a_png_of_too_many_pixels() -> None:
    assert refused(png_of(9_000, 9_000)) == "image_too_many_pixels"


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_what_is_cut_off_anywhere_is_judged_without_a_fault(file_format: str) -> None:
    data = saved(textured(64, 64), file_format, exif=exif_with_orientation(6))
    for length in range(0, len(data), 7):
        opening.refuse_costly(data[:length], ImageLimits())
