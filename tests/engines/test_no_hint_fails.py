"""For no hint does a job fail that succeeds without hints, whatever the engine, the kind of garment or the hint."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from api.dashboard.samples import SAMPLES, pixels_of
from engines.base import (
    Category,
    Engine,
    EngineError,
    EngineInfo,
    Garment,
    Hints,
    OnStep,
    Picture,
    RenderRequest,
    RenderResult,
    ShouldStop,
)
from engines.fashn.painter import FashnPainter
from engines.finish.checks import Bounds
from engines.finish.judged import JudgedEngine
from engines.garment_kinds import GarmentKind
from engines.generative.engine import GenerativeEngine
from engines.hint_sense import HINT_NAMES, given_hints, sensible_hints, settle
from engines.kind_folding import fold_kind
from engines.klein.painter import KleinPainter
from engines.models import models_present
from engines.person.segmenter import MediaPipeSegmenter
from engines.sizes import fit_of
from engines.warp.engine import WarpEngine
from tests.engines.fashn.conftest import numbers  # noqa: F401  # a fixture
from tests.engines.fashn.conftest import weights as fashn_weights  # noqa: F401  # a fixture
from tests.engines.klein.conftest import weights as klein_weights  # noqa: F401  # a fixture
from tests.engines.mannequin import Mannequin, draw_mannequin
from tests.engines.painted import DrawnSegmenter, person_at_a_wall
from tests.one_thread import one_thread  # noqa: F401  # a fixture

NOTHING = np.full((300, 300, 3), 255, np.uint8)
"""A picture that holds no garment: the worst photo of a back that can be sent."""

STATES, TUCKS, VIEWS = ("open", "closed"), ("tucked", "untucked"), ("front", "left", "right", "back")
SIZES = (("XXS", "6XL"), ("6XL", "XXS"), ("M", None), ("W32/L34", "38"), ("one size", "M"))


def hints(  # noqa: PLR0917  # one for each hint
    kind: str | None = None,
    state: str | None = None,
    tuck: str | None = None,
    view: str | None = None,
    size: str | None = None,
    usual: str | None = None,
) -> Hints:
    return Hints(
        kind=fold_kind(kind),
        garment_category=kind,
        size=size,
        customer_size=usual,
        garment_state=state,
        tuck_state=tuck,
        view_angle=view,
        fit=fit_of(size, usual),
    )


def each_hint() -> list[Hints]:
    """Every value of every hint by itself, but kinds."""
    return [
        *(hints(state=state) for state in STATES),
        *(hints(tuck=tuck) for tuck in TUCKS),
        *(hints(view=view) for view in VIEWS),
        *(hints(size=size, usual=usual) for size, usual in SIZES),
    ]


def any_hints(generator: random.Random, kind: str | None) -> Hints:
    """A kind with any of the others, or none of them."""
    size, usual = generator.choice([(None, None), *SIZES])
    state, tuck, view = (generator.choice([None, *values]) for values in (STATES, TUCKS, VIEWS))
    return hints(kind, state, tuck, view, size, usual)


def drawn(engine: Engine, person: Mannequin, *garments: Garment) -> RenderResult:
    request = RenderRequest(person.photo, person.person_map, garments)
    return engine.render(request, lambda _step: None, lambda: False)


def check_drawn(engine: Engine, person: Mannequin, garment: Garment) -> RenderResult:
    """The garment is drawn, and every hint that was given is answered once."""
    result = drawn(engine, person, garment)
    answered = [*result.hints_applied, *result.hints_not_applied]
    assert sorted(answered) == sorted(given_hints(garment)), garment.hints
    return result


PERSON, SMALL = person_at_a_wall(), draw_mannequin(320, 240)
PICTURE = np.full((8, 8, 3), 90, np.uint8)


class Choosy:
    """An engine that draws nothing with hints that a test says it cannot bear."""

    def __init__(self, *unbearable: frozenset[str], trained: bool = False) -> None:
        self.unbearable, self.tries = unbearable, 0
        self.info = EngineInfo("choosy", "", "", True, "", "1", "cpu", trained, 4, frozenset(HINT_NAMES))

    def setup(self) -> None:
        pass

    def free_memory(self) -> None:
        pass

    def readings(self) -> dict[str, float]:
        return {}

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        self.tries += 1
        for garment in request.garments:
            followed = {name for name in HINT_NAMES if getattr(sensible_hints(garment), name, None) is not None}
            if any(names <= followed for names in self.unbearable) or not garment.picture.any():
                error = EngineError("garment_not_recognised")
                error.garment = garment
                raise error
        applied, refused = settle(request.garments, lambda _garment, _name: None)
        return RenderResult(request.person, applied, refused)


class Unmeasured(JudgedEngine):
    """Takes every picture as it comes: what it shows is not of interest here, and measuring takes long."""

    def _judged(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        return self._engine.render(request, on_step, should_stop)


def choosy(*unbearable: frozenset[str], trained: bool = False) -> tuple[Choosy, JudgedEngine]:
    engine = Choosy(*unbearable, trained=trained)
    return engine, Unmeasured(engine, DrawnSegmenter(PERSON), Bounds())


STATE, VIEW, KIND = frozenset({"garment_state"}), frozenset({"view_angle"}), frozenset({"kind"})
ALL_HINTS = Hints(
    kind=GarmentKind.SHIRT,
    size="M",
    customer_size="L",
    garment_state="open",
    tuck_state="tucked",
    view_angle="back",
    garment_category="shirt",
    fit=fit_of("M", "L"),
)
SHIRT = Garment(PICTURE, Category.UPPER_BODY, ALL_HINTS, PICTURE)


def test_whatever_an_engine_cannot_bear_the_garment_is_drawn() -> None:
    generator = random.Random(21)
    names = [name for name in HINT_NAMES if name != "back_picture"]
    for kind, category in product(GarmentKind, Category):
        wished = any_hints(generator, kind)
        unbearable = frozenset(generator.sample(names, generator.randint(1, 2)))
        garment = Garment(PICTURE, category, wished, generator.choice([None, PICTURE]))
        check_drawn(choosy(unbearable)[1], PERSON, garment)


def test_the_one_hint_that_is_to_blame_is_left_out_and_the_others_are_followed() -> None:
    result = check_drawn(choosy(STATE)[1], PERSON, SHIRT)
    assert list(result.hints_not_applied) == ["garment_state"]
    assert "as without it" in result.hints_not_applied["garment_state"]
    result = check_drawn(choosy(VIEW)[1], PERSON, SHIRT)
    assert set(result.hints_not_applied) == {"view_angle", "back_picture"}


def test_where_several_are_to_blame_all_are_left_out() -> None:
    assert check_drawn(choosy(STATE, VIEW)[1], PERSON, SHIRT).hints_applied == []


def test_a_hint_left_out_for_one_garment_is_followed_for_the_other() -> None:
    other = Garment(PICTURE, Category.LOWER_BODY, Hints(size="M", customer_size="L", fit=fit_of("M", "L")))
    result = drawn(choosy(STATE)[1], PERSON, replace(SHIRT), other)
    assert "size" in result.hints_applied
    assert set(result.hints_not_applied) == {"garment_state"}


def test_what_succeeds_is_drawn_once_and_what_fails_without_hints_twice() -> None:
    engine, judge = choosy()
    drawn(judge, PERSON, SHIRT)
    assert engine.tries == 1
    engine, judge = choosy()
    nothing = replace(SHIRT, picture=np.zeros_like(PICTURE))
    with pytest.raises(EngineError) as caught:
        drawn(judge, PERSON, nothing)
    assert caught.value.garment is nothing
    assert engine.tries == 2
    engine, judge = choosy()
    with pytest.raises(EngineError):
        drawn(judge, PERSON, Garment(np.zeros_like(PICTURE), Category.UPPER_BODY, Hints(size="M")))
    assert engine.tries == 1


def test_a_network_does_not_look_for_the_one_that_is_to_blame() -> None:
    engine, judge = choosy(STATE, trained=True)
    assert drawn(judge, PERSON, SHIRT).hints_applied == []
    assert engine.tries == 2


@cache
def sample(name: str, longest: int) -> Picture:
    picture = pixels_of(name)
    scale = longest / max(picture.shape[:2])
    return np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


NATURAL = [(name, Category(drawn_one.category)) for name, drawn_one in SAMPLES.items()]


def of_all_kinds(seed: int) -> Iterator[Garment]:
    """Every kind as every category, on drawn garments that can be drawn as such, with any other hints."""
    generator = random.Random(seed)
    for kind, (name, category) in zip(generator.sample([*GarmentKind], len(GarmentKind)), NATURAL * 8, strict=False):
        back = generator.choice([None, NOTHING, sample(name, 256)])
        yield Garment(sample(name, 256), category, any_hints(generator, kind), back)


@pytest.mark.parametrize("number", range(len(GarmentKind)))
def test_the_embedded_engine_draws_every_kind_with_any_hints(number: int) -> None:
    garment = [*of_all_kinds(5)][number]
    check_drawn(Unmeasured(WarpEngine(), DrawnSegmenter(PERSON), Bounds()), draw_mannequin(), garment)


@pytest.fixture(scope="module", params=["klein", "fashn"])
def generative(request: pytest.FixtureRequest) -> JudgedEngine:
    folder = str(request.getfixturevalue(f"{request.param}_weights"))
    painter = (
        KleinPainter(folder, device="cpu", dtype="float32")
        if request.param == "klein"
        else FashnPainter(Path(folder), device="cpu", steps=2, batch_size=1, batch_wait_s=0.0)
    )
    engine = Unmeasured(GenerativeEngine(painter, DrawnSegmenter(SMALL)), DrawnSegmenter(SMALL), Bounds())
    engine.setup()
    return engine


def test_a_network_draws_with_every_hint(generative: JudgedEngine) -> None:
    generator = random.Random(3)
    picture = sample("plain_tee", 96)
    for kind, wished in zip(generator.sample([*GarmentKind], 13), each_hint(), strict=True):
        kinds = wished.model_copy(update={"kind": kind, "garment_category": kind})
        check_drawn(generative, SMALL, Garment(picture, Category.UPPER_BODY, kinds, NOTHING))


def test_a_closed_blouse_that_cannot_be_opened_is_drawn_closed(samples: Path) -> None:
    models, second = Path(__file__).parents[2] / ".models", samples.parent / "samples-2"
    blouse, wearer = second / "upper" / "02305_00.jpg", second / "person" / "01992_00.jpg"
    if not models_present(models) or not (blouse.exists() and wearer.exists()):
        pytest.skip("the model files of the person segmenter, or the second set of samples, are not there")
    segmenter = MediaPipeSegmenter(models)
    segmenter.setup()
    photo, product_photo = (np.asarray(Image.open(path).convert("RGB")) for path in (wearer, blouse))
    person = Mannequin(photo, segmenter.segment(photo, lambda _step: None, lambda: False))
    engine = JudgedEngine(WarpEngine(), segmenter, Bounds())
    opened = check_drawn(
        engine, person, Garment(product_photo, Category.UPPER_BODY, hints(state="open", kind="blouse"))
    )
    assert "as without it" in opened.hints_not_applied["garment_state"]
