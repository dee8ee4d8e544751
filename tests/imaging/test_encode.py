from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from imaging.decode import decode_image
from imaging.encode import TRAINED_COMPOSITE_XMP, encode_jpeg, encode_png
from tests.imaging.pictures import quarters, saved, textured
from tests.imaging.profiles import display_p3

RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
DIGITAL_SOURCE_TYPE = "{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}DigitalSourceType"


def test_jpeg_is_close_to_the_picture() -> None:
    picture = quarters()
    difference = np.abs(decode_image(encode_jpeg(picture)).astype(int) - picture)
    assert difference.mean() < 1
    assert difference.max() < 40


def test_jpeg_keeps_colour_at_full_resolution() -> None:
    image = Image.open(io.BytesIO(encode_jpeg(quarters())))
    assert isinstance(image, JpegImageFile)
    assert {(horizontal, vertical) for _, horizontal, vertical, _ in image.layer} == {(1, 1)}


def test_a_view_of_an_array_can_be_encoded() -> None:
    picture = quarters()
    assert decode_image(encode_png(picture[::-1, ::-1])).shape == picture.shape
    assert decode_image(encode_jpeg(picture[:, ::-1])).shape == picture.shape


def test_nothing_of_the_photo_but_its_pixels_survives() -> None:
    exif = Image.Exif()
    exif[0x010F] = "SecretCamera"
    exif.get_ifd(0x8825)[1] = "SecretPlace"
    photo = saved(
        quarters(), "JPEG", exif=exif, comment=b"SecretComment", icc_profile=display_p3(), xmp=b"<SecretXmp/>"
    )
    assert photo.count(b"Secret") == 4
    for file in (encode_jpeg(decode_image(photo)), encode_png(decode_image(photo))):
        assert b"Secret" not in file
        image = Image.open(io.BytesIO(file))
        assert not image.getexif()
        assert set(image.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def test_xmp_says_that_a_trained_model_drew_a_part() -> None:
    image = Image.open(io.BytesIO(encode_jpeg(quarters(), xmp=TRAINED_COMPOSITE_XMP)))
    assert image.info["xmp"] == TRAINED_COMPOSITE_XMP
    document = ET.fromstring(TRAINED_COMPOSITE_XMP.decode())  # noqa: S314  # our own packet
    (description,) = document.iter(f"{RDF}Description")
    term = "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"
    assert description.get(DIGITAL_SOURCE_TYPE) == term


@pytest.mark.parametrize("shape", [(300, 280, 3), (300, 280, 4), (300, 280)])
def test_png_is_lossless(shape: tuple[int, ...]) -> None:
    picture = np.random.default_rng(3).integers(0, 256, shape, dtype=np.uint8)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(encode_png(picture)))), picture)


def test_quality_governs_the_size() -> None:
    picture = textured()
    assert len(encode_jpeg(picture, quality=60)) < len(encode_jpeg(picture)) < len(encode_jpeg(picture, quality=95))
