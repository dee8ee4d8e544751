"""Garments as a network is shown them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Category, EngineError, Garment, Hints
from engines.garment.lifting import Lifter
from engines.generative.painter import Reference
from engines.generative.references import reference_of
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin
from tests.engines.painted import DrawnSegmenter

NOBODY = DrawnSegmenter()
TOP = (40, 60, 150)


def reference(garment: Garment, segmenter: DrawnSegmenter = NOBODY) -> Reference:
    return reference_of(garment, Lifter(segmenter), lambda _step: None, lambda: False)


def test_picture_is_trimmed_to_the_garment_and_keeps_its_ground() -> None:
    drawn = draw_garment(colour=TOP, ground=(230, 225, 210), height=900, width=1400)
    shown = reference(Garment(drawn.picture, Category.UPPER_BODY))
    rows, columns = np.nonzero(drawn.mask > 127)
    height, width = np.ptp(rows), np.ptp(columns)
    room = 0.04 * max(height, width)
    assert shown.picture.shape[0] == pytest.approx(height + 2 * room, abs=8)
    assert shown.picture.shape[1] == pytest.approx(width + 2 * room, abs=8)
    assert shown.cover.shape == shown.picture.shape[:2]
    assert tuple(shown.picture[2, 2]) == pytest.approx((230, 225, 210), abs=6)
    assert np.median(shown.picture[shown.cover > 240], axis=0) == pytest.approx(TOP, abs=8)
    assert not shown.was_worn


def test_garment_worn_by_somebody_stands_on_white() -> None:
    wearer = draw_mannequin(sleeves="long", top=TOP, ground=(90, 140, 90))
    shown = reference(Garment(wearer.photo, Category.UPPER_BODY), DrawnSegmenter(wearer))
    assert shown.was_worn
    assert (shown.picture[shown.cover == 0] == 255).all()
    assert np.median(shown.picture[shown.cover > 240], axis=0) == pytest.approx(TOP, abs=8)


def test_back_is_shown_where_it_is_asked_for() -> None:
    front, back = draw_garment(colour=TOP).picture, draw_garment(colour=(150, 60, 40)).picture
    garment = Garment(front, Category.UPPER_BODY, Hints(view_angle="back"), back)
    shown = reference(garment).back
    assert shown is not None
    assert tuple(shown[shown.shape[0] // 2, shown.shape[1] // 2]) == pytest.approx((150, 60, 40), abs=12)
    assert reference(replace(garment, hints=Hints(view_angle="front"))).back is None


@pytest.mark.parametrize("level", [0, 128, 255])
def test_picture_without_a_garment_is_refused(level: int) -> None:
    with pytest.raises(EngineError) as caught:
        reference(Garment(np.full((400, 300, 3), level, np.uint8), Category.UPPER_BODY))
    assert caught.value.code == "garment_not_recognised"


def test_wearer_without_such_a_garment_is_refused_with_help() -> None:
    wearer = draw_mannequin()
    with pytest.raises(EngineError, match="Send a picture of the garment alone") as caught:
        reference(Garment(wearer.photo, Category.FULL_BODY), DrawnSegmenter(draw_bare(wearer)))
    assert caught.value.code == "garment_not_recognised"


def draw_bare(wearer):  # noqa: ANN001, ANN201
    labels = np.zeros_like(wearer.person_map.labels)
    return replace(wearer, person_map=replace(wearer.person_map, labels=labels))
