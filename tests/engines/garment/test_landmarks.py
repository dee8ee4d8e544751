"""Landmarks of drawn garments lie where they were drawn, on the outline and alike on both sides."""

from __future__ import annotations

import numpy as np
import pytest

from api.dashboard.samples import pixels_of
from engines.base import Category, EngineError
from engines.garment.cloth import LONG_SIDE, MARGIN, Cloth, looked_at
from engines.garment.cutout import cut_out
from engines.garment.dress_landmarks import find_dress_landmarks
from engines.garment.lower_landmarks import LEFT, RIGHT, SHAPES, LowerShape, find_lower_landmarks
from engines.garment.neckline import inner_back_alone, without_inner_back
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.garment_kinds import GarmentKind
from engines.kind_folding import fold_kind
from tests.engines.drawings import DrawnGarment, draw_garment
from tests.engines.hanging_drawings import AXIS, cloth_of, dress, network, shorts, skirt, trousers


def measure(drawn: DrawnGarment) -> UpperLandmarks:
    return find_upper_landmarks(cut_out(drawn.picture, Category.UPPER_BODY, network()))


def distance(drawn: DrawnGarment, name: str, found: np.ndarray) -> float:
    """Share of the garment's height by which an (offset from the axis, row) is off."""
    expected = drawn.points[name] * (LONG_SIDE / max(drawn.mask.shape)) + (0, MARGIN)
    return float(np.linalg.norm(found - expected) / (0.8 * LONG_SIDE))


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve", "tank top"])
def test_shoulders_armpits_and_hem_of_tops(kind: str) -> None:
    drawn = draw_garment(kind)
    marks = measure(drawn)
    assert abs(marks.axis - MARGIN - drawn.axis * LONG_SIDE / max(drawn.mask.shape)) < 12
    assert marks.symmetry > 0.93
    assert distance(drawn, "neck", marks.shoulders.neck_foot) < 0.06
    assert distance(drawn, "tip", marks.shoulders.tip) < 0.08
    assert distance(drawn, "armpit", np.array([marks.armpits.offset, marks.armpits.row])) < 0.08
    assert distance(drawn, "hem", np.array([drawn.points["hem"][0] * LONG_SIDE / 800, marks.hem])) < 0.04


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
def test_sleeves_run_from_the_shoulder_to_the_cuff(kind: str) -> None:
    drawn = draw_garment(kind)
    marks = measure(drawn)
    assert marks.sleeves is not None
    for side, sleeve in zip((-1, 1), marks.sleeves, strict=True):
        cuff = (sleeve.upper[-1] + sleeve.lower[-1]) / 2
        assert distance(drawn, "cuff", np.array([side * (cuff[0] - marks.axis), cuff[1]])) < 0.05
        assert np.hypot(*(sleeve.upper[0] - marks.point(side, marks.shoulders.tip))) < 2
    assert not (marks.torso_part & marks.sleeve_parts.any(axis=0)).any()


def test_tank_top_has_no_sleeves() -> None:
    assert measure(draw_garment("tank top")).sleeves is None


def test_missing_sleeve_is_taken_from_the_other_side() -> None:
    drawn = draw_garment("long sleeve")
    picture = drawn.picture.copy()
    picture[:, int(drawn.axis + 0.205 * drawn.mask.shape[0]) :] = 255
    marks = find_upper_landmarks(cut_out(picture, Category.UPPER_BODY, network()))
    assert marks.sleeves is not None
    assert [sleeve.side for sleeve in marks.sleeves] == [-1, -1]


def test_inside_of_the_back_is_found_behind_the_front_neckline_and_comes_off() -> None:
    drawn = draw_garment("t-shirt", colour=(60, 140, 90), folds=0.0)
    height, width = drawn.mask.shape
    x = np.arange(width) - drawn.axis
    neckline = 0.10 * height + 0.09 * height * np.sqrt(np.maximum(1 - (x / (0.085 * height)) ** 2, 0))
    inside = (np.arange(height)[:, None] < neckline[None]) & (np.abs(x) < 0.085 * height)[None] & (drawn.mask > 0)
    picture = drawn.picture.copy()
    picture[inside] = (25, 60, 40)
    cloth = cut_out(picture, Category.UPPER_BODY, network())
    back = find_upper_landmarks(cloth).back
    assert 0.5 < back.sum() / (inside.sum() * (LONG_SIDE / height) ** 2) < 1.5
    front, behind = without_inner_back(cloth, back), inner_back_alone(cloth, back)
    assert np.abs(front.alpha + behind.alpha - cloth.alpha).max() < 1e-4
    assert behind.alpha[back].mean() > 0.8


def test_lopsided_shape_is_no_garment() -> None:
    alpha = np.zeros((600, 600), np.float32)
    alpha[40:560, 40:120] = 1
    alpha[480:560, 40:560] = 1
    cloth = looked_at(Cloth(np.full((600, 600, 3), 0.3, np.float32), alpha), network())
    for measured in (find_upper_landmarks, find_dress_landmarks):
        with pytest.raises(EngineError) as error:
            measured(cloth)
        assert error.value.code == "garment_not_recognised"


def test_dress_is_drawn_in_at_its_waist_and_reaches_its_hem() -> None:
    marks = find_dress_landmarks(dress())
    assert marks.upper.sleeves is None
    assert marks.crotch is None
    assert marks.waist == pytest.approx(340, abs=25)
    assert marks.right[800] == pytest.approx(AXIS + 167.5, abs=6)
    assert marks.bottom == pytest.approx(840, abs=4)
    straight = cloth_of([(0, 110), (55, 70), (110, 95), (112, 190), (112, 840), (0, 840)])
    assert find_dress_landmarks(straight).waist is None


def test_jumpsuit_has_a_crotch_and_a_dress_that_is_called_one_has_none() -> None:
    crotch = find_dress_landmarks(dress(legs=True), GarmentKind.JUMPSUIT).crotch
    assert crotch is not None
    assert crotch[0] == pytest.approx(AXIS, abs=25)
    assert find_dress_landmarks(dress(legs=True), GarmentKind.DRESS).crotch is None


def test_trousers_have_a_waistband_a_crotch_and_two_legs() -> None:
    marks = find_lower_landmarks(trousers(waist=60, crotch=330, hem=830))
    assert marks.shape is LowerShape.LEGS
    assert marks.crotch == pytest.approx((AXIS, 330), abs=25)
    assert (marks.top, marks.bottom) == pytest.approx((60, 830), abs=3)
    assert marks.waist_width == pytest.approx(223, abs=6)
    assert marks.left[330] == pytest.approx(AXIS - 135, abs=4)
    assert marks.inseams[RIGHT][800] == pytest.approx(AXIS + 42, abs=4)
    assert marks.inseams[LEFT][800] == pytest.approx(AXIS - 42, abs=4)
    assert marks.inseams[LEFT][200] == pytest.approx(AXIS, abs=6)


def test_slanted_hems_are_measured() -> None:
    marks = find_lower_landmarks(cloth_of([(0, 200), (180, 200), (230, 560), (40, 620), (0, 500)]), GarmentKind.SHORTS)
    for side in (LEFT, RIGHT):
        assert marks.hems[side].ends == pytest.approx((560, 620), abs=8)


def test_skirt_has_no_legs_and_shorts_have() -> None:
    assert find_lower_landmarks(skirt(), GarmentKind.SKIRT).inseams == {}
    assert find_lower_landmarks(shorts()).shape is LowerShape.LEGS
    drawn = cut_out(pixels_of("wrap_skirt"), Category.LOWER_BODY, network())
    assert find_lower_landmarks(drawn).shape is LowerShape.SKIRT


@pytest.mark.parametrize(
    ("words", "shape"),
    [("Pleated skirt", LowerShape.SKIRT), ("Skorts", LowerShape.SKIRT), ("slim JEANS", LowerShape.LEGS)],
)
def test_words_of_the_caller_settle_the_shape(words: str, shape: LowerShape) -> None:
    kind = fold_kind(words)
    assert kind is not None
    assert SHAPES[kind] is shape
    assert find_lower_landmarks(trousers(), kind).shape is shape


def test_stated_trousers_get_a_crotch_though_the_legs_touch() -> None:
    marks = find_lower_landmarks(skirt(), GarmentKind.TROUSERS)
    assert marks.shape is LowerShape.LEGS
    assert marks.top + 0.15 * marks.height < marks.crotch[1] < marks.bottom - 20


def test_scrap_is_refused() -> None:
    scrap = Cloth(np.zeros((100, 100, 3), np.float32), np.zeros((100, 100), np.float32))
    with pytest.raises(EngineError) as refusal:
        find_lower_landmarks(scrap)
    assert refusal.value.code == "garment_not_recognised"
