import numpy as np
import pytest

from engines.base import Category, Garment, Hints
from engines.garment_kinds import GarmentKind
from engines.hint_sense import pointless_hints, sensible_hints, settle
from engines.sizes import NOT_ONE_SYSTEM, Fit

PICTURE = np.zeros((4, 4, 3), np.uint8)
UPPER, LOWER, FULL = Category


def garment(category: Category, hints: Hints, *, back: bool = False) -> Garment:
    return Garment(PICTURE, category, hints, PICTURE if back else None)


@pytest.mark.parametrize(
    ("category", "hints", "name"),
    [
        (LOWER, Hints(kind=GarmentKind.TROUSERS, tuck_state="tucked"), "tuck_state"),
        (LOWER, Hints(tuck_state="untucked"), "tuck_state"),
        (FULL, Hints(kind=GarmentKind.DRESS, tuck_state="tucked"), "tuck_state"),
        (UPPER, Hints(kind=GarmentKind.JACKET, tuck_state="tucked"), "tuck_state"),
        (UPPER, Hints(kind=GarmentKind.T_SHIRT, garment_state="open"), "garment_state"),
        (LOWER, Hints(garment_state="closed"), "garment_state"),
        (UPPER, Hints(size="M"), "size"),
        (UPPER, Hints(customer_size="M"), "customer_size"),
        (UPPER, Hints(view_angle="back"), "view_angle"),
    ],
)
def test_what_makes_no_sense_is_not_gone_by(category: Category, hints: Hints, name: str) -> None:
    worn = garment(category, hints)
    assert list(pointless_hints(worn)) == [name]
    assert getattr(sensible_hints(worn), name) is None


@pytest.mark.parametrize(
    ("category", "hints"),
    [
        (UPPER, Hints(kind=GarmentKind.SHIRT, garment_state="open", tuck_state="tucked")),
        (UPPER, Hints(garment_category="kimono", garment_state="open", tuck_state="tucked")),
        (FULL, Hints(kind=GarmentKind.ABAYA, garment_state="open")),
        (UPPER, Hints(size="M", customer_size="L", fit=Fit(-1.0))),
        (UPPER, Hints(view_angle="left")),
    ],
)
def test_what_makes_sense_is_left_alone(category: Category, hints: Hints) -> None:
    assert pointless_hints(garment(category, hints)) == {}
    assert sensible_hints(garment(category, hints)) == hints


def test_sizes_of_two_systems_are_both_ignored() -> None:
    pointless = pointless_hints(garment(UPPER, Hints(size="M", customer_size="38")))
    assert pointless == {"size": f"{NOT_ONE_SYSTEM}.", "customer_size": f"{NOT_ONE_SYSTEM}."}


def test_a_back_photo_and_the_wish_to_see_it_belong_together() -> None:
    assert pointless_hints(garment(UPPER, Hints(view_angle="back"), back=True)) == {}
    assert "front photo serves" in pointless_hints(garment(UPPER, Hints(view_angle="back")))["view_angle"]
    assert list(pointless_hints(garment(UPPER, Hints(), back=True))) == ["back_picture"]


def test_an_engine_that_follows_everything_applies_all_that_makes_sense() -> None:
    worn = garment(
        UPPER,
        Hints(
            kind=GarmentKind.SHIRT,
            size="M",
            customer_size="L",
            garment_state="open",
            tuck_state="tucked",
            view_angle="back",
            fit=Fit(-1.0),
        ),
        back=True,
    )
    applied, refused = settle([worn], lambda _garment, _name: None)
    assert len(applied) == 7
    assert refused == {}


def test_a_hint_followed_for_another_garment_says_so() -> None:
    garments = [garment(UPPER, Hints(tuck_state="tucked")), garment(LOWER, Hints(tuck_state="tucked"))]
    applied, refused = settle(garments, lambda _garment, _name: None)
    assert applied == []
    assert refused["tuck_state"].endswith("It was followed for another garment.")
