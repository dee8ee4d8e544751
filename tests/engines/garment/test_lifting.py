from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engines.base import Category, EngineError, Garment, Label, PersonMap, Picture
from engines.garment.lifting import Lifter
from tests.engines.drawings import draw_garment
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
    cloth = lifter.lift(garment.picture, garment.category, lambda _step: None, lambda: False).cloth
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


@pytest.mark.parametrize("segmenter", [None, Watcher(None, sees=False), Watcher(None, sees=True)])
def test_wearer_that_cannot_be_told_from_the_garment_is_an_error_that_helps(segmenter: Watcher | None) -> None:
    garment = Garment(draw_mannequin(sleeves="long", top=TOP).photo, Category.UPPER_BODY)
    with pytest.raises(EngineError, match="Send a picture of the garment alone") as caught:
        lifted(Lifter(segmenter), garment)
    assert caught.value.code == "garment_not_recognised"
