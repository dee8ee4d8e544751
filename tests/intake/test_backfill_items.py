from __future__ import annotations

from typing import Any

import pytest

from intake.backfills import sent_garment, stored_pictures, whole_items
from tests.workflows.fakes import ref
from workflows.backfills.contracts import BackfillItem, ItemDefaults, ItemGarment
from workflows.contracts import GarmentHints

PERSON = "backfills/a/anna.jpg"
URL = "https://shop.example/shirt.jpg"


def item(**fields: Any) -> BackfillItem:
    return BackfillItem.model_validate({"person": PERSON, **fields})


def whole(*items: BackfillItem, **defaults: Any) -> list[BackfillItem]:
    found = whole_items(list(enumerate(items, 1)), ItemDefaults.model_validate(defaults))
    assert found.problems == []
    return found.items


def problem_of(*items: BackfillItem, **defaults: Any) -> str:
    found = whole_items(list(enumerate(items, 1)), ItemDefaults.model_validate(defaults))
    (problem,) = found.problems
    return str(problem)


def test_a_single_garment_stands_among_garments_afterwards() -> None:
    (made,) = whole(item(key="one", productId="SKU", size="M"))
    assert made == BackfillItem(key="one", person=PERSON, garments=[ItemGarment(product_id="SKU", size="M")])


def test_an_item_may_name_its_engine_and_is_another_one_then() -> None:
    plain, named, filled = (
        whole(item(productId="SKU", **fields), **defaults)[0]
        for fields, defaults in (({}, {}), ({"engine": "klein"}, {}), ({}, {"engine": "klein"}))
    )
    assert named == filled
    assert named.engine == "klein"
    assert named.key != plain.key
    assert problem_of(item(productId="SKU", engine="dream")).startswith("row 1: engine: must be one of warp, klein")


def test_defaults_fill_every_garment_and_replace_nothing() -> None:
    (made,) = whole(
        item(garments=[{"productId": "a", "customerSize": "S"}, {"garmentImageUrl": URL}]),
        customerSize="L",
        category="lower_body",
    )
    assert [garment.customer_size for garment in made.garments] == ["S", "L"]
    assert [garment.category for garment in made.garments] == ["lower_body", "lower_body"]


def test_the_default_garment_is_for_items_that_name_none() -> None:
    named, not_named = whole(
        item(garmentImageUrl=URL, category="upper_body"), item(person="backfills/a/b.jpg"), productId="SKU"
    )
    assert (named.garments[0].product_id, not_named.garments[0].product_id) == (None, "SKU")


def test_the_person_may_be_a_default() -> None:
    (made,) = whole(BackfillItem(product_id="SKU"), person=PERSON)
    assert made.person == PERSON


def test_a_key_is_made_from_everything_that_counts() -> None:
    first, again, other = (whole(item(productId="SKU"), size=size)[0].key for size in ("M", "M", "L"))
    assert first == again != other


def test_a_key_is_the_same_under_every_version() -> None:
    shirt = {"garmentImageUrl": URL, "category": "upper_body", "garmentCategory": "Pantalón \a", "size": "M"}
    how = {"customerSize": "L", "garmentState": "open", "tuckState": "tucked", "viewAngle": "back"}
    items = whole(
        item(productId="SKU", size="M"),
        item(person='backfills/a/pictures/ännä"\n.jpg', garments=[{**shirt, **how}, {"productId": "b"}]),
    )
    assert [made.key for made in items] == ["item-b9ea6bb17b85dadd91ff4065", "item-33d81c532d4084c9f7674ded"]


def test_a_key_does_not_depend_on_the_backfill_that_a_picture_was_uploaded_for() -> None:
    first, again, other = (
        whole(item(person=f"backfills/{name}/pictures/{sha}", productId="SKU"))[0].key
        for name, sha in (("a", "1"), ("b", "1"), ("b", "2"))
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([BackfillItem(product_id="SKU")], "row 1: person: is missing."),
        ([item()], "row 1: garmentImageUrl: is needed unless productId is given."),
        ([item(garmentImageUrl=URL)], "row 1: category: is needed unless productId is given."),
        ([item(garments=[{"productId": "a"}, {}])], "row 1: garments[1].garmentImageUrl: is needed unless"),
        ([item(productId="a", garments=[{"productId": "b"}])], "row 1: garments: stand beside fields of a single"),
        (
            [item(productId="a", person="jobs/x/input/0")],
            "row 1: person: must be the key of an object below backfills/",
        ),
        ([item(productId="a", person="backfills/../jobs/x")], "row 1: person: must be the key"),
        ([item(productId="a", person="https://a.example/me.jpg")], "row 1: person: must be the key"),
        (
            [item(garmentImageUrl="http://a.example/", category="upper_body")],
            "row 1: garmentImageUrl: must be an https",
        ),
        ([item(garmentImageUrl="https://127.0.0.1/", category="upper_body")], "row 1: garmentImageUrl: "),
        ([item(key="a", productId="1"), item(key="a", productId="2")], "row 2: key: has the key of row 1."),
        ([item(productId="1"), item(productId="1")], "row 2: key: is the same as row 1."),
    ],
)
def test_what_cannot_be_carried_out_is_named(items: list[BackfillItem], said: str) -> None:
    assert problem_of(*items).startswith(said)


def test_stored_pictures_are_listed_with_the_field_that_names_them() -> None:
    items = whole(item(garmentImageUrl="backfills/a/shirt.png", garmentBackImageUrl=URL, category="upper_body"))
    assert stored_pictures(items) == {PERSON: "person", "backfills/a/shirt.png": "garmentImageUrl"}


def test_a_garment_becomes_what_any_caller_would_have_sent() -> None:
    shirt = ref("backfills/a/shirt.png")
    garment = ItemGarment(
        garment_image_url="backfills/a/shirt.png",
        garment_back_image_url=URL,
        category="upper_body",
        tuck_state="tucked",
    )
    sent = sent_garment(garment, "garments[0].", {"backfills/a/shirt.png": shirt})
    assert (sent.front, sent.back, sent.category, sent.prefix) == (shirt, URL, "upper_body", "garments[0].")
    assert sent.hints == GarmentHints(tuck_state="tucked")
