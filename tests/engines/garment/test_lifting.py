from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engines.base import Category, EngineError, Garment, Label, PersonMap, Picture
from engines.garment.lifting import Lifter, check_worn_there
from engines.garment.network import Kind
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import network
from tests.engines.mannequin import draw_mannequin

TOP = (40, 60, 150)


class Watcher:
    """A segmenter that sees somebody whom it knows, somebody whom it cannot tell from others, or nobody."""

    def __init__(self, answer: PersonMap | None, *, sees: bool) -> None:
        self._answer, self._sees = answer, sees

    def setup(self) -> None:
        pass

    def segment_wearer(
        self, picture: Picture, on_step: Callable[[str], None], should_stop: Callable[[], bool]
    ) -> PersonMap | None:
        if self._sees and self._answer is None:
            raise EngineError("several_people", "Two people are in the photo.")
        return self._answer


def without_rows_above(person_map: PersonMap, row: int) -> PersonMap:
    landmarks = person_map.landmarks.copy()
    landmarks[:, 1] -= row
    return replace(person_map, labels=person_map.labels[row:], matte=person_map.matte[row:], landmarks=landmarks)


def lifted(lifter: Lifter, garment: Garment) -> tuple[float, float, float]:
    cloth = lifter.lift(garment.picture, garment.category, lambda _step: None, lambda: False)
    red, green, blue = (float(value) for value in np.median(cloth.colour[cloth.alpha > 0.9], axis=0) * 255)
    return red, green, blue


def test_garment_alone_asks_nobody() -> None:
    garment = Garment(draw_garment("t-shirt", colour=TOP).picture, Category.UPPER_BODY)
    assert lifted(Lifter(Watcher(None, sees=False)), garment) == pytest.approx(TOP, abs=8)


def test_worn_garment_is_lifted_off_its_wearer() -> None:
    mannequin = draw_mannequin(sleeves="long", top=TOP)
    lifter = Lifter(Watcher(mannequin.person_map, sees=True))
    assert lifted(lifter, Garment(mannequin.photo, Category.UPPER_BODY)) == pytest.approx(TOP, abs=8)


def test_garment_is_lifted_off_a_body_without_a_head() -> None:
    mannequin = draw_mannequin(sleeves="short", top=TOP)
    chin = int(np.flatnonzero((mannequin.person_map.labels == Label.UPPER).any(axis=1))[0]) - 8
    body = without_rows_above(mannequin.person_map, chin)
    garment = Garment(mannequin.photo[chin:], Category.UPPER_BODY)
    assert lifted(Lifter(Watcher(body, sees=True)), garment) == pytest.approx(TOP, abs=8)


def test_several_people_in_the_garments_picture_are_an_error_that_helps() -> None:
    garment = Garment(draw_mannequin(sleeves="long", top=TOP).photo, Category.UPPER_BODY)
    with pytest.raises(EngineError, match="Send a picture of the garment alone") as caught:
        lifted(Lifter(Watcher(None, sees=True)), garment)
    assert caught.value.code == "garment_not_recognised"


@pytest.mark.parametrize(
    ("kind", "category", "refused"),
    [
        (Kind.SKIRT, Category.UPPER_BODY, "a skirt, but was sent as a garment for the upper body"),
        (Kind.TOP, Category.LOWER_BODY, "a top, but was sent as a garment for the lower body"),
        (Kind.TROUSERS, Category.FULL_BODY, "trousers, but was sent as a garment for the full body"),
        (Kind.DRESS, Category.UPPER_BODY, None),
        (Kind.JUMPSUIT, Category.FULL_BODY, None),
    ],
)
def test_what_is_plainly_worn_elsewhere_is_refused_with_what_it_looks_like(
    kind: Kind, category: Category, refused: str | None
) -> None:
    seen = network().look(draw_garment("t-shirt").picture)
    seen = replace(seen, kinds=np.eye(len(Kind), dtype=np.float32)[kind])
    if refused is None:
        check_worn_there(seen, category)
        return
    with pytest.raises(EngineError, match=refused) as caught:
        check_worn_there(seen, category)
    assert caught.value.code == "garment_not_recognised"
