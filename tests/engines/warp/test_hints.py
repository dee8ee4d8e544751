import numpy as np

from engines.base import Category, Garment, Hints
from engines.warp.hints import is_tucked, settle_hints

PICTURE = np.zeros((4, 4, 3), np.uint8)


def test_nothing_said_nothing_answered() -> None:
    assert settle_hints([Garment(PICTURE, Category.UPPER_BODY)]) == ([], {})


def test_kind_decides_the_form_of_trousers_but_not_of_tops() -> None:
    hints = Hints(kind="skirt")
    assert settle_hints([Garment(PICTURE, Category.LOWER_BODY, hints)]) == (["kind"], {})
    applied, refused = settle_hints([Garment(PICTURE, Category.UPPER_BODY, hints)])
    assert applied == []
    assert list(refused) == ["kind"]


def test_hint_followed_for_one_garment_only_counts_as_not_applied() -> None:
    hints = Hints(tuck_state="tucked")
    garments = [Garment(PICTURE, Category.UPPER_BODY, hints), Garment(PICTURE, Category.FULL_BODY, hints)]
    applied, refused = settle_hints(garments)
    assert applied == []
    assert list(refused) == ["tuck_state"]


def test_only_the_word_tucked_tucks() -> None:
    assert is_tucked(Hints(tuck_state="Tucked"))
    assert not is_tucked(Hints(tuck_state="untucked"))
    assert not is_tucked(Hints())
