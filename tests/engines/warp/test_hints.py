import random

import numpy as np
import pytest

from engines.base import Category, Garment, Hints, Picture
from engines.garment_kinds import GarmentKind
from engines.hint_sense import given_hints
from engines.kind_folding import fold_kind
from engines.sizes import fit_of
from engines.warp.hints import is_tucked, photo_to_lay, settle_hints

PICTURE, BACK = np.zeros((4, 4, 3), np.uint8), np.ones((4, 4, 3), np.uint8)


def test_nothing_said_nothing_answered() -> None:
    assert settle_hints([Garment(PICTURE, Category.UPPER_BODY)]) == ([], {})


def test_kind_decides_the_form_of_trousers_but_not_of_tops() -> None:
    hints = Hints(kind=GarmentKind.SKIRT)
    assert settle_hints([Garment(PICTURE, Category.LOWER_BODY, hints)]) == (["kind"], {})
    applied, refused = settle_hints([Garment(PICTURE, Category.UPPER_BODY, hints)])
    assert applied == []
    assert list(refused) == ["kind"]


@pytest.mark.parametrize("category", list(Category))
def test_sizes_count_on_every_part_of_the_body(category: Category) -> None:
    hints = Hints(size="L", customer_size="M", fit=fit_of("L", "M"))
    assert settle_hints([Garment(PICTURE, category, hints)]) == (["size", "customer_size"], {})


def test_a_name_that_is_not_known_is_answered_too() -> None:
    applied, refused = settle_hints([Garment(PICTURE, Category.LOWER_BODY, Hints(garment_category="zorb"))])
    assert applied == []
    assert "not known" in refused["kind"]


def test_hint_followed_for_one_garment_only_counts_as_not_applied() -> None:
    hints = Hints(tuck_state="tucked")
    garments = [Garment(PICTURE, Category.UPPER_BODY, hints), Garment(PICTURE, Category.FULL_BODY, hints)]
    applied, refused = settle_hints(garments)
    assert applied == []
    assert list(refused) == ["tuck_state"]


@pytest.mark.parametrize(
    ("view_angle", "sent", "laid", "refused"),
    [
        ("back", BACK, BACK, set()),
        ("back", None, PICTURE, {"view_angle"}),
        ("front", BACK, PICTURE, {"back_picture"}),
        (None, BACK, PICTURE, {"back_picture"}),
        ("left", BACK, PICTURE, {"view_angle", "back_picture"}),
    ],
)
def test_the_photo_of_the_side_that_is_seen_is_laid(
    view_angle: str | None, sent: Picture | None, laid: Picture, refused: set[str]
) -> None:
    garment = Garment(PICTURE, Category.UPPER_BODY, Hints(view_angle=view_angle), back_picture=sent)
    assert photo_to_lay(garment) is laid
    assert settle_hints([garment])[1].keys() == refused


@pytest.mark.parametrize(
    ("category", "hints", "tucked"),
    [
        (Category.UPPER_BODY, Hints(tuck_state="tucked"), True),
        (Category.UPPER_BODY, Hints(tuck_state="untucked"), False),
        (Category.UPPER_BODY, Hints(), False),
        (Category.UPPER_BODY, Hints(kind=GarmentKind.COAT, tuck_state="tucked"), False),
        (Category.LOWER_BODY, Hints(tuck_state="tucked"), False),
    ],
)
def test_only_a_top_is_tucked(category: Category, hints: Hints, tucked: bool) -> None:
    assert is_tucked(Garment(PICTURE, category, hints)) is tucked


def any_garment(generator: random.Random) -> Garment:
    text = generator.choice([None, "", "Jeans", "pantalon", "shirt dress", "zorb", *GarmentKind])
    size, customer_size = (generator.choice([None, "M", "XL", "38", "W32/L34", "one size", "?"]) for _ in range(2))
    hints = Hints(
        kind=fold_kind(text),
        size=size,
        customer_size=customer_size,
        garment_state=generator.choice([None, "open", "closed"]),
        tuck_state=generator.choice([None, "tucked", "untucked"]),
        view_angle=generator.choice([None, "front", "left", "right", "back"]),
        garment_category=text,
        fit=fit_of(size, customer_size),
    )
    back = generator.choice([None, PICTURE])
    return Garment(PICTURE, generator.choice(list(Category)), hints, back)


def test_every_hint_that_was_given_is_answered_exactly_once() -> None:
    generator = random.Random(11)
    for _ in range(3000):
        garments = [any_garment(generator) for _ in range(generator.randint(1, 4))]
        applied, refused = settle_hints(garments)
        assert sorted([*applied, *refused]) == sorted({name for garment in garments for name in given_hints(garment)})
        assert all(0 < len(reason) <= 200 and reason.endswith(".") for reason in refused.values())
