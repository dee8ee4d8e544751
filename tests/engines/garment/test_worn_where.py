from __future__ import annotations

import numpy as np
import pytest

from engines.base import Category, EngineError
from engines.garment.lifting import Lifter
from engines.garment.regions import BoolMask
from engines.garment.worn_where import check_worn_there, outline_of
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import cloth_of, dress, photographed, shorts, skirt, trousers

UPPER, LOWER, FULL = Category.UPPER_BODY, Category.LOWER_BODY, Category.FULL_BODY


def top(kind: str) -> BoolMask:
    return np.asarray(draw_garment(kind).mask > 127)


GARMENTS = {
    "t-shirt": (UPPER, top("t-shirt")),
    "long sleeve": (UPPER, top("long sleeve")),
    "cap sleeve": (UPPER, top("cap sleeve")),
    "tank top": (UPPER, top("tank top")),
    "trousers": (LOWER, trousers().alpha > 0.5),
    "shorts": (LOWER, shorts().alpha > 0.5),
    "skirt": (LOWER, skirt().alpha > 0.5),
    "tapered trousers": (LOWER, cloth_of([(0, 60), (100, 60), (150, 260), (90, 830), (30, 830), (0, 290)]).alpha > 0.5),
    "pencil skirt": (LOWER, cloth_of([(0, 60), (100, 60), (150, 260), (120, 700), (0, 700)]).alpha > 0.5),
    "dress": (FULL, dress().alpha > 0.5),
    "dress with sleeves": (FULL, dress(sleeves=True).alpha > 0.5),
    "jumpsuit": (FULL, dress(legs=True).alpha > 0.5),
}


@pytest.mark.parametrize("name", GARMENTS)
def test_what_is_sent_as_what_it_is_passes(name: str) -> None:
    category, mask = GARMENTS[name]
    check_worn_there(mask, category)


@pytest.mark.parametrize("name", ["t-shirt", "long sleeve", "dress with sleeves"])
def test_what_has_sleeves_is_no_lower_garment(name: str) -> None:
    with pytest.raises(EngineError, match="looks like a top or a dress") as refused:
        check_worn_there(GARMENTS[name][1], LOWER)
    assert refused.value.code == "garment_not_recognised"
    assert refused.value.advice


def test_what_hangs_on_straps_is_no_lower_garment() -> None:
    straps = cloth_of([(70, 60), (80, 60), (80, 300), (70, 300)], [(0, 300), (120, 300), (160, 800), (0, 800)])
    with pytest.raises(EngineError, match="looks like a top or a dress"):
        check_worn_there(straps.alpha > 0.5, LOWER)


@pytest.mark.parametrize("category", [UPPER, FULL])
@pytest.mark.parametrize("name", ["trousers", "tapered trousers"])
def test_trousers_are_lower_garments(name: str, category: Category) -> None:
    with pytest.raises(EngineError, match="looks like trousers"):
        check_worn_there(GARMENTS[name][1], category)


@pytest.mark.parametrize(
    ("name", "category"),
    [("skirt", UPPER), ("t-shirt", FULL), ("dress", UPPER), ("shorts", UPPER), ("cap sleeve", LOWER)],
)
def test_what_may_be_either_is_let_through(name: str, category: Category) -> None:
    check_worn_there(GARMENTS[name][1], category)


def test_measures_are_those_that_were_drawn() -> None:
    seen = outline_of(GARMENTS["trousers"][1])
    assert not seen.sleeved
    assert seen.neck == pytest.approx(0, abs=0.02)
    assert seen.top == pytest.approx(220 / 270, abs=0.04)
    assert seen.legs == pytest.approx(500 / 770, abs=0.03)


def test_a_picture_is_refused_before_it_is_worn() -> None:
    with pytest.raises(EngineError, match="looks like trousers"):
        Lifter(None).lift(photographed(trousers()), UPPER, lambda _step: None, lambda: False)
