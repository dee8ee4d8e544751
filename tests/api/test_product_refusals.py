"""Every way in which products say no; nothing is left behind by any of them."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from gateway.temporal import TemporalGateway
from imaging.errors import ImageError, ImageErrorCode
from runtime.settings import Settings
from tests.api.catalogue import PRODUCTS, Catalogue, in_shop, opened_catalogue, product
from tests.api.conftest import Api, OpenApi
from tests.pictures import data_uri, encoded, padded, photo

JSON = {"Content-Type": "application/json"}
UNKNOWN = "prod_" + "0" * 32


@pytest.fixture
async def catalogue(open_api: OpenApi, temporal: Client) -> AsyncIterator[Catalogue]:
    async with opened_catalogue(open_api, temporal) as opened:
        yield opened


def assert_answer(answer: httpx.Response, status: int, code: str) -> str:
    """Status, code and body; returns the sentence."""
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (status, code), answer.text
    assert answer.json().keys() == {"error"}
    sentence: str = answer.json()["error"]
    return sentence


def cursor_at(moment: str) -> str:
    """A cursor as no list gives one."""
    return base64.urlsafe_b64encode(f"{moment} {'0' * 32}".encode()).decode()


async def assert_refused(api: Api, answer: httpx.Response, status: int, code: str) -> str:
    """Besides, that there is no product and no picture."""
    sentence = assert_answer(answer, status, code)
    assert (await api.client.get(PRODUCTS, params={"status": "all"})).json()["products"] == []
    assert api.store.objects == {}
    return sentence


FIELDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "no name": ({"name": ...}, "field_invalid", "name"),
    "name null": ({"name": None}, "field_invalid", "name"),
    "name empty": ({"name": ""}, "field_invalid", "name"),
    "name too long": ({"name": "x" * 201}, "field_invalid", "name"),
    "name with a null character": ({"name": "a\0b"}, "field_invalid", "name"),
    "name not a string": ({"name": 5}, "field_invalid", "name"),
    "no category": ({"category": ...}, "field_invalid", "category"),
    "category outside the enum": ({"category": "feet"}, "field_invalid", "category"),
    "externalId empty": ({"externalId": ""}, "field_invalid", "externalId"),
    "externalId too long": ({"externalId": "x" * 129}, "field_invalid", "externalId"),
    "externalId like ours": ({"externalId": "prod_1"}, "field_invalid", "externalId"),
    "externalId like ours in capitals": ({"externalId": "PROD_1"}, "field_invalid", "externalId"),
    "externalId like a test": ({"externalId": "test_completed"}, "field_invalid", "externalId"),
    "externalId with a null character": ({"externalId": "a\0"}, "field_invalid", "externalId"),
    "garmentCategory too long": ({"garmentCategory": "x" * 65}, "field_invalid", "garmentCategory"),
    "size empty": ({"size": ""}, "field_invalid", "size"),
    "garmentState outside the enum": ({"garmentState": "half"}, "field_invalid", "garmentState"),
    "tuckState outside the enum": ({"tuckState": "maybe"}, "field_invalid", "tuckState"),
    "no picture": ({"garmentImageUrl": ...}, "field_invalid", "garmentImageUrl"),
    "picture null": ({"garmentImageUrl": None}, "field_invalid", "garmentImageUrl"),
    "picture over http": ({"garmentImageUrl": "http://shop.example/a.jpg"}, "garment_url_refused", "garmentImageUrl"),
    "picture on loopback": ({"garmentImageUrl": "https://127.0.0.1/"}, "garment_url_refused", "garmentImageUrl"),
    "picture empty": ({"garmentImageUrl": ""}, "garment_url_refused", "garmentImageUrl"),
    "picture malformed": ({"garmentImageUrl": "data:image/png;base64,@"}, "malformed_data_uri", "garmentImageUrl"),
    "back over http": ({"garmentBackImageUrl": "http://a.example/"}, "garment_url_refused", "garmentBackImageUrl"),
}


@pytest.mark.parametrize(("fields", "code", "name"), FIELDS.values(), ids=FIELDS)
async def test_400_of_a_registration(api: Api, fields: dict[str, Any], code: str, name: str) -> None:
    answer = await api.post(product(**fields), PRODUCTS)
    assert (await assert_refused(api, answer, 400, code)).startswith(f"{name}: ")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"text"', b'{"name": "\\ud800"}', b"\xff"])
async def test_what_is_no_json_object_is_400(api: Api, content: bytes) -> None:
    answer = await api.client.post(PRODUCTS, content=content, headers=JSON)
    assert answer.status_code == 400
    assert answer.json().keys() == {"error"}


@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_another_content_type_is_400(api: Api, method: str) -> None:
    path = PRODUCTS if method == "POST" else f"{PRODUCTS}/{UNKNOWN}"
    answer = await api.client.request(method, path, content=b"{}", headers={"Content-Type": "text/plain"})
    await assert_refused(api, answer, 400, "content_type_not_json")


PICTURES = {
    "one byte over 8 MiB": (padded(encoded(), 8 * 1024 * 1024 + 1), 413, "image_too_large"),
    "no picture": (b"hello, I am a text", 422, "image_not_readable"),
    "half a picture": (encoded(photo(600, 600))[:4000], 422, "image_not_readable"),
    "too small": (encoded(photo(255, 400)), 422, "image_too_small"),
    "too long": (encoded(photo(256, 1025)), 422, "image_too_elongated"),
}


@pytest.mark.parametrize("field", ["garmentImageUrl", "garmentBackImageUrl"])
@pytest.mark.parametrize(("data", "status", "code"), PICTURES.values(), ids=PICTURES)
async def test_an_inline_picture_that_cannot_be_used(api: Api, data: bytes, status: int, code: str, field: str) -> None:
    answer = await api.post(product(**{field: data_uri(data)}), PRODUCTS)
    assert (await assert_refused(api, answer, status, code)).startswith(f"{field}: ")


@pytest.mark.parametrize(("method", "path"), [("POST", PRODUCTS), ("PATCH", f"{PRODUCTS}/{UNKNOWN}")])
async def test_a_body_over_the_cap_is_413_and_one_of_two_pictures_is_not(api: Api, method: str, path: str) -> None:
    for length, status in ((24 * 1024 * 1024 + 1, 413), (64 * 1024 + 1, 400)):
        headers = {**JSON, "Content-Length": str(length)}
        assert (await api.client.request(method, path, content=b"x", headers=headers)).status_code == status


REFUSED = (422, "product_picture_refused")
ANSWERS: dict[str, tuple[bytes | ImageError, tuple[int, str], str]] = {
    "not there": (ImageError(ImageErrorCode.URL_UNREACHABLE, "404"), REFUSED, "downloaded"),
    "too large": (ImageError(ImageErrorCode.URL_TOO_LARGE, "9 MB"), REFUSED, "8 MB"),
    "a web page": (b"<html>", REFUSED, "no usable"),
    "too small": (encoded(photo(100, 300)), REFUSED, "no usable"),
    "a private host": (ImageError(ImageErrorCode.URL_REFUSED, "10.0.0.1"), (400, "garment_url_refused"), "https"),
}


@pytest.mark.parametrize("field", ["garmentImageUrl", "garmentBackImageUrl"])
@pytest.mark.parametrize(("there", "refusal", "word"), ANSWERS.values(), ids=ANSWERS)
async def test_an_address_without_a_usable_picture(
    catalogue: Catalogue, there: bytes | ImageError, refusal: tuple[int, str], word: str, field: str
) -> None:
    answer = await catalogue.post(**{field: in_shop(catalogue, there)})
    sentence = await assert_refused(catalogue.api, answer, *refusal)
    assert sentence.startswith(f"{field}: ")
    assert word in sentence
    assert "10.0.0.1" not in sentence


async def test_a_refused_change_changes_nothing(catalogue: Catalogue) -> None:
    before = await catalogue.create(size="M")
    pictures = set(catalogue.api.store.objects)
    url = in_shop(catalogue, b"<html>")
    answer = await catalogue.patch(before["id"], size=None, garmentImageUrl=url, garmentBackImageUrl=data_uri())
    assert_answer(answer, 422, "product_picture_refused")
    assert (await catalogue.get(before["id"])).json() == before
    assert set(catalogue.api.store.objects) == pictures


@pytest.mark.parametrize("field", ["name", "category", "garmentImageUrl", "status"])
async def test_what_a_product_needs_cannot_be_null(catalogue: Catalogue, field: str) -> None:
    before = await catalogue.create()
    answer = await catalogue.patch(before["id"], **{field: None})
    assert assert_answer(answer, 400, "field_invalid") == f"{field}: cannot be null."
    assert (await catalogue.get(before["id"])).json() == before


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"status": "deleted"}, "status: must be active or archived."),
        ({"externalId": "prod_x"}, "externalId: names that begin with prod_ or test_ are reserved."),
        ({"name": ""}, "name: must not be empty."),
        ({"size": 38, "name": 3}, "size: must be a string. name: must be a string."),
    ],
)
async def test_400_of_a_change(catalogue: Catalogue, fields: dict[str, Any], sentence: str) -> None:
    before = await catalogue.create()
    answer = await catalogue.patch(before["id"], **fields)
    assert assert_answer(answer, 400, "field_invalid") == sentence
    assert (await catalogue.get(before["id"])).json() == before


async def test_an_external_id_of_another_product_is_409(catalogue: Catalogue) -> None:
    await catalogue.create(externalId="SKU-1")
    other = await catalogue.create(externalId="SKU-2")
    assert_answer(await catalogue.patch(other["id"], externalId="SKU-1"), 409, "external_id_taken")
    assert (await catalogue.get(other["id"])).json() == other


@pytest.mark.parametrize("product_id", [UNKNOWN, "prod_", "nonsense", "SKU-1", "prod_" + "F" * 32, "a%00b"])
async def test_an_unknown_product_is_404(catalogue: Catalogue, product_id: str) -> None:
    await catalogue.create(externalId="SKU-1")
    for answer in (
        await catalogue.get(product_id),
        await catalogue.patch(product_id, name="x"),
        await catalogue.delete(product_id),
    ):
        assert_answer(answer, 404, "product_not_found")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"status": "deleted"}, "status"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": "MjAyNi0wMS0wMSAwMDAw"}, "cursor"),
        ({"cursor": "é"}, "cursor"),
        ({"cursor": "x" * 201}, "cursor"),
        ({"cursor": cursor_at("9999-12-31T23:59:59-23:59")}, "cursor"),
        ({"cursor": cursor_at("0001-01-01T00:00:00+23:59")}, "cursor"),
    ],
)
async def test_400_of_a_list(api: Api, query: dict[str, str], name: str) -> None:
    answer = await api.client.get(PRODUCTS, params=query)
    assert assert_answer(answer, 400, "field_invalid").startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("PUT", PRODUCTS, 405), ("POST", f"{PRODUCTS}/{UNKNOWN}", 405), ("GET", f"{PRODUCTS}/a/b", 404)],
)
async def test_other_routes(api: Api, method: str, path: str, status: int) -> None:
    assert (await api.client.request(method, path)).status_code == status


async def test_no_key_is_401(api: Api) -> None:
    api.client.headers.pop("Authorization")
    for method, path in (("GET", PRODUCTS), ("POST", PRODUCTS), ("DELETE", f"{PRODUCTS}/{UNKNOWN}")):
        assert_answer(await api.client.request(method, path), 401, "unauthorized")


async def test_temporal_away_is_503_without_waiting_for_its_client_to_give_up(
    open_api: OpenApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRYON_TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("TRYON_TEMPORAL_START_TIMEOUT_SECONDS", "0.1")
    settings = Settings()
    async with open_api(settings, await TemporalGateway.connect(settings.temporal, for_requests=True)) as api:
        async with asyncio.timeout(5):  # the client alone tries for longer
            answer = await api.post(product(), PRODUCTS)
        assert_answer(answer, 503, "storage_unavailable")
        assert int(answer.headers["Retry-After"]) > 0
        listed = await api.client.get(PRODUCTS, params={"status": "all"})
        assert listed.json()["products"] == []
        assert listed.status_code == 200, "reading needs no Temporal"


async def test_what_takes_too_long_is_given_up_for_good(
    open_api: OpenApi, idle_temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody polls there; once a worker does, it must not register what the caller was refused."""
    monkeypatch.setenv("TRYON_API_PRODUCT_TIMEOUT_SECONDS", "0.3")
    async with open_api(Settings(), idle_temporal) as api:
        assert_answer(await api.post(product(name="Too late"), PRODUCTS), 503, "busy")
    query = f"TryOnAccount = '{api.caller.account_id}'"
    async with asyncio.timeout(10):
        while not (runs := [run async for run in idle_temporal.list_workflows(query)]):
            await asyncio.sleep(0.05)
    history = await idle_temporal.get_workflow_handle(runs[0].id).fetch_history()
    assert any(event.HasField("workflow_execution_cancel_requested_event_attributes") for event in history.events)
