"""Hands, and what they hold, stay before the new garment."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import SIDES, measure_body
from engines.warp.composite.arms import arms_in_front
from engines.warp.composite.front import hands_in_front
from tests.engines.mannequin import draw_mannequin


@pytest.mark.parametrize(("sleeves", "freed"), [("long", True), ("short", False)])
def test_an_arm_lies_before_a_sleeveless_top_as_far_as_it_was_hidden(sleeves: str, freed: bool) -> None:
    """Where a short sleeve ended the arm is seen, and skin that does not run on into it would be a patch."""
    mannequin = draw_mannequin(sleeves=sleeves)
    body = measure_body(mannequin.person_map)
    old = mannequin.person_map.labels == Label.UPPER
    cover = arms_in_front(old, body, dict.fromkeys(SIDES, 0.0))
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
    photo = mannequin.photo.astype(np.float32) / 255.0
    photo[phone] = photo[crumb] = 0.1
    cover = hands_in_front(photo, labels, body.shoulder_width, body.arm_places, {})
    assert cover[phone][3:-3, 3:-3].min() > 0.9
    assert cover[crumb].max() == 0.0


def test_a_slanted_hand_has_no_teeth() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    rows, columns = np.indices(body.shape, dtype=np.float32)
    edge = 230 + 0.3 * (rows - 330)
    inside = np.clip(edge - columns, 0, 1) * (columns > 180) * (np.abs(rows - 330) < 40)
    labels = np.where(inside > 0.5, Label.HANDS, Label.BACKGROUND).astype(np.uint8)
    photo = np.repeat((0.95 - 0.65 * inside)[..., None], 3, axis=2).astype(np.float32)
    cover = hands_in_front(photo, labels, body.shoulder_width, body.arm_places, {})
    seen = cover[305:355, 200:].sum(axis=1)
    assert np.std(seen - edge[305:355, 0]) < 0.1


def test_no_hand_shows_before_a_cuff_that_goes_over_its_root() -> None:
    mannequin = draw_mannequin(960, 760, arms="out", sleeves="long")
    body = measure_body(mannequin.person_map)
    places = body.arm_places
    photo = mannequin.photo.astype(np.float32) / 255.0
    sleeves = {
        side: ((share > 0.2) & (share < 1.18) & (near < 1.7)).astype(np.float32)
        for side, (near, share) in places.items()
    }
    shown = hands_in_front(photo, body.labels, body.shoulder_width, places, sleeves)
    under = np.maximum(*sleeves.values()) > 0.5
    assert ((mannequin.person_map.labels == Label.HANDS) & under).sum() > 50
    assert shown[under].max() < 0.05
