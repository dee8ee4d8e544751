import numpy as np
import pytest

from engines.base import Category, Garment, Hints
from engines.fashn.about import HONOURED, refusal
from engines.garment_kinds import GarmentKind
from engines.hint_sense import HINT_NAMES, settle

PICTURE, BACK = np.zeros((4, 4, 3), np.uint8), np.ones((4, 4, 3), np.uint8)


def test_only_what_is_honoured_is_ever_applied() -> None:
    every = Hints(
        kind=GarmentKind.SHIRT,
        size="L",
        customer_size="M",
        garment_state="closed",
        tuck_state="tucked",
        view_angle="back",
        fit=None,
    )
    garment = Garment(PICTURE, Category.UPPER_BODY, every, BACK)
    applied = {name for name in HINT_NAMES if refusal(garment, name) is None}
    assert applied == set(HONOURED)


@pytest.mark.parametrize("view_angle", ["left", "right"])
def test_person_is_not_turned(view_angle: str) -> None:
    garment = Garment(PICTURE, Category.UPPER_BODY, Hints(view_angle=view_angle))
    assert settle([garment], refusal) == ([], {"view_angle": "The person is shown from the side that the photo shows."})


def test_tuck_is_said_to_decide_the_order_alone() -> None:
    _, refused = settle([Garment(PICTURE, Category.UPPER_BODY, Hints(tuck_state="tucked"))], refusal)
    assert "order of dressing" in refused["tuck_state"]


def test_name_that_is_not_known() -> None:
    _, refused = settle([Garment(PICTURE, Category.UPPER_BODY, Hints(garment_category="zorb"))], refusal)
    assert "not known" in refused["kind"]
