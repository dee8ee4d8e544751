"""Registering, changing, finding and archiving products over HTTP, with a real workflow behind it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import pytest
from PIL import Image
from temporalio.client import Client

from domain.access.keys import KeyDigester
from domain.products import parse_public_id
from domain.tables import Product
from tests.api.catalogue import PRODUCTS, Catalogue, in_shop, opened_catalogue, product
from tests.api.conftest import OpenApi
from tests.factories import create_caller
from tests.pictures import data_uri, encoded, photo

WIRE_NAMES = [
    "id",
    "externalId",
    "name",
    "category",
    "garmentCategory",
    "garmentState",
    "tuckState",
    "size",
    "hasBackImage",
    "status",
    "revision",
    "createdAt",
    "updatedAt",
]


@pytest.fixture
async def catalogue(open_api: OpenApi, temporal: Client) -> AsyncIterator[Catalogue]:
    async with opened_catalogue(open_api, temporal) as opened:
        yield opened


async def row(catalogue: Catalogue, product_id: str) -> Product:
    with catalogue.api.parts.database.reading() as session:
        return session.get_one(Product, parse_public_id(product_id))


async def test_a_product_is_registered_with_everything_it_can_have(catalogue: Catalogue) -> None:
    answer = await catalogue.post(
        externalId="SKU-1",
        garmentCategory="t-shirt",
        garmentImageUrl=in_shop(catalogue, encoded(photo(3000, 1500))),
        garmentBackImageUrl=data_uri(),
        garmentState="closed",
        tuckState="untucked",
        size="M",
    )
    assert answer.status_code == 201
    body = answer.json()
    assert list(body) == WIRE_NAMES
    assert (body["externalId"], body["garmentCategory"], body["size"]) == ("SKU-1", "t-shirt", "M")
    assert (body["garmentState"], body["tuckState"], body["hasBackImage"]) == ("closed", "untucked", True)
    assert (body["status"], body["revision"], body["createdAt"]) == ("active", 1, body["updatedAt"])
    assert datetime.fromisoformat(body["createdAt"]).utcoffset() is not None
    assert answer.headers["Location"] == f"{PRODUCTS}/{body['id']}"
    assert (await catalogue.get(body["id"])).json() == body
    stored = await row(catalogue, body["id"])
    assert stored.back is not None
    assert set(catalogue.api.store.objects) == {stored.front["key"], stored.back["key"]}, "uploads are gone"
    assert Image.open(io.BytesIO(await catalogue.api.store.get(stored.front["key"]))).size == (1536, 768)


async def test_a_product_has_null_for_what_is_not_set(catalogue: Catalogue) -> None:
    body = await catalogue.create(size=None)
    empty = {name for name, value in body.items() if value is None}
    assert empty == {"externalId", "garmentCategory", "garmentState", "tuckState", "size"}
    assert body["hasBackImage"] is False


async def test_the_same_external_id_updates_and_leaves_nothing_of_before(catalogue: Catalogue) -> None:
    first = await catalogue.create(externalId="SKU-1", size="M", garmentBackImageUrl=data_uri())
    answer = await catalogue.post(externalId="SKU-1", name="Blouse", tuckState="tucked")
    body = answer.json()
    assert (answer.status_code, body["id"], body["revision"]) == (200, first["id"], 2)
    assert (body["name"], body["tuckState"], body["size"], body["hasBackImage"]) == ("Blouse", "tucked", None, False)


async def test_the_same_again_is_the_same_revision_and_picture(catalogue: Catalogue) -> None:
    first = await catalogue.create(externalId="SKU-1")
    picture = (await row(catalogue, first["id"])).front
    answer = await catalogue.post(externalId="SKU-1")
    assert (answer.status_code, answer.json()) == (200, first)
    assert (await row(catalogue, first["id"])).front == picture
    assert list(catalogue.api.store.objects) == [picture["key"]], "the second copy is not kept"


async def test_two_posts_of_one_external_id_at_once_are_one_product(catalogue: Catalogue) -> None:
    answers = await asyncio.gather(*(catalogue.post(externalId="SKU-1", size=str(size)) for size in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 200, 201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    (only,) = (await catalogue.list()).json()["products"]
    assert only["revision"] == 5
    stored = await row(catalogue, only["id"])
    assert stored.front["key"] in catalogue.api.store.objects


async def test_unknown_fields_are_ignored_and_named(catalogue: Catalogue) -> None:
    answer = await catalogue.post(colour="red", garment_category="shirt", status="archived")
    assert (answer.status_code, answer.headers["X-Ignored-Fields"]) == (201, "colour, garment_category, status")
    assert (answer.json()["garmentCategory"], answer.json()["status"]) == (None, "active")


async def test_a_change_under_an_attributes_name_is_ignored_too(catalogue: Catalogue) -> None:
    before = await catalogue.create(**FULL)
    answer = await catalogue.patch(before["id"], colour=None, external_id="SKU-2", garment_image_url=None, tuck_state=1)
    assert (answer.status_code, answer.json()) == (200, before)
    assert answer.headers["X-Ignored-Fields"] == "colour, external_id, garment_image_url, tuck_state"


@pytest.mark.parametrize("text", ["куртка 🧥", "x" * 64, "'; DROP TABLE product; --", "  "])
async def test_free_text_is_kept_whatever_it_holds(catalogue: Catalogue, text: str) -> None:
    body = await catalogue.create(externalId=text, name=text, garmentCategory=text)
    assert (await catalogue.get(body["id"])).json() == body
    assert (body["externalId"], body["name"], body["garmentCategory"]) == (text, text, text)


FULL = {
    "externalId": "SKU-1",
    "garmentCategory": "shirt",
    "garmentBackImageUrl": data_uri(encoded(photo(seed=2))),
    "garmentState": "open",
    "tuckState": "tucked",
    "size": "M",
}
CHANGES: dict[str, Any] = {
    "externalId": "SKU-2",
    "name": "Blouse",
    "category": "full_body",
    "garmentCategory": "blouse",
    "garmentState": "closed",
    "tuckState": "untucked",
    "size": "W32/L34",
    "status": "archived",
}


@pytest.mark.parametrize(("name", "value"), CHANGES.items(), ids=CHANGES)
async def test_a_patch_changes_one_field_and_leaves_the_rest(catalogue: Catalogue, name: str, value: str) -> None:
    before = await catalogue.create(**FULL)
    answer = await catalogue.patch(before["id"], **{name: value})
    after = answer.json()
    assert answer.status_code == 200
    assert after == {**before, name: value, "revision": 2, "updatedAt": after["updatedAt"]}
    assert after["updatedAt"] > before["updatedAt"]
    again = await catalogue.patch(before["id"], **{name: value})
    assert again.json() == after, "nothing changed, so nothing counts up"


@pytest.mark.parametrize("name", [name for name in FULL if name != "garmentBackImageUrl"])
async def test_null_empties_an_optional_field(catalogue: Catalogue, name: str) -> None:
    before = await catalogue.create(**FULL)
    after = (await catalogue.patch(before["id"], **{name: None})).json()
    assert after == {**before, name: None, "revision": 2, "updatedAt": after["updatedAt"]}


async def test_null_takes_the_back_picture_away(catalogue: Catalogue) -> None:
    before = await catalogue.create(**FULL)
    after = (await catalogue.patch(before["id"], garmentBackImageUrl=None)).json()
    assert (after["hasBackImage"], after["revision"]) == (False, 2)
    assert (await row(catalogue, before["id"])).back is None


async def test_an_empty_patch_changes_nothing(catalogue: Catalogue) -> None:
    before = await catalogue.create(**FULL)
    answer = await catalogue.patch(before["id"])
    assert (answer.status_code, answer.json()) == (200, before)


async def test_a_new_picture_lies_beside_the_old_one(catalogue: Catalogue) -> None:
    """Jobs that were accepted before the change refer to the old one."""
    body = await catalogue.create()
    old = await row(catalogue, body["id"])
    answer = await catalogue.patch(body["id"], garmentImageUrl=in_shop(catalogue, encoded(photo(seed=3))))
    assert answer.json()["revision"] == 2
    new = await row(catalogue, body["id"])
    assert new.front["key"] != old.front["key"]
    assert set(catalogue.api.store.objects) == {old.front["key"], new.front["key"]}


async def test_archiving_hides_a_product_and_can_be_taken_back(catalogue: Catalogue) -> None:
    body = await catalogue.create()
    for _ in range(2):
        assert (await catalogue.delete(body["id"])).status_code == 204
    archived = (await catalogue.get(body["id"])).json()
    assert (archived["status"], archived["revision"]) == ("archived", 2)
    assert await catalogue.ids() == []
    assert await catalogue.ids(status="archived") == await catalogue.ids(status="all") == [body["id"]]
    assert (await catalogue.patch(body["id"], status="active")).json()["status"] == "active"
    assert await catalogue.ids() == [body["id"]]


async def test_pages_follow_one_another_to_the_end(catalogue: Catalogue) -> None:
    made = [(await catalogue.create(name=f"Shirt {number}"))["id"] for number in range(5)]
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    for expected in (2, 2, 1):
        page = (await catalogue.list(limit=2, **cursor)).json()
        assert page.keys() == {"products", "nextCursor"}
        assert len(page["products"]) == expected
        seen += [one["id"] for one in page["products"]]
        cursor = {"cursor": page["nextCursor"]}
    assert cursor == {"cursor": None}
    assert seen == made[::-1]


async def test_another_account_sees_and_touches_nothing(catalogue: Catalogue, digester: KeyDigester) -> None:
    body = await catalogue.create(externalId="SKU-1")
    stranger = await create_caller(catalogue.api.parts.database, digester)
    catalogue.api.client.headers.update(stranger.headers)
    assert await catalogue.ids(status="all") == []
    for answer in (
        await catalogue.get(body["id"]),
        await catalogue.patch(body["id"], name="Mine"),
        await catalogue.delete(body["id"]),
    ):
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (404, "product_not_found")
        assert answer.json() == {"error": "No product was found for this productId."}
    theirs = await catalogue.create(externalId="SKU-1")
    assert theirs["id"] != body["id"]
    catalogue.api.client.headers.update(catalogue.api.caller.headers)
    assert (await catalogue.get(body["id"])).json() == body


async def test_two_keys_of_one_account_share_its_products(catalogue: Catalogue, digester: KeyDigester) -> None:
    from domain.access.keys import create_key

    body = await catalogue.create()
    _, key = await catalogue.api.parts.database.write(create_key, digester, account_id=catalogue.api.caller.account_id)
    catalogue.api.client.headers["Authorization"] = f"Bearer {key}"
    assert (await catalogue.get(body["id"])).json() == body


async def test_the_document_describes_the_routes(catalogue: Catalogue) -> None:
    document = (await catalogue.api.client.get("/openapi.json")).json()
    operations = {one["operationId"]: one for path in document["paths"].values() for one in path.values()}
    names = ("createProduct", "listProducts", "getProduct", "updateProduct", "archiveProduct")
    for name in names:
        assert operations[name]["tags"] == ["products"]
        assert operations[name]["security"] == [{"apiKey": []}]
        assert {"401", "403", "429", "500", "503"} <= operations[name]["responses"].keys()
    schemas = document["components"]["schemas"]
    assert list(schemas["ProductBody"]["properties"]) == WIRE_NAMES
    assert set(schemas["CreateProduct"]["required"]) == {"name", "category", "garmentImageUrl"}
    assert "required" not in schemas["UpdateProduct"]
    assert product().keys() <= schemas["CreateProduct"]["properties"].keys()
