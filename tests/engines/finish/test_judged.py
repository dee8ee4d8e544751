"""Pictures are measured before they are handed out, and a network gets a second try."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.base import (
    Category,
    EngineError,
    EngineInfo,
    Garment,
    OnStep,
    Picture,
    RenderRequest,
    RenderResult,
    ShouldStop,
)
from engines.finish.checks import Bounds
from engines.finish.judged import ANOTHER_SEED, JudgedEngine
from engines.finish.swatches import swatch
from tests.engines.drawings import draw_garment
from tests.engines.painted import NEW_TOP, DrawnSegmenter, painted, person_at_a_wall

PERSON = person_at_a_wall()
GOOD, ECHO, BLACK = painted(person_at_a_wall(NEW_TOP).photo), painted(PERSON.photo), np.zeros((512, 384, 3), np.uint8)
DRAWN = draw_garment(colour=NEW_TOP)
REQUEST = RenderRequest(PERSON.photo, PERSON.person_map, [Garment(DRAWN.picture, Category.UPPER_BODY)], seed=5)


class Scripted:
    """An engine that gives prepared pictures, one after the other."""

    def __init__(self, pictures: Sequence[Picture], *, trained: bool = True, pastes: bool = True) -> None:
        self.pastes = pastes
        self.info = EngineInfo("scripted", "", "", True, "", "1", "cpu", trained, 4)
        self._pictures = iter(pictures)
        self.seeds: list[int] = []

    def setup(self) -> None:
        pass

    def free_memory(self) -> None:
        pass

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        self.seeds.append(request.seed)
        pixels = swatch(DRAWN.picture, DRAWN.mask > 200)
        painting = next(self._pictures)
        pasted = np.asarray(cv2.resize(painting, (480, 640)), np.uint8) if self.pastes else PERSON.photo
        return RenderResult(pasted, checks={"own": 0.5}, painting=painting, swatches=[pixels])


def judged(engine: Scripted, segmenter: DrawnSegmenter | None = None) -> RenderResult:
    judge = JudgedEngine(engine, segmenter or DrawnSegmenter(PERSON), Bounds())
    return judge.render(REQUEST, lambda _step: None, lambda: False)


class Finds(DrawnSegmenter):
    """Says something else about every picture that is drawn."""

    def __init__(self, answer: NDArray[np.float32] | EngineError) -> None:
        super().__init__(PERSON)
        self._answer = answer

    def landmarks_of(self, picture: Picture) -> NDArray[np.float32]:
        if isinstance(self._answer, EngineError):
            raise self._answer
        return self._answer


def test_figures_are_on_the_result() -> None:
    result = judged(Scripted([GOOD]))
    expected = {"own", "contrast", "changed", "outside", "shift", "cast", "face", "colours", "people_off_by", "pose"}
    assert set(result.checks) == expected


def test_second_try_has_another_seed_and_is_said() -> None:
    engine = Scripted([ECHO, GOOD])
    assert judged(engine).checks["tries"] == 2
    assert engine.seeds == [5, 5 + ANOTHER_SEED]


def test_two_bad_pictures_fail_with_the_figures() -> None:
    with pytest.raises(EngineError, match=r"did not pass its checks: contrast 0, .*people_off_by 1") as caught:
        judged(Scripted([ECHO, BLACK]))
    assert caught.value.code == "result_not_usable"


def test_engine_without_a_network_is_not_asked_twice() -> None:
    engine = Scripted([ECHO, GOOD], trained=False)
    with pytest.raises(EngineError, match="changed"):
        judged(engine)
    assert engine.seeds == [5]


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        (EngineError("several_people"), "people_off_by 1"),
        (EngineError("pose_not_usable"), "pose 10"),
        (PERSON.person_map.landmarks * np.float32([0.4, 0.8, 0.8, 1]), "pose"),
    ],
    ids=["two people", "no shoulders", "another pose"],
)
def test_person_who_is_not_there_as_before_is_a_fault(found: NDArray[np.float32] | EngineError, fault: str) -> None:
    with pytest.raises(EngineError, match=f"checks: {fault}"):
        judged(Scripted([GOOD, GOOD]), Finds(found))


def test_somebody_who_is_overlooked_but_whose_face_is_there_is_no_fault() -> None:
    assert "people_off_by" not in judged(Scripted([GOOD]), Finds(EngineError("person_not_found"))).checks


def test_garment_that_was_drawn_but_not_handed_out_is_a_fault() -> None:
    with pytest.raises(EngineError, match="changed 0, colours"):
        judged(Scripted([GOOD, GOOD], pastes=False))
