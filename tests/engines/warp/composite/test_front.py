from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import SIDES, measure_body
from engines.warp.composite.arms import arm_places, arms_in_front
from engines.warp.composite.front import hands_in_front, head_in_front
from tests.engines.mannequin import draw_mannequin


@pytest.mark.parametrize(("sleeves", "freed"), [("long", True), ("short", False)])
def test_an_arm_lies_before_a_sleeveless_top_as_far_as_it_was_hidden(sleeves: str, freed: bool) -> None:
    """Where a short sleeve ended the arm is seen, and skin that does not run on into it would be a patch."""
    mannequin = draw_mannequin(sleeves=sleeves)
    body = measure_body(mannequin.person_map)
    old = mannequin.person_map.labels == Label.UPPER
    nothing = np.zeros(body.shape, np.float32)
    cover = arms_in_front(old, body, arm_places(body), dict.fromkeys(SIDES, 0.0), sleeves={}, cloth=nothing)
    inside_old = cover[old & (cover > 0.5)]
    assert (len(inside_old) > 50) is freed


def test_a_phone_in_a_hand_is_in_front_and_a_crumb_of_the_floor_is_not() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    labels = mannequin.person_map.labels.copy()
    rows, columns = np.nonzero(labels == Label.HANDS)
    phone = np.s_[rows.max() - 2 : rows.max() + 8, columns.max() - 8 : columns.max() + 4]
    crumb = np.s_[600:610, 235:245]
    labels[phone] = labels[crumb] = Label.OTHER
    nothing = np.zeros(labels.shape, bool)
    photo = mannequin.photo.astype(np.float32) / 255.0
    photo[phone] = photo[crumb] = 0.1
    person_map = replace(mannequin.person_map, labels=labels)
    cover = hands_in_front(photo, person_map, body, arm_places(body), sleeves={}, old=nothing)
    assert cover[phone][3:-3, 3:-3].min() > 0.9
    assert cover[crumb].max() == 0.0


def test_a_slanted_hand_has_no_teeth() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    rows, columns = np.indices(body.shape, dtype=np.float32)
    edge = 230 + 0.3 * (rows - 330)
    inside = np.clip(edge - columns, 0, 1) * (columns > 180) * (np.abs(rows - 330) < 40)
    labels = np.where(inside > 0.5, Label.HANDS, Label.BACKGROUND).astype(np.uint8)
    nothing = np.zeros(labels.shape, bool)
    photo = np.repeat((0.95 - 0.65 * inside)[..., None], 3, axis=2).astype(np.float32)
    person_map = replace(mannequin.person_map, labels=labels)
    cover = hands_in_front(photo, person_map, body, arm_places(body), sleeves={}, old=nothing)
    seen = cover[305:355, 200:].sum(axis=1)
    assert np.std(seen - edge[305:355, 0]) < 0.1


@pytest.mark.parametrize(("sleeves", "in_front"), [("long", True), ("short", False)])
def test_a_wrist_below_an_old_cuff_comes_with_its_hand(sleeves: str, in_front: bool) -> None:
    mannequin = draw_mannequin(sleeves=sleeves)
    body = measure_body(mannequin.person_map)
    places, labels = arm_places(body), mannequin.person_map.labels.copy()
    old = labels == Label.UPPER
    wrist = (places[1].share > 0.93) & (places[1].share < 1.0) & (places[1].near < 0.8)
    labels[wrist] = Label.ARMS
    seen = body.relabelled(labels)
    photo = mannequin.photo.astype(np.float32) / 255.0
    person_map = replace(mannequin.person_map, labels=labels)
    cover = hands_in_front(photo, person_map, seen, places, sleeves={}, old=old & ~wrist)
    assert bool(cover[wrist].mean() > 0.7) is in_front


def test_no_hand_shows_before_a_cuff_that_goes_over_its_root() -> None:
    mannequin = draw_mannequin(960, 760, arms="out", sleeves="long")
    body = measure_body(mannequin.person_map)
    places = arm_places(body)
    photo = mannequin.photo.astype(np.float32) / 255.0
    old = mannequin.person_map.labels == Label.UPPER
    sleeves = {
        side: ((place.share > 0.2) & (place.share < 1.18) & (place.near < 1.7)).astype(np.float32)
        for side, place in places.items()
    }
    shown = hands_in_front(photo, mannequin.person_map, body, places, sleeves=sleeves, old=old)
    under = np.maximum(*sleeves.values()) > 0.5
    assert ((mannequin.person_map.labels == Label.HANDS) & under).sum() > 50
    assert shown[under].max() < 0.05


@pytest.mark.parametrize(("down", "seen"), [(0.03, False), (0.25, True)])
def test_hair_that_ends_at_a_shoulder_hangs_behind_it_and_longer_hair_before_it(down: float, seen: bool) -> None:
    mannequin = draw_mannequin()
    unit = measure_body(mannequin.person_map).shoulder_width
    labels = np.full_like(mannequin.person_map.labels, Label.BACKGROUND)
    cloth = np.zeros(labels.shape, np.float32)
    cloth[200:] = 1
    strand = np.s_[120 : 200 + round(down * unit), 150:170]
    labels[strand] = Label.HAIR
    photo = np.full((*labels.shape, 3), 0.9, np.float32)
    photo[strand] = 0.1
    cover = head_in_front(photo, replace(mannequin.person_map, labels=labels), cloth, unit)
    assert cover[130:196, 154:166].min() > 0.9
    assert bool(cover[201 : 198 + round(down * unit), 154:166].min() > 0.9) is seen
    if not seen:
        assert cover[201:].max() < 0.05
