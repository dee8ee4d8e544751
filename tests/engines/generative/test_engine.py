"""Passes, paste-back and hints around a network that draws what the test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engines.base import (
    Category,
    EngineError,
    EngineInfo,
    Garment,
    Hints,
    OnStep,
    Picture,
    RenderRequest,
    RenderResult,
    RenderStopped,
    ShouldStop,
)
from engines.finish.checks import Bounds
from engines.finish.judged import JudgedEngine
from engines.garment_kinds import GarmentKind
from engines.generative.engine import GenerativeEngine
from engines.generative.painter import PaintRequest
from engines.pace import Step
from tests.engines.drawings import draw_garment
from tests.engines.painted import NEW_TOP, DrawnSegmenter, painted, person_at_a_wall

PERSON = person_at_a_wall()
TOP = Garment(draw_garment(colour=NEW_TOP).picture, Category.UPPER_BODY)


class DrawnPainter:
    """A network that paints the same person in the colour of the last garment it is shown."""

    def __init__(self, garments_per_pass: int = 4) -> None:
        self.garments_per_pass = garments_per_pass
        self.info = EngineInfo("drawn", "", "", True, "", "1", "cpu", True, 4, frozenset({"tuck_state"}))
        self.requests: list[PaintRequest] = []

    def setup(self) -> None:
        pass

    def free_memory(self) -> None:
        pass

    def paint(self, request: PaintRequest, on_step: OnStep, should_stop: ShouldStop) -> Picture:
        on_step(Step("denoise", 1, 2))
        if should_stop():
            raise RenderStopped
        self.requests.append(request)
        shown = request.references[-1]
        colour = np.median(shown.picture[shown.cover > 240], axis=0)
        return painted(person_at_a_wall(tuple(int(value) for value in colour)).photo)

    def refusal(self, garment: Garment, name: str) -> str | None:
        return None if name == "tuck_state" else "Not known here."


def render(
    painter: DrawnPainter,
    *garments: Garment,
    on_step: OnStep = lambda _step: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> RenderResult:
    engine = JudgedEngine(GenerativeEngine(painter, DrawnSegmenter(PERSON)), DrawnSegmenter(PERSON), Bounds())
    return engine.render(RenderRequest(PERSON.photo, PERSON.person_map, garments, seed=7), on_step, should_stop)


def test_picture_has_the_photos_size_and_the_garments_colour() -> None:
    result = render(DrawnPainter(), TOP)
    assert result.picture.shape == PERSON.photo.shape
    assert tuple(result.picture[250, 240]) == pytest.approx(NEW_TOP, abs=8)
    assert (result.picture[:20] == PERSON.photo[:20]).all()
    assert list(result.timings_ms) == ["references", "paint", "paste", "checks"]


def test_all_garments_in_one_pass_where_the_network_can() -> None:
    painter = DrawnPainter(garments_per_pass=4)
    render(painter, TOP, TOP)
    assert [len(request.references) for request in painter.requests] == [2]


def test_one_pass_each_where_it_cannot_and_each_begins_with_the_last_ones_picture() -> None:
    painter = DrawnPainter(garments_per_pass=1)
    first = Garment(draw_garment(colour=(60, 60, 160)).picture, Category.UPPER_BODY)
    told: list[str] = []
    result = render(painter, first, TOP, on_step=told.append)
    assert [len(request.references) for request in painter.requests] == [1, 1]
    assert painter.requests[0].person is PERSON.photo
    assert tuple(painter.requests[1].person[250, 240]) == pytest.approx((60, 60, 160), abs=8)
    assert [(step.number, step.steps) for step in told if isinstance(step, Step)] == [(1, 4), (3, 4)]
    assert tuple(result.picture[250, 240]) == pytest.approx(NEW_TOP, abs=8)


def test_hints_are_settled_by_what_the_network_follows() -> None:
    hints = Hints(kind=GarmentKind.T_SHIRT, tuck_state="tucked")
    result = render(DrawnPainter(), Garment(TOP.picture, Category.UPPER_BODY, hints))
    assert result.hints_applied == ["tuck_state"]
    assert result.hints_not_applied == {"kind": "Not known here."}


def test_stop_between_stages_and_within_them() -> None:
    with pytest.raises(RenderStopped):
        render(DrawnPainter(), TOP, should_stop=lambda: True)


def test_garment_that_is_none_ends_in_its_error_before_anything_is_painted() -> None:
    painter = DrawnPainter()
    with pytest.raises(EngineError) as caught:
        render(painter, TOP, blank := Garment(np.full((300, 300, 3), 255, np.uint8), Category.UPPER_BODY))
    assert caught.value.code == "garment_not_recognised"
    assert caught.value.garment is blank
    assert painter.requests == []


def test_a_look_finds_what_is_refused_before_anything_is_painted() -> None:
    painter = DrawnPainter()
    engine = GenerativeEngine(painter, DrawnSegmenter(PERSON))
    blank = Garment(np.full((300, 300, 3), 250, np.uint8), Category.UPPER_BODY)
    nobody = replace(PERSON.person_map, labels=np.zeros_like(PERSON.person_map.labels))
    found = engine.examine(PERSON.photo, nobody, [TOP, blank], lambda _: None, lambda: False)
    assert [(each.code, each.garment) for each in found] == [
        ("pose_not_usable", None),
        ("garment_not_recognised", blank),
    ]
    assert engine.examine(PERSON.photo, PERSON.person_map, [TOP], lambda _: None, lambda: False) == []
    assert [each.garment for each in engine.examine(PERSON.photo, None, [blank], lambda _: None, lambda: False)] == [
        blank
    ]
    assert painter.requests == []
