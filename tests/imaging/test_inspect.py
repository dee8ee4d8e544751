from __future__ import annotations

import re
import time
import zlib

import numpy as np
import pytest
from PIL import Image

from imaging.decode import decode_image
from imaging.errors import ImageError
from imaging.limits import ImageLimits
from imaging.opening import inspect_image
from tests.imaging.pictures import exif_with_orientation, png_chunk, png_of, quarters, saved, textured

QUICK_S = 0.5
"""Far below what decoding any of the bombs would take, far above what refusing them takes."""


def refused(data: bytes, limits: ImageLimits | None = None) -> str:
    """The code with which both the check at the door and the decoder refuse a picture."""
    codes = set()
    for read in (inspect_image, decode_image):
        with pytest.raises(ImageError) as caught:
            read(data, limits or ImageLimits())
        codes.add(caught.value.code)
    assert len(codes) == 1
    return codes.pop()


@pytest.mark.parametrize(
    ("file_format", "content_type"), [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("WEBP", "image/webp")]
)
def test_the_media_type_is_that_of_the_content(file_format: str, content_type: str) -> None:
    assert inspect_image(saved(quarters(), file_format)) == content_type


def test_progressive_jpeg() -> None:
    assert inspect_image(saved(quarters(), "JPEG", progressive=True)) == "image/jpeg"


def test_jpeg_with_further_pictures_is_a_jpeg() -> None:
    data = saved(quarters(), "MPO", save_all=True, append_images=[Image.fromarray(quarters())])
    assert inspect_image(data) == "image/jpeg"


@pytest.mark.parametrize("file_format", ["GIF", "BMP", "TIFF", "AVIF", "PPM", "ICO", "JPEG2000", "TGA"])
def test_other_formats(file_format: str) -> None:
    assert refused(saved(quarters(), file_format)) == "image_not_readable"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"RIFF\x04\0\0\0WEBP",
        b'<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"/>',
        b"<!doctype html><title>404</title>",
        bytes(4096),
    ],
)
def test_no_picture_at_all(data: bytes) -> None:
    assert refused(data) == "image_not_readable"


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9, 0.99])
def test_truncated(file_format: str, share: float) -> None:
    data = saved(textured(), file_format)
    assert refused(data[: int(len(data) * share)]) == "image_not_readable"


def test_png_with_a_damaged_pixel_stream() -> None:
    data = bytearray(saved(textured(), "PNG"))
    data[len(data) // 2] ^= 0xFF
    assert refused(bytes(data)) == "image_not_readable"


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_damage_never_ends_in_anything_but_an_image_error(file_format: str) -> None:
    whole = saved(textured(264, 264), file_format, exif=exif_with_orientation(6))
    random = np.random.default_rng(11)
    for _ in range(60):
        data = bytearray(whole)
        reach = len(data) if random.random() < 0.5 else 200
        for position in random.integers(0, reach, 4):
            data[position] = random.integers(0, 256)
        try:
            inspect_image(bytes(data))
        except ImageError:
            continue
        assert decode_image(bytes(data)).ndim == 3


def test_bytes_at_and_over_the_limit() -> None:
    data = saved(quarters(), "JPEG")
    inspect_image(data, ImageLimits(max_bytes=len(data)))
    assert refused(data, ImageLimits(max_bytes=len(data) - 1)) == "image_too_large"


def test_default_limit_is_eight_mebibytes_exactly() -> None:
    data = saved(quarters(), "PNG")
    full = data + bytes(8 * 1024 * 1024 - len(data))
    assert inspect_image(full) == "image/png"
    assert refused(full + b"\0") == "image_too_large"


def test_shorter_side_at_and_under_the_limit() -> None:
    inspect_image(saved(quarters(256, 300), "JPEG"))
    assert refused(saved(quarters(255, 300), "JPEG")) == "image_too_small"
    assert refused(saved(quarters(300, 255), "JPEG")) == "image_too_small"


def test_shape_at_and_over_the_limit() -> None:
    inspect_image(saved(quarters(1024, 256), "PNG"))
    assert refused(saved(quarters(1025, 256), "PNG")) == "image_too_elongated"
    assert refused(saved(quarters(256, 1025), "PNG")) == "image_too_elongated"


def test_pixels_at_and_over_the_limit() -> None:
    data = saved(textured(400, 300), "JPEG")
    inspect_image(data, ImageLimits(max_pixels=120_000))
    assert refused(data, ImageLimits(max_pixels=119_999)) == "image_too_many_pixels"


@pytest.mark.parametrize("side", [7_100, 9_000, 12_000, 30_000])
def test_pixel_bombs_are_refused_from_the_header(side: int) -> None:
    data = png_of(side, side, png_chunk(b"IDAT", np.random.default_rng(0).bytes(500_000)))
    begin = time.perf_counter()
    assert refused(data) == "image_too_many_pixels"
    assert time.perf_counter() - begin < QUICK_S


def test_text_bomb_in_a_png_is_refused_quickly() -> None:
    unfolded = zlib.compress(bytes(50_000_000), 1)
    data = png_of(300, 300, png_chunk(b"zTXt", b"Comment\0\0" + unfolded))
    begin = time.perf_counter()
    assert refused(data) == "image_not_readable"
    assert time.perf_counter() - begin < QUICK_S


@pytest.mark.parametrize("side", [2_000, 9_000, 60_000])
def test_tiny_jpeg_that_claims_many_pixels(side: int) -> None:
    data = saved(quarters(256, 256), "JPEG")
    assert len(data) < 4_000
    size = re.escape(b"\x01\x00\x01\x00\x03")  # height, width and the number of components in the frame header
    two = side.to_bytes(2, "big")
    lying, replaced = re.subn(size, lambda _: two + two + b"\x03", data, count=1)
    assert replaced == 1
    assert refused(lying) == ("image_not_readable" if side < 7_000 else "image_too_many_pixels")


def test_tiny_png_that_claims_many_pixels() -> None:
    assert refused(png_of(5_000, 5_000, png_chunk(b"IDAT", bytes(60)))) == "image_not_readable"


@pytest.mark.parametrize("file_format", ["WEBP", "PNG"])
def test_animations(file_format: str) -> None:
    frames = [Image.fromarray(textured(seed=seed)) for seed in (1, 2)]
    data = saved(frames[0], file_format, save_all=True, append_images=frames[1:], duration=100)
    assert refused(data) == "image_animated"


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")  # Pillow's own remark, which is no error in service
def test_broken_exif_does_not_condemn_a_good_picture() -> None:
    data = saved(quarters(), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" + bytes(20))
    assert inspect_image(data) == "image/jpeg"
    assert decode_image(data).shape == (400, 320, 3)
