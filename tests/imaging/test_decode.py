from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
from PIL import ExifTags, Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from imaging.decode import decode_image, decode_logo
from imaging.errors import ImageError
from tests.imaging.pictures import (
    BLUE,
    GREEN,
    GREY,
    RED,
    corner_colours,
    exif_with_orientation,
    is_close,
    quarters,
    saved,
    textured,
)
from tests.imaging.profiles import display_p3


def test_pixels_of_a_lossless_file_come_back_unchanged() -> None:
    picture = textured()
    for data in (saved(picture, "PNG"), saved(picture, "WEBP", lossless=True)):
        decoded = decode_image(data)
        assert decoded.dtype == np.uint8
        assert np.array_equal(decoded, picture)


def test_the_array_belongs_to_the_caller() -> None:
    decoded = decode_image(saved(quarters(), "PNG"))
    decoded[:] = 0
    assert decoded.flags.c_contiguous


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("max_side", [None, 200])
def test_every_orientation_comes_out_upright(orientation: int, file_format: str, max_side: int | None) -> None:
    stored = Image.fromarray(quarters())
    data = saved(stored, file_format, exif=exif_with_orientation(orientation))
    stored.getexif()[0x0112] = orientation
    upright = np.asarray(ImageOps.exif_transpose(stored))
    decoded = decode_image(data, max_side=max_side)
    assert decoded.shape[0] > decoded.shape[1] if orientation < 5 else decoded.shape[0] < decoded.shape[1]
    assert all(map(is_close, corner_colours(decoded), corner_colours(upright)))


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_an_unknown_orientation_counts_as_upright(orientation: int) -> None:
    decoded = decode_image(saved(quarters(), "JPEG", exif=exif_with_orientation(orientation)))
    assert all(map(is_close, corner_colours(decoded), (RED, GREEN, BLUE, GREY)))


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_what_xmp_says_of_the_orientation_is_about_another_version(file_format: str) -> None:
    """A program that turns the pixels takes EXIF's tag away, and may leave the XMP; browsers show it upright."""
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    info = PngInfo()
    info.add_itxt("XML:com.adobe.xmp", xmp.decode())
    data = saved(quarters(), file_format, **({"pnginfo": info} if file_format == "PNG" else {"xmp": xmp}))
    assert Image.open(io.BytesIO(data)).getexif()[ExifTags.Base.Orientation] == 6
    assert all(map(is_close, corner_colours(decode_image(data)), (RED, GREEN, BLUE, GREY)))


@pytest.mark.parametrize("mode", ["CMYK", "L", "1", "P"])
def test_other_modes_become_rgb(mode: str) -> None:
    image = Image.fromarray(quarters()).convert(mode)
    data = saved(image, "JPEG", quality=95) if mode in {"CMYK", "L"} else saved(image, "PNG")
    expected = np.asarray(image.convert("RGB"))
    decoded = decode_image(data)
    assert decoded.shape == (400, 320, 3)
    assert all(map(is_close, corner_colours(decoded), corner_colours(expected)))


def test_sixteen_bits_are_scaled_not_clipped() -> None:
    grey = np.linspace(0, 65535, 300 * 300).reshape(300, 300).astype(np.uint16)
    decoded = decode_image(cv2.imencode(".png", grey)[1].tobytes())
    assert np.array_equal(decoded[..., 0], (grey >> 8).astype(np.uint8))
    colour = np.dstack([grey, grey[::-1], np.full_like(grey, 0x8000)])
    decoded = decode_image(cv2.imencode(".png", colour)[1].tobytes())
    assert np.abs(decoded[..., ::-1].astype(int) - (colour >> 8)).max() <= 1


@pytest.mark.parametrize("file_format", ["PNG", "WEBP"])
@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_alpha_is_laid_on_white(mode: str, file_format: str) -> None:
    image = Image.new("RGBA", (320, 400), (0, 0, 0, 0))
    image.paste((100, 100, 100, 128), (160, 0, 320, 400))
    decoded = decode_image(
        saved(image.convert(mode), file_format, **({"lossless": True} if file_format == "WEBP" else {}))
    )
    assert tuple(decoded[200, 80]) == (255, 255, 255)
    assert is_close(tuple(decoded[200, 240]), (177, 177, 177), 1)


def test_transparent_palette_entry_is_laid_on_white() -> None:
    image = Image.new("P", (320, 400), 0)
    image.putpalette([0, 0, 0, *RED])
    image.paste(1, (160, 0, 320, 400))
    decoded = decode_image(saved(image, "PNG", transparency=0))
    assert tuple(decoded[200, 80]) == (255, 255, 255)
    assert tuple(decoded[200, 240]) == RED


def test_transparent_key_colour_is_laid_on_white() -> None:
    decoded = decode_image(saved(quarters(), "PNG", transparency=GREEN))
    assert tuple(decoded[100, 240]) == (255, 255, 255)
    assert tuple(decoded[100, 80]) == RED


@pytest.mark.parametrize("file_format", ["PNG", "JPEG", "WEBP"])
def test_display_p3_becomes_srgb(file_format: str) -> None:
    red_of_srgb_in_p3 = (234, 51, 35)
    data = saved(Image.new("RGB", (300, 300), red_of_srgb_in_p3), file_format, icc_profile=display_p3(), quality=100)
    decoded = decode_image(data)
    assert is_close(tuple(decoded[150, 150]), (255, 0, 0), 12)


def test_alpha_and_profile_together() -> None:
    image = Image.new("RGBA", (300, 300), (234, 51, 35, 255))
    image.paste((0, 0, 0, 0), (0, 0, 150, 300))
    decoded = decode_image(saved(image, "PNG", icc_profile=display_p3()))
    assert tuple(decoded[150, 50]) == (255, 255, 255)
    assert is_close(tuple(decoded[150, 250]), (255, 0, 0), 6)


@pytest.mark.parametrize("profile", [b"no profile at all", display_p3()[:150], display_p3()[:-40] + bytes(40)])
def test_a_damaged_profile_is_passed_over(profile: bytes) -> None:
    decoded = decode_image(saved(quarters(), "PNG", icc_profile=profile))
    assert decoded.shape == (400, 320, 3)


def test_colour_profile_on_a_grey_picture() -> None:
    image = Image.new("L", (300, 300), 128)
    decoded = decode_image(saved(image, "JPEG", icc_profile=display_p3()))
    assert is_close(tuple(decoded[150, 150]), GREY, 2)


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("max_side", [100, 333, 799])
def test_shrinking_keeps_the_shape(file_format: str, max_side: int) -> None:
    decoded = decode_image(saved(quarters(600, 800), file_format), max_side=max_side)
    assert decoded.shape[0] == max_side
    assert abs(decoded.shape[1] - max_side * 0.75) <= 0.5
    assert all(map(is_close, corner_colours(decoded), (RED, GREEN, BLUE, GREY)))


def test_shrinking_a_jpeg_keeps_what_the_size_can_hold() -> None:
    photo = np.kron(textured(160, 200), np.ones((8, 8, 1), np.uint8))
    whole = Image.fromarray(decode_image(saved(photo, "JPEG")))
    expected = np.asarray(whole.resize((320, 400), Image.Resampling.LANCZOS)).astype(int)
    shrunk = decode_image(saved(photo, "JPEG"), max_side=400)
    assert np.abs(shrunk - expected).mean() < 6


def test_shrinking_never_enlarges() -> None:
    assert decode_image(saved(quarters(), "JPEG"), max_side=4000).shape == (400, 320, 3)


def test_logo_keeps_its_alpha() -> None:
    image = Image.new("RGBA", (200, 50), (234, 51, 35, 255))
    image.paste((9, 9, 9, 0), (0, 0, 100, 50))
    logo = decode_logo(saved(image, "PNG", icc_profile=display_p3()))
    assert logo.shape == (50, 200, 4)
    assert logo[25, 50, 3] == 0
    assert is_close(tuple(logo[25, 150]), (255, 0, 0, 255), 6)


def test_logo_without_alpha_is_opaque() -> None:
    logo = decode_logo(saved(quarters(64, 64), "JPEG"), max_side=32)
    assert logo.shape == (32, 32, 4)
    assert logo[..., 3].min() == 255


def test_logo_over_one_mebibyte() -> None:
    data = saved(quarters(64, 64), "PNG")
    decode_logo(data + bytes(1024 * 1024 - len(data)))
    with pytest.raises(ImageError, match="image_too_large"):
        decode_logo(data + bytes(1024 * 1024 - len(data) + 1))
