from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain import products
from domain.access.keys import KeyDigester
from domain.errors import TryOnError
from domain.products import (
    Saved,
    began_at,
    change_product,
    find_for_tryon,
    list_products,
    new_registration_id,
    product_id_of,
    public_id,
    register_product,
)
from domain.tables import Product
from runtime.database import Database
from tests.factories import Caller, create_caller


def picture(content: str, key: str | None = None) -> dict[str, Any]:
    """A reference such as rows hold, to a picture with this content."""
    return {"bucket": "tryon", "key": key or f"products/{uuid.uuid4()}.png", "sha256": content, "size": 1}


def garment(**values: Any) -> dict[str, Any]:
    return {"name": "Shirt", "category": "upper_body", "front": picture("front"), **values}


async def register(database: Database, caller: Caller, new_id: uuid.UUID | None = None, **values: Any) -> Saved:
    return await database.write(
        register_product, account_id=caller.account_id, new_id=new_id or uuid.uuid4(), values=garment(**values)
    )


async def change(database: Database, caller: Caller, product_id: uuid.UUID, **values: Any) -> Saved:
    return await database.write(change_product, account_id=caller.account_id, product_id=product_id, values=values)


async def named(database: Database, caller: Caller, name: str) -> Product | None:
    return await database.read(find_for_tryon, account_id=caller.account_id, product_id_text=name)


async def listed(database: Database, caller: Caller, **options: Any) -> list[Product]:
    with database.reading() as session:
        return list(list_products(session, account_id=caller.account_id, **{"limit": 100, **options}))


async def test_a_new_product_is_active_and_at_its_first_revision(database: Database, caller: Caller) -> None:
    saved = await register(database, caller, external_id="SKU-1")
    assert (saved.created, saved.changed) == (True, True)
    assert (saved.product.status, saved.product.revision, saved.product.size) == ("active", 1, None)
    assert saved.product.created_at == saved.product.updated_at


async def test_the_same_external_id_changes_the_product_that_has_it(database: Database, caller: Caller) -> None:
    first = await register(database, caller, external_id="SKU-1")
    second = await register(database, caller, external_id="SKU-1", name="Blouse", size="M")
    assert (second.created, second.changed, second.product.id) == (False, True, first.product.id)
    assert (second.product.name, second.product.size, second.product.revision) == ("Blouse", "M", 2)
    assert second.product.updated_at > second.product.created_at


async def test_registering_the_same_again_changes_nothing(database: Database, caller: Caller) -> None:
    first = await register(database, caller, external_id="SKU-1", back=picture("back"))
    again = await register(database, caller, external_id="SKU-1", back=picture("back"))
    assert (again.created, again.changed, again.product.revision) == (False, False, 1)
    assert again.product.front["key"] == first.product.front["key"], "the copy that is used already stays"
    assert again.product.updated_at == first.product.updated_at


async def test_without_an_external_id_each_registration_is_a_product(database: Database, caller: Caller) -> None:
    assert (await register(database, caller)).product.id != (await register(database, caller)).product.id


async def test_a_step_that_runs_twice_registers_once(database: Database, caller: Caller) -> None:
    new_id, front = uuid.uuid4(), picture("front", "the-key")
    await register(database, caller, new_id, front=front)
    again = await register(database, caller, new_id, front=front)
    assert (again.created, again.changed, again.product.revision) == (True, False, 1)
    assert len(await listed(database, caller)) == 1


async def test_another_picture_is_another_revision(database: Database, caller: Caller) -> None:
    product = (await register(database, caller)).product
    saved = await change(database, caller, product.id, front=picture("other", "other-key"))
    assert (saved.changed, saved.product.revision, saved.product.front["key"]) == (True, 2, "other-key")


async def test_an_empty_back_is_another_revision(database: Database, caller: Caller) -> None:
    product = (await register(database, caller, back=picture("back"))).product
    saved = await change(database, caller, product.id, back=None)
    assert (saved.product.back, saved.product.revision) == (None, 2)


async def test_nothing_changed_is_the_same_revision(database: Database, caller: Caller) -> None:
    product = (await register(database, caller, size="M")).product
    saved = await change(database, caller, product.id, size="M", name="Shirt")
    assert (saved.changed, saved.product.revision) == (False, 1)
    assert (await change(database, caller, product.id)).product.revision == 1


async def test_two_registrations_of_one_name_at_once_are_one_product(database: Database, caller: Caller) -> None:
    names = [f"Shirt {number}" for number in range(6)]
    saved = await asyncio.gather(*(register(database, caller, external_id="SKU-1", name=name) for name in names))
    assert len({one.product.id for one in saved}) == 1
    assert [one.created for one in saved].count(True) == 1
    assert [product.revision for product in await listed(database, caller)] == [6]


async def test_an_external_id_of_another_product_is_refused(database: Database, caller: Caller) -> None:
    await register(database, caller, external_id="SKU-1")
    other = (await register(database, caller, external_id="SKU-2")).product
    with pytest.raises(TryOnError) as caught:
        await change(database, caller, other.id, external_id="SKU-1", name="Blouse")
    assert caught.value.code == "external_id_taken"
    found = await named(database, caller, "SKU-2")
    assert found is not None
    assert (found.name, found.revision) == ("Shirt", 1)


async def test_two_accounts_may_use_one_external_id(database: Database, caller: Caller, digester: KeyDigester) -> None:
    other = await create_caller(database, digester)
    mine, theirs = [(await register(database, one, external_id="SKU-1")).product for one in (caller, other)]
    assert mine.id != theirs.id
    found = await named(database, caller, "SKU-1")
    assert found is not None
    assert found.id == mine.id


async def test_a_tryon_finds_a_product_by_either_name(database: Database, caller: Caller) -> None:
    product = (await register(database, caller, external_id="SKU-1")).product
    for name in ("SKU-1", public_id(product.id)):
        found = await named(database, caller, name)
        assert found is not None
        assert found.id == product.id


NOBODYS = {
    "empty": "",
    "another": "SKU-2",
    "in another case": "sku-1",
    "with a blank": "SKU-1 ",
    "half an id": "prod_",
    "an unknown id": "prod_" + "0" * 32,
    "a test": "test_completed",
    "a null character": "a\0b",
    "very long": "x" * 1_000_000,
}


@pytest.mark.parametrize("name", NOBODYS.values(), ids=NOBODYS)
async def test_a_tryon_does_not_find_what_is_not_there(database: Database, caller: Caller, name: str) -> None:
    await register(database, caller, external_id="SKU-1")
    assert await named(database, caller, name) is None


async def test_another_accounts_product_is_unknown(database: Database, caller: Caller, digester: KeyDigester) -> None:
    product = (await register(database, caller, external_id="SKU-1")).product
    stranger = await create_caller(database, digester)
    assert await named(database, stranger, "SKU-1") is None
    assert await named(database, stranger, public_id(product.id)) is None
    for attempt in (
        change(database, stranger, product.id, name="Mine"),
        archive(database, stranger, product.id),
    ):
        with pytest.raises(TryOnError) as caught:
            await attempt
        assert caught.value.code == "product_not_found"
    assert await listed(database, stranger, status=None) == []


async def archive(database: Database, caller: Caller, product_id: uuid.UUID) -> None:
    await database.write(products.archive_product, account_id=caller.account_id, product_id=product_id)


async def test_an_archived_product_is_unknown_to_tryons_until_it_is_brought_back(
    database: Database, caller: Caller
) -> None:
    product = (await register(database, caller, external_id="SKU-1")).product
    await archive(database, caller, product.id)
    await archive(database, caller, product.id)
    assert await named(database, caller, "SKU-1") is None
    assert await named(database, caller, public_id(product.id)) is None
    assert await listed(database, caller) == []
    assert [one.revision for one in await listed(database, caller, status="archived")] == [2]
    assert (await change(database, caller, product.id, status="active")).product.revision == 3
    assert await named(database, caller, "SKU-1") is not None


async def test_registering_an_archived_product_again_brings_it_back(database: Database, caller: Caller) -> None:
    product = (await register(database, caller, external_id="SKU-1")).product
    await archive(database, caller, product.id)
    saved = await register(database, caller, external_id="SKU-1")
    assert (saved.created, saved.changed, saved.product.status) == (False, True, "active")


async def test_pages_are_newest_first_and_hold_each_product_once(database: Database, caller: Caller) -> None:
    same_moment = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
    ids = []
    for number in range(7):
        product = (await register(database, caller)).product
        ids.append(product.id)
        with database.transaction() as session:
            row = session.get_one(Product, product.id)
            row.created_at = same_moment + timedelta(microseconds=number // 3)
    seen: list[Product] = []
    while page := await listed(database, caller, limit=2, after=(seen[-1].created_at, seen[-1].id) if seen else None):
        seen += page
    assert {product.id for product in seen} == set(ids)
    assert len(seen) == 7
    assert [product.created_at for product in seen] == sorted((one.created_at for one in seen), reverse=True)


async def test_every_picture_that_is_in_use_is_listed(database: Database, caller: Caller) -> None:
    await register(database, caller, front=picture("a", "key-of-front"), back=picture("b", "key-of-back"))
    listed = await database.read(products.list_picture_keys, account_id=caller.account_id)
    assert listed == {"key-of-front", "key-of-back"}


def test_a_registration_tells_when_it_began_and_which_product_it_adds() -> None:
    moment = datetime(2026, 5, 6, 7, 8, 9, 999_999, UTC)
    registration = new_registration_id(moment)
    assert registration.startswith("20260506T070809Z-")
    assert began_at(registration) == moment.replace(microsecond=0)
    assert product_id_of(registration) == product_id_of(registration)
    assert product_id_of(registration) != product_id_of(new_registration_id(moment))


@pytest.mark.parametrize("text", ["", "x", "20261306T070809Z-" + "0" * 32, "20260506T070809Z-12"])
def test_what_is_no_registration_has_no_age(text: str) -> None:
    assert began_at(text) is None
