import numpy as np
import pytest

from engines.base import Category, Garment, Hints
from engines.garment_kinds import GarmentKind
from engines.hint_sense import dressing_order

PICTURE = np.zeros((4, 4, 3), np.uint8)


def top(kind: GarmentKind | None = None, tuck: str | None = None, state: str | None = None) -> Garment:
    return Garment(PICTURE, Category.UPPER_BODY, Hints(kind=kind, tuck_state=tuck, garment_state=state))


TROUSERS = Garment(PICTURE, Category.LOWER_BODY, Hints(tuck_state="tucked"))
DRESS = Garment(PICTURE, Category.FULL_BODY, Hints(kind=GarmentKind.DRESS))
LONG_COAT = Garment(PICTURE, Category.FULL_BODY, Hints(kind=GarmentKind.COAT))


@pytest.mark.parametrize(
    "worn",
    [
        [top(tuck="tucked"), TROUSERS, top(GarmentKind.JACKET)],
        [TROUSERS, top(), top(GarmentKind.SWEATER), top(GarmentKind.COAT)],
        [TROUSERS, top(GarmentKind.HOODIE), top(GarmentKind.JACKET)],
        [TROUSERS, top(GarmentKind.T_SHIRT), top(GarmentKind.SHIRT, state="open")],
        [DRESS, top(GarmentKind.CARDIGAN)],
        [TROUSERS, top(GarmentKind.SHIRT), LONG_COAT],
        [top(GarmentKind.SHIRT, tuck="tucked"), top(GarmentKind.SWEATER, tuck="tucked"), TROUSERS],
    ],
)
def test_from_the_skin_outwards_whatever_the_callers_order(worn: list[Garment]) -> None:
    for order in (worn, worn[::-1], worn[1:] + worn[:1]):
        assert [id(garment) for garment in dressing_order(order)] == [id(garment) for garment in worn]


def test_an_open_t_shirt_is_no_outerwear() -> None:
    open_tee, shirt = top(GarmentKind.T_SHIRT, state="open"), top(GarmentKind.SHIRT)
    assert dressing_order([open_tee, shirt])[0] is open_tee
