"""Pictures that are taken out of a body before it is parsed: nothing may come out differently for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.json_body import STAND_IN_LENGTH, WORTH_BYTES, take_pictures_out
from api.products.schemas import CreateProduct
from api.tryon.accepting import read_request
from api.tryon.schemas import ComboRequest, GarmentFields, SingleRequest
from domain.errors import TryOnError
from imaging.limits import ImageLimits
from tests.pictures import data_uri, encoded, padded

LONG = "data:image/jpeg;base64," + "A" * WORTH_BYTES
LARGE_JPEG = padded(encoded(), 200_000)


def put_back(body: bytes) -> bytes:
    text, taken = take_pictures_out(body)
    whole = bytes(text)
    for stand_in, picture in taken.items():
        whole = whole.replace(stand_in.encode(), bytes(picture))
    return whole


def taken_from(body: Any) -> list[str]:
    return [bytes(picture).decode() for picture in take_pictures_out(json.dumps(body).encode())[1].values()]


def test_every_long_one_is_taken_wherever_it_stands() -> None:
    body = {
        "a": LONG,
        "b": [{"c": LONG + "B"}, "short", {"d": "data:x"}],
        "e": "https://shop.example/" + "x" * WORTH_BYTES,
    }
    assert taken_from(body) == [LONG, LONG + "B"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": "' + LONG.encode().replace(b"/", b"\\/") + b'"}',
        b'{"a": "say \\"' + LONG.encode() + b'\\" to me"}',
        b'{"a": "' + LONG.encode(),
        b'"data:',
        b"",
    ],
)
def test_what_has_escapes_or_no_end_stays(body: bytes) -> None:
    text, taken = take_pictures_out(body)
    assert (bytes(text), taken) == (body, {})


PIECES = st.sampled_from(
    ['"', "\\", "\\\\", "data:", LONG, LONG.upper(), "A", "{", "}", ":", ",", " ", "\n", "\u20ac", "null", "[", "]"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_whatever_it_is_it_can_be_put_back(text: str) -> None:
    body = text.encode()
    assert put_back(body) == body


@given(st.lists(PIECES, max_size=12).map("".join))
def test_well_formed_stays_well_formed_and_malformed_malformed(text: str) -> None:
    def parses(body: bytes) -> bool:
        try:
            json.loads(bytes(body))
        except ValueError:
            return False
        return True

    body = f'{{"a": {text}}}'.encode()
    assert parses(body) == parses(take_pictures_out(body)[0])


def test_a_large_picture_is_read_as_a_small_one_is() -> None:
    large = data_uri(LARGE_JPEG)
    body = {"customerPhotoBase64": large, "garmentImageUrl": data_uri(), "category": "upper_body"}
    read = read_request(json.dumps(body).encode(), SingleRequest, ImageLimits())
    assert [picture.data for picture in read.pictures] == [LARGE_JPEG, encoded()]


def test_a_large_picture_with_escaped_slashes_is_read_too() -> None:
    text = json.dumps(
        {"customerPhotoBase64": data_uri(LARGE_JPEG), "garmentImageUrl": data_uri(), "category": "upper_body"}
    )
    read = read_request(text.replace("/", "\\/").encode(), SingleRequest, ImageLimits())
    assert read.person.data == LARGE_JPEG


@pytest.mark.parametrize("field", ["size", "customerSize", "garmentCategory", "category", "tuckState"])
def test_a_picture_in_the_wrong_place_is_refused(field: str) -> None:
    body = {"customerPhotoBase64": data_uri(), "garmentImageUrl": data_uri(), "category": "upper_body", field: LONG}
    with pytest.raises(TryOnError, match=field):
        read_request(json.dumps(body).encode(), SingleRequest, ImageLimits())


def test_nobody_can_name_a_stand_in() -> None:
    body = json.dumps({"a": LONG}).encode()
    first, second = take_pictures_out(body)[1], take_pictures_out(body)[1]
    assert first.keys() != second.keys()


@pytest.mark.parametrize("model", [SingleRequest, ComboRequest, GarmentFields, CreateProduct])
def test_a_stand_in_is_longer_than_any_text_may_be(model: Any) -> None:
    bounds = [
        int(length)
        for field in model.model_json_schema()["properties"].values()
        for option in field.get("anyOf", [field])
        if option.get("type") == "string" and (length := option.get("maxLength"))
    ]
    assert all(bound < STAND_IN_LENGTH for bound in bounds)
