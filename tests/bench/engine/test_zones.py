"""Zones are read from the person map of a person who was drawn."""

from dataclasses import replace

import numpy as np
import pytest

from bench.engine import zones
from engines.base import Category, Label, Landmark, PersonMap
from tests.engines.mannequin import draw_mannequin


@pytest.fixture(scope="module")
def person_map() -> PersonMap:
    return draw_mannequin().person_map


def relabelled(person_map: PersonMap, old: Label, new: Label) -> PersonMap:
    return replace(person_map, labels=np.where(person_map.labels == old, new, person_map.labels).astype(np.uint8))


def test_old_clothes_are_those_of_the_category(person_map: PersonMap) -> None:
    labels = person_map.labels
    np.testing.assert_array_equal(zones.old_clothes(person_map, Category.UPPER_BODY), labels == Label.UPPER)
    np.testing.assert_array_equal(zones.old_clothes(person_map, Category.LOWER_BODY), labels == Label.LOWER)
    both = (labels == Label.UPPER) | (labels == Label.LOWER)
    np.testing.assert_array_equal(zones.old_clothes(person_map, Category.FULL_BODY), both)


def test_a_dress_is_a_top_above_and_a_skirt_below_and_nothing_twice(person_map: PersonMap) -> None:
    dressed = relabelled(relabelled(person_map, Label.UPPER, Label.FULL), Label.LOWER, Label.FULL)
    upper = zones.old_clothes(dressed, Category.UPPER_BODY)
    lower = zones.old_clothes(dressed, Category.LOWER_BODY)
    hips = person_map.landmarks[Landmark.LEFT_HIP, 1]
    shoulders = person_map.landmarks[Landmark.LEFT_SHOULDER, 1]
    assert upper.any()
    assert lower.any()
    assert np.flatnonzero(upper.any(axis=1)).max() == pytest.approx(shoulders + 0.7 * (hips - shoulders), abs=1.5)
    assert np.flatnonzero(lower.any(axis=1)).min() == pytest.approx(shoulders + 1.1 * (hips - shoulders), abs=1.5)


def test_a_top_covers_the_chest_and_trousers_the_thighs(person_map: PersonMap) -> None:
    top = zones.to_cover(person_map, Category.UPPER_BODY)
    trousers = zones.to_cover(person_map, Category.LOWER_BODY)
    assert set(np.unique(person_map.labels[top])) == {Label.UPPER}
    assert set(np.unique(person_map.labels[trousers])) == {Label.LOWER}
    knees = person_map.landmarks[Landmark.LEFT_KNEE, 1]
    assert np.flatnonzero(trousers.any(axis=1)).max() < knees
    np.testing.assert_array_equal(zones.to_cover(person_map, Category.FULL_BODY), top | trousers)


def test_a_hand_on_the_chest_is_not_to_be_covered(person_map: PersonMap) -> None:
    labels = person_map.labels.copy()
    before = zones.to_cover(person_map, Category.UPPER_BODY)
    row = int(np.flatnonzero(before.any(axis=1)).mean())
    labels[row - 10 : row + 10] = np.where(before[row - 10 : row + 10], Label.HANDS, labels[row - 10 : row + 10])
    after = zones.to_cover(replace(person_map, labels=labels), Category.UPPER_BODY)
    assert not after[row - 10 : row + 10].any()
    assert after.sum() < before.sum()


def test_the_unit_does_not_vanish_when_somebody_turns(person_map: PersonMap) -> None:
    landmarks = person_map.landmarks.copy()
    front = zones.shoulder_width(person_map)
    middle = landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], 0].mean()
    landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], 0] = middle
    assert zones.shoulder_width(replace(person_map, landmarks=landmarks)) > 0.4 * front


def test_kept_parts_have_no_rim(person_map: PersonMap) -> None:
    kept = zones.kept_parts(person_map)
    whole = np.isin(person_map.labels, zones.KEPT)
    assert kept.any()
    assert not (kept & ~whole).any()
    assert zones.distance_from(~whole)[kept].min() > zones.MIXED_RIM


def test_far_from_nothing_is_everything() -> None:
    assert np.isinf(zones.distance_from(np.zeros((4, 5), bool))).all()
    dot = np.zeros((9, 9), bool)
    dot[4, 4] = True
    assert zones.distance_from(dot)[4, 8] == pytest.approx(4.0, abs=0.1)


def test_forearms_cover_arms_and_hands_that_hang(person_map: PersonMap) -> None:
    hands = person_map.labels == Label.HANDS
    assert zones.forearms(person_map)[hands].mean() > 0.9
    assert not zones.forearms(person_map)[person_map.labels == Label.FACE].any()
