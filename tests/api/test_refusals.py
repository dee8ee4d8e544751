"""Every row of the table of 400, 413, 422 and 404, sent over HTTP; nothing is left behind by any of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import func, select

from domain.errors import CATALOGUE, ErrorEntry, say_limits, sentence_of
from domain.tables import Job
from imaging.limits import LOGO_LIMITS, MIB, PHOTO_LIMITS
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi, combo, single
from tests.pictures import data_uri, encoded, padded, photo, png_claiming

TRYON, COMBO = "/api/v1/tryon", "/api/v1/tryon/combo"
GOOD = {"garmentImageUrl": data_uri(), "category": "upper_body"}
GIF = encoded(format="GIF")
ANIMATED = encoded(format="WEBP", save_all=True, append_images=[photo(seed=1)], duration=100)


async def assert_refused(api: Api, answer: Any, status: int, code: str) -> str:
    """Status, code, body, and that nothing was begun; returns the sentence."""
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (status, code)
    assert answer.json().keys() == {"error"}
    with api.parts.database.reading() as session:
        begun = session.scalar(select(func.count(Job.id)).where(Job.account_id == api.caller.account_id))
    assert begun == 0
    assert api.store.objects == {}
    sentence: str = answer.json()["error"]
    return sentence


FIELDS = {
    "photo missing": (single(customerPhotoBase64=...), "field_invalid"),
    "photo not a string": (single(customerPhotoBase64=5), "field_invalid"),
    "photo null": (single(customerPhotoBase64=None), "field_invalid"),
    "photo is a URL": (single(customerPhotoBase64="https://example.com/me.jpg"), "malformed_data_uri"),
    "photo without base64": (single(customerPhotoBase64="data:image/jpeg,abc"), "malformed_data_uri"),
    "photo of another type": (single(customerPhotoBase64="data:image/gif;base64,R0lGOD=="), "malformed_data_uri"),
    "base64 broken": (single(customerPhotoBase64="data:image/jpeg;base64,a*b="), "malformed_data_uri"),
    "garment missing": (single(garmentImageUrl=...), "field_invalid"),
    "garment malformed data URI": (single(garmentImageUrl="data:image/png;base64,@@"), "malformed_data_uri"),
    "garment over http": (single(garmentImageUrl="http://shop.example/a.jpg"), "garment_url_refused"),
    "garment is a file": (single(garmentImageUrl="file:///etc/passwd"), "garment_url_refused"),
    "garment on loopback": (single(garmentImageUrl="https://127.0.0.1/a.jpg"), "garment_url_refused"),
    "garment on localhost": (single(garmentImageUrl="https://localhost/a.jpg"), "garment_url_refused"),
    "garment on a private host": (single(garmentImageUrl="https://10.1.2.3/a.jpg"), "garment_url_refused"),
    "garment at a metadata service": (single(garmentImageUrl="https://169.254.169.254/"), "garment_url_refused"),
    "garment on private IPv6": (single(garmentImageUrl="https://[fd00::1]/a.jpg"), "garment_url_refused"),
    "garment on a decimal host": (single(garmentImageUrl="https://2130706433/a.jpg"), "garment_url_refused"),
    "back photo over http": (single(garmentBackImageUrl="http://shop.example/b.jpg"), "garment_url_refused"),
    "category missing": (single(category=...), "field_invalid"),
    "category outside the enum": (single(category="feet"), "field_invalid"),
    "category not a string": (single(category=["upper_body"]), "field_invalid"),
    "garmentState outside the enum": (single(garmentState="half"), "field_invalid"),
    "tuckState outside the enum": (single(tuckState="maybe"), "field_invalid"),
    "viewAngle outside the enum": (single(viewAngle="top"), "field_invalid"),
    "size empty": (single(size=""), "field_invalid"),
    "customerSize too long": (single(customerSize="X" * 33), "field_invalid"),
    "garmentCategory too long": (single(garmentCategory="x" * 65), "field_invalid"),
    "size not a string": (single(size=38), "field_invalid"),
    "an array": ([single()], "field_invalid"),
    "a string": ("hello", "field_invalid"),
    "null": (None, "field_invalid"),
}


@pytest.mark.parametrize(("body", "code"), FIELDS.values(), ids=FIELDS)
async def test_400_of_a_single(api: Api, body: Any, code: str) -> None:
    await assert_refused(api, await api.post(body), 400, code)


COMBOS = {
    "no garments": (combo(garments=...), "field_invalid"),
    "garments not an array": (combo(garments=GOOD), "field_invalid"),
    "one garment": (combo(GOOD), "field_invalid"),
    "five garments": (combo(*[GOOD] * 5), "field_invalid"),
    "a garment that is no object": (combo(garments=[GOOD, "shirt"]), "field_invalid"),
    "second without category": (combo(GOOD, {"garmentImageUrl": data_uri()}), "field_invalid"),
    "second with a private URL": (
        combo(GOOD, {"garmentImageUrl": "https://192.168.0.1/", "category": "lower_body"}),
        "garment_url_refused",
    ),
}


@pytest.mark.parametrize(("body", "code"), COMBOS.values(), ids=COMBOS)
async def test_400_of_a_combo(api: Api, body: dict[str, Any], code: str) -> None:
    body = {name: value for name, value in body.items() if value is not ...}
    await assert_refused(api, await api.post(body, COMBO), 400, code)


async def test_the_sentence_names_the_field(api: Api) -> None:
    sentence = await assert_refused(
        api, await api.post(combo(GOOD, {**GOOD, "category": "feet"}), COMBO), 400, "field_invalid"
    )
    assert sentence.startswith("garments[1].category")
    assert "lower_body" in sentence


EVERYTHING = {
    "an empty single": (
        {},
        TRYON,
        (
            "garmentImageUrl: required unless productId is given. category: required unless productId is given. "
            "customerPhotoBase64: required."
        ),
    ),
    "shapes of a single": (
        {**GOOD, "customerPhotoBase64": "https://example.com/me.jpg", "category": "tops", "size": "x" * 33},
        TRYON,
        (
            "category: must be upper_body, lower_body or full_body. size: must have at most 32 characters. "
            "customerPhotoBase64: must be a data: URI; the photo is always sent directly."
        ),
    ),
    "one garment": (
        {"customerPhotoBase64": data_uri(), "garments": [GOOD]},
        COMBO,
        "garments: send two to four; for one garment use POST /api/v1/tryon.",
    ),
    "addresses of a combo": (
        combo({**GOOD, "garmentImageUrl": "http://shop.example/a.jpg"}, {**GOOD, "garmentBackImageUrl": "data:,x"}),
        COMBO,
        (
            "garments[0].garmentImageUrl: A garment URL must be a public https:// address. "
            "garments[1].garmentBackImageUrl: A picture must be a base64 data: URI of type image/jpeg, image/png or "
            "image/webp."
        ),
    ),
}


@pytest.mark.parametrize(("body", "path", "sentence"), EVERYTHING.values(), ids=EVERYTHING)
async def test_all_wrong_fields_are_named_at_once(api: Api, body: dict[str, Any], path: str, sentence: str) -> None:
    assert await assert_refused(api, await api.post(body, path), 400, "field_invalid") == sentence


async def test_all_pictures_that_cannot_be_used_are_named_at_once(api: Api) -> None:
    answer = await api.post(single(customerPhotoBase64=data_uri(b"none"), garmentImageUrl=data_uri(GIF)))
    assert await assert_refused(api, answer, 422, "image_not_readable") == (
        "customerPhotoBase64: A picture could not be read as JPEG, PNG or WebP. "
        "garmentImageUrl: A picture could not be read as JPEG, PNG or WebP."
    )


SHOPPERS = [entry for entry in CATALOGUE.values() if entry.status in {None, 402, 429}]
"""Refusals that a shop passes on to the person before the screen."""


@pytest.mark.parametrize("entry", SHOPPERS, ids=[entry.sentence for entry in SHOPPERS])
def test_a_shopper_is_asked_nothing_that_only_the_shop_can_do(entry: ErrorEntry) -> None:
    asked = re.search(r"\b(plan|packs?|buy|top-?ups?|account|field|use a picture)\b", entry.sentence, re.IGNORECASE)
    assert asked is None, entry.sentence


async def test_a_picture_is_never_repeated_in_a_sentence(api: Api) -> None:
    answer = await api.post(single(category=data_uri()))
    assert len(await assert_refused(api, answer, 400, "field_invalid")) < 200


@pytest.mark.parametrize("content", [b"", b"{", b"{'a': 1}", b"\xff\xfe", b'{"a": NaN}', b"[" * 5000])
async def test_what_is_not_json_is_400(api: Api, content: bytes) -> None:
    answer = await api.client.post(TRYON, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json().keys() == {"error"}


@pytest.mark.parametrize("media_type", [None, "text/plain", "multipart/form-data; boundary=x", "application/xml"])
async def test_another_content_type_is_400(api: Api, media_type: str | None) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    answer = await api.client.post(TRYON, content=b"{}", headers=headers)
    await assert_refused(api, answer, 400, "content_type_not_json")


@pytest.mark.parametrize("field", ["customerPhotoBase64", "garmentImageUrl", "garmentBackImageUrl"])
async def test_one_byte_over_8_mib_is_413(api: Api, field: str) -> None:
    picture = padded(encoded(), 8 * 1024 * 1024 + 1)
    sentence = await assert_refused(api, await api.post(single(**{field: data_uri(picture)})), 413, "image_too_large")
    assert sentence.startswith(field)


@pytest.mark.parametrize(("path", "cap"), [(TRYON, 36 * 1024 * 1024), (COMBO, 100 * 1024 * 1024)])
async def test_a_body_over_the_cap_is_413_by_its_declared_length(api: Api, path: str, cap: int) -> None:
    answer = await api.client.post(
        path, content=b"{}", headers={"Content-Type": "application/json", "Content-Length": str(cap + 1)}
    )
    await assert_refused(api, answer, 413, "body_too_large")


async def test_a_body_over_the_cap_is_413_while_it_streams(open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_IMAGE_MAX_BYTES", "100000")
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while sent < 10_000_000:
            sent += 10_000
            yield b"x" * 10_000

    async with open_api(Settings()) as api:
        answer = await api.client.post(TRYON, content=endless(), headers={"Content-Type": "application/json"})
        await assert_refused(api, answer, 413, "body_too_large")


@pytest.fixture
def five_megabytes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Another limit of photos, and everything else as it comes."""
    monkeypatch.setenv("TRYON_IMAGE_MAX_BYTES", str(5 * MIB))
    monkeypatch.setenv("TRYON_IMAGE_MIN_SIDE", "300")
    yield Settings()
    say_limits(PHOTO_LIMITS, LOGO_LIMITS)


async def test_one_limit_is_changed_and_caps_and_sentences_follow(five_megabytes: Settings, open_api: OpenApi) -> None:
    async with open_api(five_megabytes) as api:
        large, small = padded(encoded(), 5 * MIB + 1), encoded(photo(299, 400))
        answer = await api.client.post(TRYON, json=single(customerPhotoBase64=data_uri(large)))
        said = await assert_refused(api, answer, 413, "image_too_large")
        assert said == "customerPhotoBase64: A picture is larger than 5 MB."
        answer = await api.client.post(TRYON, json=single(customerPhotoBase64=data_uri(small)))
        assert "both sides need at least 300 pixels" in answer.json()["error"]
        for path, cap in ((TRYON, 45 * MIB // 2), (COMBO, 125 * MIB // 2)):
            for length, status in ((cap, 400), (cap + 1, 413)):
                head = {"Content-Type": "application/json", "Content-Length": str(length)}
                assert (await api.client.post(path, content=b"{}", headers=head)).status_code == status
        document = (await api.client.get("/openapi.json")).text
        assert "larger than 5 MB" in document
        assert "at most 5 MB" in document
        assert "8 MB" not in document
        assert "{photo" not in document
    assert sentence_of("garment_url_too_large") == "The garment picture is larger than 5 MB."


PICTURES = {
    "not a picture": (b"hello, I am a text and no picture at all", "image_not_readable"),
    "empty": (b"", "image_not_readable"),
    "a GIF called JPEG": (GIF, "image_not_readable"),
    "a BMP": (encoded(format="BMP"), "image_not_readable"),
    "a TIFF": (encoded(format="TIFF"), "image_not_readable"),
    "half a JPEG": (encoded(photo(600, 600))[:4000], "image_not_readable"),
    "half a PNG": (encoded(format="PNG")[:4000], "image_not_readable"),
    "half a WebP": (encoded(format="WEBP")[:2000], "image_not_readable"),
    "animated": (ANIMATED, "image_animated"),
    "255 pixels": (encoded(photo(255, 400)), "image_too_small"),
    "a bomb": (png_claiming(6000, 6000), "image_not_readable"),
    "beyond 4:1": (encoded(photo(256, 1025)), "image_too_elongated"),
    "over 50 megapixels": (encoded(photo(7072, 7072), quality=20), "image_too_many_pixels"),
}


@pytest.mark.parametrize(("data", "code"), PICTURES.values(), ids=PICTURES)
async def test_422_of_a_picture(api: Api, data: bytes, code: str) -> None:
    answer = await api.post(single(customerPhotoBase64=data_uri(data)))
    await assert_refused(api, answer, 422, code)


async def test_a_broken_garment_is_422_and_named(api: Api) -> None:
    body = combo(GOOD, {**GOOD, "garmentImageUrl": data_uri(GIF)})
    sentence = await assert_refused(api, await api.post(body, COMBO), 422, "image_not_readable")
    assert sentence.startswith("garments[1].garmentImageUrl")


async def test_an_unknown_product_is_404(api: Api) -> None:
    body = {"customerPhotoBase64": data_uri(), "productId": "no-such-product"}
    await assert_refused(api, await api.post(body), 404, "product_not_found")


async def test_a_product_is_looked_up_before_pictures_are_judged(api: Api) -> None:
    body = single(productId="no-such-product", customerPhotoBase64=data_uri(GIF))
    await assert_refused(api, await api.post(body), 404, "product_not_found")


async def test_fields_are_judged_before_the_product(api: Api) -> None:
    body = single(productId="no-such-product", customerPhotoBase64="data:image/png;base64,@")
    await assert_refused(api, await api.post(body), 400, "malformed_data_uri")


async def test_a_store_that_is_away_is_503_and_reserves_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.object_store import ObjectStoreUnavailableError

    async def refuse(*_: object) -> None:
        raise ObjectStoreUnavailableError("down")

    monkeypatch.setattr(api.store, "put", refuse)
    answer = await api.post(single())
    assert answer.headers["Retry-After"]
    await assert_refused(api, answer, 503, "storage_unavailable")


async def test_an_unexpected_fault_is_500_without_internals(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def explode(*_: object) -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr(api.store, "put", explode)
    answer = await api.post(single())
    assert await assert_refused(api, answer, 500, "internal") == CATALOGUE["internal"].sentence
    assert answer.headers["X-Request-Id"]
