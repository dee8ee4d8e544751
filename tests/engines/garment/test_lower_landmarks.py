"""Waistband, crotch and edges are found where they were drawn."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import EngineError
from engines.garment.cloth import Cloth
from engines.garment.lower_landmarks import LEFT, RIGHT, SHAPES, LowerShape, find_lower_landmarks
from engines.garment_kinds import GarmentKind
from engines.kind_folding import fold_kind
from tests.engines.hanging_drawings import AXIS, cloth_of, shorts, skirt, trousers


def test_trousers_have_a_crotch() -> None:
    marks = find_lower_landmarks(trousers(crotch=330))
    assert marks.shape is LowerShape.LEGS
    assert marks.crotch == pytest.approx((AXIS, 330), abs=16)


def test_waistband_and_hem() -> None:
    marks = find_lower_landmarks(trousers(waist=60, hem=830))
    assert marks.top == pytest.approx(60, abs=3)
    assert marks.bottom == pytest.approx(830, abs=3)
    assert marks.waist_width == pytest.approx(223, abs=6)
    assert marks.axis == pytest.approx(AXIS, abs=1)


def test_edges_follow_the_outline() -> None:
    marks = find_lower_landmarks(trousers())
    assert marks.left[330] == pytest.approx(AXIS - 135, abs=3)
    assert marks.right[330] == pytest.approx(AXIS + 135, abs=3)
    assert marks.inseams[RIGHT][800] == pytest.approx(AXIS + 42, abs=4)
    assert marks.inseams[LEFT][800] == pytest.approx(AXIS - 42, abs=4)


def test_inseam_is_the_centre_line_above_the_crotch() -> None:
    marks = find_lower_landmarks(trousers())
    assert marks.inseams[LEFT][200] == pytest.approx(AXIS, abs=2)


def test_slanted_hems_are_measured() -> None:
    slanted = cloth_of([(0, 200), (180, 200), (230, 560), (40, 620), (0, 500)])
    marks = find_lower_landmarks(slanted, GarmentKind.SHORTS)
    for side in (LEFT, RIGHT):
        assert marks.hems[side].ends == pytest.approx((560, 620), abs=8)
    assert marks.leg_length == pytest.approx(590 - marks.crotch[1], abs=8)


def test_a_leg_does_not_narrow_where_the_end_of_its_hem_is_rounded() -> None:
    """Its sides go on straight down to the hem, whose course runs up into the corner."""
    outer_end = [(132.0, 700.0), (129.0, 770.0), (125.0, 780.0), (115.0, 792.0), (105.0, 800.0)]
    rounded = cloth_of([(0, 60), (110, 60), (135, 330), *outer_end, (42, 800), (0, 330)])
    marks = find_lower_landmarks(rounded)
    assert marks.right[799] == pytest.approx(AXIS + 128, abs=3)
    for side in (LEFT, RIGHT):
        assert marks.hems[side].lower_at(np.array([0.03, 0.5]))[0] < -8
        assert abs(marks.hems[side].lower_at(np.array([0.5]))[0]) < 3


def test_an_inseam_that_slants_is_no_rounded_end() -> None:
    slanting = cloth_of([(0, 200), (180, 200), (230, 600), (130, 600), (0, 440)])
    marks = find_lower_landmarks(slanting, GarmentKind.SHORTS)
    assert marks.inseams[RIGHT][590] == pytest.approx(AXIS + 122, abs=6)


def test_skirt_has_no_crotch() -> None:
    marks = find_lower_landmarks(skirt())
    assert marks.shape is LowerShape.SKIRT
    assert marks.inseams == {}


def test_shorts_are_no_skirt() -> None:
    assert find_lower_landmarks(shorts()).shape is LowerShape.LEGS


def test_rounded_hem_is_continued_straight() -> None:
    rounded = cloth_of([(0, 60), (100, 60), (190, 700), (150, 760), (60, 800), (0, 800)])
    marks = find_lower_landmarks(rounded)
    assert marks.right[800] == pytest.approx(AXIS + 100 + 90 * 740 / 640, abs=30)


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        ("Pleated skirt", LowerShape.SKIRT),
        ("kilt", LowerShape.SKIRT),
        ("sarong", LowerShape.SKIRT),
        ("Skorts", LowerShape.SKIRT),
        ("slim JEANS", LowerShape.LEGS),
        ("pantalon", LowerShape.LEGS),
        ("slacks", LowerShape.LEGS),
        ("denim", LowerShape.LEGS),
        ("culottes", LowerShape.LEGS),
        ("Bermudas", LowerShape.LEGS),
        ("sweatpants", LowerShape.LEGS),
        ("cargo", LowerShape.LEGS),
    ],
)
def test_words_of_the_caller(words: str, shape: LowerShape) -> None:
    kind = fold_kind(words)
    assert kind is not None
    assert SHAPES[kind] is shape


def test_stated_skirt_keeps_its_slit() -> None:
    assert find_lower_landmarks(trousers(), GarmentKind.SKIRT).shape is LowerShape.SKIRT


def test_stated_trousers_get_a_crotch_though_the_legs_touch() -> None:
    marks = find_lower_landmarks(skirt(), GarmentKind.TROUSERS)
    assert marks.shape is LowerShape.LEGS
    assert 150 < marks.crotch[1] < 300


def test_scrap_is_refused() -> None:
    scrap = Cloth(np.zeros((100, 100, 3), np.float32), np.zeros((100, 100), np.float32))
    with pytest.raises(EngineError) as refusal:
        find_lower_landmarks(scrap)
    assert refusal.value.code == "garment_not_recognised"


def _slanting(cloth: Cloth, shift: float) -> Cloth:
    """The cloth with every row moved aside by so much per row below the first."""
    height, width = cloth.alpha.shape
    way = np.array([[1, shift, 0], [0, 1, 0]], np.float32)
    return replace(cloth, alpha=np.asarray(cv2.warpAffine(cloth.alpha, way, (width, height)), np.float32))


def test_gap_that_slants_is_followed_up_to_the_crotch() -> None:
    straight, slanting = trousers(crotch=330), _slanting(trousers(crotch=330), -0.16)
    assert find_lower_landmarks(slanting).crotch[1] == pytest.approx(find_lower_landmarks(straight).crotch[1], abs=20)


def test_gap_that_slants_a_little_ends_where_the_legs_part() -> None:
    bowed = cloth_of([(0, 160), (110, 160), (120, 800), (14, 800), (6, 380), (0, 330)])
    marks = find_lower_landmarks(_slanting(bowed, -0.04))
    assert marks.crotch[1] == pytest.approx(find_lower_landmarks(bowed).crotch[1], abs=8)


def _slit(begins: int) -> Cloth:
    """A narrow garment 640 pixels high whose gap reaches up to that row."""
    return cloth_of([(0, 160), (110, 160), (120, 800), (30, 800), (0, begins)])


@pytest.mark.parametrize("kind", [GarmentKind.TROUSERS, GarmentKind.SKIRT])
def test_low_notch_is_no_crotch(kind: GarmentKind) -> None:
    marks = find_lower_landmarks(_slit(600), kind)
    assert marks.crotch[1] < 400 if kind is GarmentKind.TROUSERS else marks.shape is LowerShape.SKIRT


def test_low_notch_is_asked_about_where_nobody_says_what_it_is() -> None:
    with pytest.raises(EngineError, match="garmentCategory"):
        find_lower_landmarks(_slit(600))
    assert find_lower_landmarks(_slit(370)).shape is LowerShape.LEGS


def test_legs_without_a_waistband_are_refused() -> None:
    with pytest.raises(EngineError, match="waistband"):
        find_lower_landmarks(_slanting(_slit(165), 0.1))
