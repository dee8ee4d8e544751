"""What the caller's words change about how a garment is laid on the body."""

import numpy as np
import pytest

from engines.base import Category, Garment, Hints
from engines.garment.cloth import Cloth
from engines.kind_folding import fold_kind
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.upper import drape_garment
from engines.warp.ribbon import Drape
from tests.engines.hanging_drawings import photographed, skirt, trousers
from tests.engines.mannequin import draw_mannequin


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin().person_map)


def draped(cloth: Cloth, hints: Hints, body: BodyModel, *, under_tucked_top: bool = False) -> Drape:
    garment = Garment(photographed(cloth), Category.LOWER_BODY, hints)
    return drape_garment(garment, cloth, body, under_tucked_top=under_tucked_top)


@pytest.mark.parametrize("words", ["jeans", "Jeans", "pantalon", "Jogginghosen", "PANTS"])
def test_every_word_for_trousers_gives_legs(body: BodyModel, words: str) -> None:
    assert draped(skirt(), Hints(kind=fold_kind(words)), body).checks["legs"] == 1.0


@pytest.mark.parametrize("words", ["wrap skirt", "falda", "Faltenrock", "jupe en jean"])
def test_every_word_for_a_skirt_gives_one_piece(body: BodyModel, words: str) -> None:
    assert draped(trousers(), Hints(kind=fold_kind(words)), body).checks["legs"] == 0.0


def test_tucking_trousers_changes_nothing(body: BodyModel) -> None:
    plain = draped(trousers(), Hints(), body).alpha
    for state in ("tucked", "untucked"):
        assert np.array_equal(draped(trousers(), Hints(tuck_state=state), body).alpha, plain)


def test_the_waistband_is_open_to_view_under_a_tucked_top(body: BodyModel) -> None:
    x, y = body.point(0.88).round().astype(int)
    assert draped(trousers(), Hints(), body).alpha[y, x] < 0.1
    assert draped(trousers(), Hints(), body, under_tucked_top=True).alpha[y, x] > 0.9
