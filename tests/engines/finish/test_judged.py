"""Pictures are measured before they are handed out, and a network gets a second try."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

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

    def __init__(self, pictures: Sequence[Picture], *, trained: bool = True) -> None:
        self.info = EngineInfo("scripted", "", "", True, "", "1", "cpu", trained, 4)
        self._pictures = iter(pictures)
        self.seeds: list[int] = []

    def setup(self) -> None:
        pass

    def free_memory(self) -> None:
        pass

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        self.seeds.append(request.seed)
        pixels = swatch(DRAWN.picture[DRAWN.mask > 200])
        return RenderResult(PERSON.photo, checks={"own": 0.5}, painting=next(self._pictures), swatches=[pixels])


def judged(engine: Scripted) -> RenderResult:
    steps: list[str] = []
    return JudgedEngine(engine, DrawnSegmenter(PERSON), Bounds()).render(REQUEST, steps.append, lambda: False)


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
