from __future__ import annotations

import base64

import pytest

from imaging.data_uri import decode_data_uri, encode_data_uri_bytes, is_data_uri
from imaging.errors import ImageError
from imaging.limits import ImageLimits

EIGHT_MEBIBYTES = 8 * 1024 * 1024


def uri(data: bytes, header: str = "data:image/png;base64,") -> str:
    return header + base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "header",
    [
        "data:image/jpeg;base64,",
        "data:image/jpg;base64,",
        "data:image/png;base64,",
        "data:image/webp;base64,",
        "DATA:Image/JPEG;Base64,",
    ],
)
def test_accepted_headers(header: str) -> None:
    assert decode_data_uri(uri(b"pixels!", header)) == b"pixels!"
    assert decode_data_uri(memoryview(uri(b"pixels!", header).encode())) == b"pixels!"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "data:",
        "https://shop.example/a.jpg",
        "iVBORw0KGgo=",
        "data:image/png,QUJD",
        "data:;base64,QUJD",
        "data:text/html;base64,QUJD",
        "data:image/gif;base64,QUJD",
        "data:image/svg+xml;base64,QUJD",
        "data:image/avif;base64,QUJD",
        "data:image/png;charset=utf-8;base64,QUJD",
        " data:image/png;base64,QUJD",
        "data:image/png;base64;QUJD",
        "data:image/png;base64",
        "data:image/png;base64,QUJ",
        "data:image/png;base64,QUJDQ",
        "data:image/png;base64,QU\nJD",
        "data:image/png;base64,QUJD\n",
        "data:image/png;base64,QUJD QQ==",
        "data:image/png;base64,-_-_",
        "data:image/png;base64,QUJD%3D",
        "data:image/png;base64,QQ==QUJD",
        "data:image/png;base64,A===",
        "data:image/png;base64,====",
        "data:image/png;base64,ÄÖÜß",
        "data:image/png;base64,QUJ\ud800",
        "data:\u0131mage/png;base64,QUJD",
    ],
)
def test_malformed(text: str) -> None:
    with pytest.raises(ImageError) as caught:
        decode_data_uri(text)
    assert caught.value.code == "malformed_data_uri"
    assert not caught.value.retryable


def test_exactly_the_limit_passes_and_one_byte_more_does_not() -> None:
    assert len(decode_data_uri(uri(bytes(EIGHT_MEBIBYTES)))) == EIGHT_MEBIBYTES
    with pytest.raises(ImageError) as caught:
        decode_data_uri(uri(bytes(EIGHT_MEBIBYTES + 1)))
    assert caught.value.code == "image_too_large"


@pytest.mark.parametrize("size", range(7))
def test_size_is_exact_for_every_padding(size: int) -> None:
    assert decode_data_uri(uri(bytes(size)), ImageLimits(max_bytes=size)) == bytes(size)
    with pytest.raises(ImageError, match="image_too_large"):
        decode_data_uri(uri(bytes(size + 1)), ImageLimits(max_bytes=size))


def test_size_is_judged_before_the_text_is_decoded() -> None:
    with pytest.raises(ImageError, match="image_too_large"):
        decode_data_uri("data:image/png;base64," + "!" * 400, ImageLimits(max_bytes=200))


def test_is_data_uri_goes_by_the_scheme_alone() -> None:
    assert is_data_uri("DATA:anything")
    assert not is_data_uri("https://shop.example/data:")
    assert not is_data_uri("")


def test_encoding_round_trip() -> None:
    jpeg = bytes(range(256)) * 5
    assert encode_data_uri_bytes(jpeg).startswith(b"data:image/jpeg;base64,")
    assert decode_data_uri(memoryview(encode_data_uri_bytes(jpeg))) == jpeg
