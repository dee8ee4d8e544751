"""A product in a try-on, and the values of the request that stand in its place, field by field."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import Any

import pytest
from pydantic.alias_generators import to_snake

from api.tryon.accepting import read_request
from api.tryon.schemas import ComboRequest, SingleRequest
from domain.access.keys import KeyDigester
from domain.errors import TryOnError
from domain.products import archive_product, change_product, public_id, register_product
from domain.tables import Product
from imaging.limits import ImageLimits
from intake.job import Picture, SentGarment, resolve_products
from runtime.database import Database
from tests.api.conftest import combo, single
from tests.factories import Caller, create_caller
from tests.pictures import data_uri, encoded
from tests.workflows.fakes import ref
from workflows.contracts import GarmentHints, GarmentSource, ObjectRef, ProductRef

FRONT, BACK = ref("products/a/r/front.png"), ref("products/a/r/back.png")
NOT_SENT = {"garmentImageUrl": ..., "category": ...}
URL = "https://shop.example/other.jpg"


@pytest.fixture
async def registered(database: Database, caller: Caller) -> Product:
    """A product with everything that one can have, at its second revision."""
    values = {
        "external_id": "SKU-1",
        "name": "Shirt",
        "category": "lower_body",
        "front": FRONT.model_dump(mode="json"),
        "back": BACK.model_dump(mode="json"),
        "garment_category": "jeans",
        "garment_state": "open",
        "tuck_state": "tucked",
        "size": "M",
    }
    with database.transaction() as session:
        saved = register_product(session, account_id=caller.account_id, new_id=uuid.uuid4(), values=values)
        change_product(session, account_id=caller.account_id, product_id=saved.product.id, values={"name": "Blouse"})
        return saved.product


async def resolve(database: Database, caller: Caller, body: dict[str, Any], **options: Any) -> list[SentGarment]:
    model = ComboRequest if "garments" in body else SingleRequest
    read = read_request(json.dumps(body).encode(), model, ImageLimits())
    with database.reading() as session:
        return resolve_products(session, caller.account_id, read.garments, **options)


async def resolved(database: Database, caller: Caller, **fields: Any) -> SentGarment:
    body = single(**{**NOT_SENT, "productId": "SKU-1", **fields})
    (garment,) = await resolve(database, caller, body)
    return garment


AS_REGISTERED = GarmentHints(garment_category="jeans", size="M", garment_state="open", tuck_state="tucked")


async def test_a_product_brings_everything_with_it(database: Database, caller: Caller, registered: Product) -> None:
    garment = await resolved(database, caller)
    assert garment == SentGarment(
        product_id="SKU-1",
        category="lower_body",
        hints=AS_REGISTERED,
        front=FRONT,
        back=BACK,
        product=ProductRef(id=public_id(registered.id), revision=2),
    )


async def test_our_id_names_the_same_product(database: Database, caller: Caller, registered: Product) -> None:
    by_id = await resolved(database, caller, productId=public_id(registered.id))
    assert replace(by_id, product_id="SKU-1") == await resolved(database, caller)


HINTS = [
    ("garmentCategory", "skirt"),
    ("garmentCategory", ""),
    ("size", "XL"),
    ("garmentState", "closed"),
    ("tuckState", "untucked"),
    ("customerSize", "L"),
    ("viewAngle", "back"),
]


@pytest.mark.parametrize(("field", "value"), HINTS)
async def test_a_hint_of_the_request_replaces_that_one(
    database: Database, caller: Caller, registered: Product, field: str, value: str
) -> None:
    garment = await resolved(database, caller, **{field: value})
    assert garment.hints == AS_REGISTERED.model_copy(update={to_snake(field): value})
    assert (garment.category, garment.front, garment.back) == ("lower_body", FRONT, BACK)


async def test_a_category_of_the_request_replaces_that_alone(
    database: Database, caller: Caller, registered: Product
) -> None:
    garment = await resolved(database, caller, category="upper_body")
    assert (garment.category, garment.hints, garment.front, garment.back) == (
        "upper_body",
        AS_REGISTERED,
        FRONT,
        BACK,
    )


@pytest.mark.parametrize(
    ("field", "sides"),
    [("garmentImageUrl", (URL, BACK)), ("garmentBackImageUrl", (FRONT, URL))],
)
async def test_a_picture_of_the_request_replaces_that_side_alone(
    database: Database, caller: Caller, registered: Product, field: str, sides: tuple[Any, Any]
) -> None:
    garment = await resolved(database, caller, **{field: URL})
    assert (garment.front, garment.back) == sides
    assert (garment.category, garment.hints) == ("lower_body", AS_REGISTERED)
    assert garment.product == ProductRef(id=public_id(registered.id), revision=2)


async def test_an_inline_picture_replaces_one_too(database: Database, caller: Caller, registered: Product) -> None:
    garment = await resolved(database, caller, garmentImageUrl=data_uri())
    assert garment.front == Picture("garmentImageUrl", encoded())
    assert garment.back == BACK


OVERRIDABLE = [
    "garmentImageUrl",
    "garmentBackImageUrl",
    "category",
    "garmentCategory",
    "size",
    "garmentState",
    "tuckState",
]


@pytest.mark.parametrize("field", OVERRIDABLE)
async def test_null_does_not_erase(database: Database, caller: Caller, registered: Product, field: str) -> None:
    assert await resolved(database, caller, **{field: None}) == await resolved(database, caller)


async def test_an_override_is_for_one_request_only(database: Database, caller: Caller, registered: Product) -> None:
    before = await resolved(database, caller)
    await resolved(database, caller, category="full_body", garmentImageUrl=URL, size="S")
    assert await resolved(database, caller) == before


async def test_a_garment_without_a_product_is_as_it_was_sent(database: Database, caller: Caller) -> None:
    (garment,) = await resolve(database, caller, single(size="S", garmentImageUrl=URL))
    assert garment == SentGarment(None, "upper_body", GarmentHints(size="S"), URL, None)


async def test_a_combo_of_products_and_others_keeps_its_order(
    database: Database, caller: Caller, registered: Product
) -> None:
    first, second = await resolve(
        database, caller, combo({"garmentImageUrl": URL, "category": "upper_body"}, {"productId": "SKU-1"})
    )
    assert (first.product, first.front) == (None, URL)
    assert (second.category, second.front) == ("lower_body", FRONT)


@pytest.mark.parametrize("name", ["SKU-2", "prod_" + "0" * 32, "", "test_completed", "a\0b"])
async def test_an_unknown_product_is_not_found(database: Database, caller: Caller, name: str) -> None:
    with pytest.raises(TryOnError) as caught:
        await resolved(database, caller, productId=name)
    assert caught.value.code == "product_not_found"
    assert caught.value.sentence.startswith("productId: ")


async def test_another_accounts_and_an_archived_product_are_not_found(
    database: Database, caller: Caller, registered: Product, digester: KeyDigester
) -> None:
    with pytest.raises(TryOnError):
        await resolved(database, await create_caller(database, digester))
    await database.write(archive_product, account_id=caller.account_id, product_id=registered.id)
    with pytest.raises(TryOnError):
        await resolved(database, caller)


async def test_the_sentence_names_the_garment(database: Database, caller: Caller, registered: Product) -> None:
    with pytest.raises(TryOnError) as caught:
        await resolve(database, caller, combo({"productId": "SKU-1"}, {"productId": "SKU-2"}))
    assert caught.value.sentence.startswith("garments[1].productId: ")


async def test_a_stand_in_is_not_looked_up(database: Database, caller: Caller) -> None:
    (garment,) = await resolve(
        database, caller, single(**NOT_SENT, productId="test_completed"), stand_ins={"test_completed"}
    )
    assert garment.source(0, {}) == GarmentSource(category="upper_body")


@pytest.mark.parametrize(
    ("side", "expected"),
    [
        (Picture("garmentImageUrl", b""), {"picture": ref("upload")}),
        (URL, {"picture_url": URL}),
        (FRONT, {"picture": FRONT}),
    ],
)
def test_a_workflow_is_told_where_each_side_is(side: Picture | str | ObjectRef, expected: dict[str, Any]) -> None:
    product = ProductRef(id="prod_1", revision=3)
    garment = SentGarment(None, "full_body", GarmentHints(size="S"), side, side, product=product)
    uploads = {"garmentImageUrl": ref("upload")}
    back = {f"back_{name}": value for name, value in expected.items()}
    source = garment.source(2, uploads)
    assert source == GarmentSource(
        index=2, category="full_body", hints=GarmentHints(size="S"), product=product, **expected, **back
    )
    assert source.product == product
