from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Category, EngineUnavailable, Garment, Hints
from engines.routes import Route, RoutedEngines, parse_route
from tests.activities.engines import FakeEngine

KNOWN = ("warp", "klein", "fashn")
UPPER, LOWER = Category.UPPER_BODY, Category.LOWER_BODY


@pytest.mark.parametrize("name", [*KNOWN, "auto", " klein "])
def test_one_name_is_for_everything(name: str) -> None:
    assert parse_route(name, KNOWN) == Route(name.strip(), {})


def test_pairs_name_categories_and_everything_else() -> None:
    route = parse_route("upper_body=fashn, *=klein", KNOWN)
    assert route == Route("klein", {UPPER: "fashn"})
    assert route.names == ("klein", "fashn")


@pytest.mark.parametrize(
    "text",
    ["", "flux", "upper_body=fashn", "shoes=warp,*=warp", "upper_body=flux,*=warp", "*=warp=klein", "warp,klein", "*="],
)
def test_anything_else_is_refused_with_what_it_might_be(text: str) -> None:
    with pytest.raises(ValueError, match=r"auto, fashn, klein, warp|add \*="):
        parse_route(text, KNOWN)


def test_outfit_of_two_engines_is_drawn_by_the_one_for_everything() -> None:
    route = parse_route("upper_body=fashn,*=klein", KNOWN)
    assert route.engine_of([UPPER]) == "fashn"
    assert route.engine_of([LOWER]) == "klein"
    assert route.engine_of([UPPER, LOWER]) == "klein"
    assert route.engine_of([UPPER, UPPER]) == "fashn"


def test_auto_is_asked_for_only_where_it_stands() -> None:
    assert parse_route("upper_body=fashn,*=auto", KNOWN).with_auto(lambda: "warp") == Route("warp", {UPPER: "fashn"})
    assert parse_route("warp", KNOWN).with_auto(lambda: pytest.fail("asked")) == Route("warp", {})


def test_an_engine_that_chooses_by_free_memory_is_set_up_after_all_others() -> None:
    choosy, *others = engines = [FakeEngine() for _ in range(3)]
    choosy.info = replace(choosy.info, by_free_memory=True)
    route = parse_route("upper_body=fashn,*=klein", KNOWN)
    routed = RoutedEngines(route, dict(zip([*route.names, "warp"], engines, strict=True)))
    assert routed.all == [*others, choosy]


def test_an_engine_beside_the_route_draws_only_what_names_it() -> None:
    shirt = Garment(np.zeros((2, 2, 3), np.uint8), UPPER, Hints())
    warp, klein = FakeEngine(), FakeEngine()
    routed = RoutedEngines(Route("warp", {}), {"warp": warp, "klein": klein})
    assert routed.all == [warp, klein]
    assert routed.engine_for([shirt]) is warp
    assert routed.engine_for([shirt], "klein") is klein
    with pytest.raises(EngineUnavailable, match="fashn: name it in TRYON_ENGINES_BESIDE"):
        routed.engine_for([shirt], "fashn")
