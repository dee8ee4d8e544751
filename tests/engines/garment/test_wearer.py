from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Category, EngineError, Label, Landmark, PersonMap, Picture
from engines.garment.cloth import LONG_SIDE, Cloth
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.garment.wearer import lifted_off_wearer
from tests.engines.hanging_drawings import network
from tests.engines.mannequin import SKIN, TROUSERS, Mannequin, draw_mannequin

TOP = (40, 60, 150)


def lifted(photo: Picture, person_map: PersonMap, category: Category) -> Cloth:
    return lifted_off_wearer(photo, person_map, category, network())


def with_hands_before_the_belly(mannequin: Mannequin, length: float) -> Mannequin:
    photo, labels = mannequin.photo.copy(), mannequin.person_map.labels.copy()
    height, width = labels.shape
    spot = np.zeros(labels.shape, np.uint8)
    reach, row = round(length * height / 2), round(0.36 * height)
    cv2.line(spot, (width // 2 - reach, row), (width // 2 + reach, row), 1, round(0.06 * height))
    photo[spot > 0], labels[spot > 0] = SKIN, Label.HANDS
    return Mannequin(photo, replace(mannequin.person_map, labels=labels))


def test_top_comes_off_alone_and_fills_the_canvas() -> None:
    mannequin = draw_mannequin(top=TOP)
    cloth = lifted(mannequin.photo, mannequin.person_map, Category.UPPER_BODY)
    solid = cloth.alpha > 0.9
    rows = np.flatnonzero(solid.any(axis=1))
    columns = np.flatnonzero(solid.any(axis=0))
    assert max(rows[-1] - rows[0], columns[-1] - columns[0]) > 0.8 * LONG_SIDE
    assert np.abs(cloth.colour[solid] * 255 - TOP).max(axis=1).mean() < 8.0


def test_trousers_come_off_without_top_and_shoes() -> None:
    mannequin = draw_mannequin(top=TOP)
    cloth = lifted(mannequin.photo, mannequin.person_map, Category.LOWER_BODY)
    solid = cloth.alpha > 0.9
    assert np.abs(cloth.colour[solid] * 255 - TROUSERS).max(axis=1).mean() < 8.0


def test_hand_over_the_cloth_becomes_cloth() -> None:
    free = draw_mannequin(top=TOP)
    held = with_hands_before_the_belly(free, 0.01)
    wanted = lifted(free.photo, free.person_map, Category.UPPER_BODY)
    cloth = lifted(held.photo, held.person_map, Category.UPPER_BODY)
    assert (cloth.alpha > 0.9).sum() == pytest.approx((wanted.alpha > 0.9).sum(), rel=0.01)
    assert np.abs(cloth.colour[cloth.alpha > 0.9] * 255 - TOP).max() < 40.0


def test_arms_folded_before_the_top_are_an_error() -> None:
    held = with_hands_before_the_belly(draw_mannequin(top=TOP), 0.12)
    with pytest.raises(EngineError, match="hide too much") as caught:
        lifted(held.photo, held.person_map, Category.UPPER_BODY)
    assert caught.value.code == "garment_not_recognised"


def test_whole_outfit_is_taken_for_a_dress_where_there_is_none() -> None:
    mannequin = draw_mannequin(top=TOP)
    cloth = lifted(mannequin.photo, mannequin.person_map, Category.FULL_BODY)
    colours = cloth.colour[cloth.alpha > 0.9] * 255
    assert (np.abs(colours - TOP).max(axis=1) < 12).mean() > 0.3
    assert (np.abs(colours - TROUSERS).max(axis=1) < 12).mean() > 0.3


def test_nothing_of_the_kind_worn_is_an_error() -> None:
    mannequin = draw_mannequin(top=TOP)
    labels = np.where(mannequin.person_map.labels == Label.UPPER, Label.TORSO_SKIN, mannequin.person_map.labels)
    bare = replace(mannequin.person_map, labels=labels.astype(np.uint8))
    with pytest.raises(EngineError, match="wears no such garment") as caught:
        lifted(mannequin.photo, bare, Category.UPPER_BODY)
    assert caught.value.code == "garment_not_recognised"


def test_worn_cloth_shows_no_inside_of_its_back_and_says_that_it_was_worn() -> None:
    mannequin = draw_mannequin(top=TOP, sleeves="short")
    cloth = lifted(mannequin.photo, mannequin.person_map, Category.UPPER_BODY)
    assert cloth.worn
    assert not find_upper_landmarks(cloth).back.any()


def test_trousers_cut_off_by_the_picture_are_an_error() -> None:
    mannequin = draw_mannequin(top=TOP)
    rows = round(0.75 * mannequin.photo.shape[0])
    cut = replace(
        mannequin.person_map, labels=mannequin.person_map.labels[:rows], matte=mannequin.person_map.matte[:rows]
    )
    with pytest.raises(EngineError, match="only partly in it"):
        lifted(mannequin.photo[:rows], cut, Category.LOWER_BODY)
    assert lifted(mannequin.photo[:rows], cut, Category.UPPER_BODY).alpha.any()


def test_top_cut_off_above_its_neck_is_an_error() -> None:
    mannequin = draw_mannequin(top=TOP)
    first = int(np.flatnonzero((mannequin.person_map.labels == Label.UPPER).any(axis=1))[0])
    row = first + round(0.04 * mannequin.photo.shape[0])
    labels, matte = mannequin.person_map.labels[row:], mannequin.person_map.matte[row:]
    cut = replace(mannequin.person_map, labels=labels, matte=matte)
    with pytest.raises(EngineError, match="only partly in it"):
        lifted(mannequin.photo[row:], cut, Category.UPPER_BODY)


def test_trousers_on_a_raised_leg_are_an_error() -> None:
    mannequin = draw_mannequin(top=TOP)
    landmarks = mannequin.person_map.landmarks.copy()
    landmarks[Landmark.LEFT_KNEE, :2] = landmarks[Landmark.LEFT_HIP, :2] + (90, 30)
    with pytest.raises(EngineError, match="does not stand on both legs"):
        lifted(mannequin.photo, replace(mannequin.person_map, landmarks=landmarks), Category.LOWER_BODY)
