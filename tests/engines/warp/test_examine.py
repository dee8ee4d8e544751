"""A look at the inputs and a render agree on what is refused; the look finds all of it and draws nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engines.base import Category, EngineError, Garment, Hints, PersonMap, Picture, RenderRequest
from engines.finish.checks import Bounds
from engines.finish.judged import JudgedEngine
from engines.models import models_present
from engines.person.segmenter import MediaPipeSegmenter
from engines.warp.engine import WarpEngine
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import dress, photographed, shorts, trousers
from tests.engines.mannequin import draw_mannequin, turned_sideways
from tests.engines.warp.test_gate import ends_at, lying, moved, with_hands_in_pockets, with_open_jacket

MODELS = Path(__file__).parents[3] / ".models"
UPPER, LOWER, FULL = Category.UPPER_BODY, Category.LOWER_BODY, Category.FULL_BODY
STANDING = draw_mannequin()


def top(kind: str = "t-shirt", **hints: str) -> Garment:
    return Garment(draw_garment(kind).picture, UPPER, Hints(**hints))


BLANK = Garment(np.full((300, 300, 3), 250, np.uint8), UPPER)
TROUSERS = Garment(photographed(trousers()), LOWER)
TROUSERS_AS_TOP = replace(TROUSERS, category=UPPER)


def told(error: EngineError | None, garments: Sequence[Garment]) -> tuple[str, str, int | None] | None:
    """The code, the text and the number of the garment that is to blame."""
    if error is None:
        return None
    return error.code, str(error), next((n for n, each in enumerate(garments) if each is error.garment), None)


def look(engine: WarpEngine, photo: Picture, found: PersonMap, garments: Sequence[Garment]) -> list[EngineError]:
    return engine.examine(photo, found, garments, lambda _: None, lambda: False)


def refusal_of(engine: WarpEngine, photo: Picture, found: PersonMap, garments: Sequence[Garment]) -> EngineError | None:
    try:
        engine.render(RenderRequest(photo, found, garments), lambda _: None, lambda: False)
    except EngineError as error:
        return error
    return None


@cache
def plain_engine() -> WarpEngine:
    return WarpEngine()


@pytest.mark.parametrize(
    ("found", "garments", "code"),
    [
        (STANDING.person_map, [top()], None),
        (STANDING.person_map, [top("long sleeve", tuck_state="tucked"), TROUSERS], None),
        (STANDING.person_map, [top(), top("long sleeve", garment_state="open")], None),
        (STANDING.person_map, [Garment(photographed(dress()), FULL)], None),
        (turned_sideways(STANDING).person_map, [top()], "pose_not_usable"),
        (moved(STANDING.person_map, lying), [top()], "pose_not_usable"),
        (with_open_jacket(STANDING), [top()], "pose_not_usable"),
        (with_hands_in_pockets(draw_mannequin(sleeves="long")), [top()], "pose_not_usable"),
        (ends_at(STANDING, 350), [TROUSERS], "pose_not_usable"),
        (ends_at(STANDING, 350), [top(), Garment(photographed(shorts()), LOWER)], "pose_not_usable"),
        (STANDING.person_map, [BLANK], "garment_not_recognised"),
        (STANDING.person_map, [top(), BLANK], "garment_not_recognised"),
        (STANDING.person_map, [TROUSERS_AS_TOP], "garment_not_recognised"),
        (STANDING.person_map, [TROUSERS_AS_TOP, TROUSERS], "garment_not_recognised"),
    ],
)
def test_what_a_render_refuses_is_found_first(found: PersonMap, garments: Sequence[Garment], code: str | None) -> None:
    photo = STANDING.photo[: found.labels.shape[0]]
    refused = refusal_of(plain_engine(), photo, found, garments)
    assert (refused.code if refused else None) == code
    first = next(iter(look(plain_engine(), photo, found, garments)), None)
    assert told(first, garments) == told(refused, garments)


def test_everything_that_is_wrong_is_found_at_once() -> None:
    sideways = turned_sideways(STANDING)
    garments = [BLANK, top(), TROUSERS_AS_TOP]
    found = look(plain_engine(), sideways.photo, sideways.person_map, garments)
    assert [(each.code, each.garment) for each in found] == [
        ("pose_not_usable", None),
        ("garment_not_recognised", BLANK),
        ("garment_not_recognised", TROUSERS_AS_TOP),
    ]


def test_garments_are_looked_at_where_nobody_was_found() -> None:
    found = plain_engine().examine(STANDING.photo, None, [top(), BLANK], lambda _: None, lambda: False)
    assert [each.garment for each in found] == [BLANK]
    assert plain_engine().examine(STANDING.photo, None, [], lambda _: None, lambda: False) == []


def test_a_photo_is_looked_at_without_garments() -> None:
    sideways = turned_sideways(STANDING)
    assert [each.code for each in look(plain_engine(), sideways.photo, sideways.person_map, [])] == ["pose_not_usable"]


def test_a_hint_that_a_render_leaves_out_is_no_reason_to_refuse() -> None:
    class Unused:
        """Nobody is looked for in what was drawn."""

    asked = replace(top(), hints=Hints(view_angle="back"), back_picture=BLANK.picture)
    assert look(plain_engine(), STANDING.photo, STANDING.person_map, [asked])
    judged = JudgedEngine(plain_engine(), Unused(), Bounds())
    assert judged.examine(STANDING.photo, STANDING.person_map, [asked], lambda _: None, lambda: False) == []
    wrong = replace(asked, picture=BLANK.picture)
    (refusal,) = judged.examine(STANDING.photo, STANDING.person_map, [wrong], lambda _: None, lambda: False)
    assert refusal.garment is wrong


PAIRS = [
    ("00055_00.jpg", ["upper/00126_00.jpg"]),
    ("model_8.png", ["lower/jeans.jpg", "upper/hoodie.jpg"]),
    ("long-sleeves-pink-wall.jpg", ["lower/051988_1.jpg"]),
    ("long-sleeves-pink-wall.jpg", ["full/052234_1.jpg"]),
    ("seated-outdoors.webp", ["full/strap-dress.jpg"]),
    ("man-shorts.jpg", ["full/053290_1.jpg", "upper/00055_00.jpg"]),
]


@pytest.fixture(scope="module")
def engine() -> tuple[MediaPipeSegmenter, WarpEngine]:
    if not models_present(MODELS):
        pytest.skip("the model files of the person segmenter were not fetched")
    segmenter = MediaPipeSegmenter(MODELS)
    segmenter.setup()
    return segmenter, WarpEngine(segmenter=segmenter)


@pytest.mark.parametrize(("person", "names"), PAIRS)
def test_they_agree_on_photos(
    samples: Path, engine: tuple[MediaPipeSegmenter, WarpEngine], person: str, names: list[str]
) -> None:
    segmenter, warp = engine
    photo = opened(samples / "person" / person)
    found = segmenter.segment(photo, lambda _: None, lambda: False)
    parts = {"upper": UPPER, "lower": LOWER, "full": FULL}
    garments = [Garment(opened(samples / name), parts[name.partition("/")[0]]) for name in names]
    first = next(iter(look(warp, photo, found, garments)), None)
    assert told(first, garments) == told(refusal_of(warp, photo, found, garments), garments)


def opened(path: Path) -> Picture:
    with Image.open(path) as picture:
        rgb = picture.convert("RGB")
        rgb.thumbnail((800, 800))
        return np.asarray(rgb, dtype=np.uint8)
