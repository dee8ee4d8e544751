"""Where arms below short cuffs come before the torso its shadow has left them."""

import numpy as np

from engines.warp.body.model import RIGHT, measure_body
from engines.warp.composite.arms import BARE_FROM, ArmPlace, arm_places
from engines.warp.composite.short_cuffs import coming_forward
from tests.engines.mannequin import draw_mannequin

SHAPE = (960, 760)
NOTHING = np.zeros(SHAPE, np.float32)


def arms() -> dict[int, ArmPlace]:
    return arm_places(measure_body(draw_mannequin(*SHAPE, arms="out", sleeves="none").person_map))


def test_an_arm_has_come_forward_where_it_is_drawn_before_the_torso() -> None:
    places = arms()
    place = places[RIGHT]
    bare = ((place.near < 1) & (place.share > BARE_FROM)).astype(np.float32)
    forward = coming_forward(places, {RIGHT: 0.2}, bare, NOTHING)
    on_arm = place.near < 0.8
    assert forward[on_arm & (place.share > BARE_FROM - 0.01) & (place.share < BARE_FROM)].min() > 0.95
    assert forward[on_arm & (place.share > 0) & (place.share < 0.15)].max() < 0.05
    assert forward[place.near > 1.5].max() == 0


def test_an_arm_behind_the_torso_stays_in_its_shadow() -> None:
    assert coming_forward(arms(), {RIGHT: 0.2}, NOTHING, NOTHING).max() == 0


def test_nothing_changes_where_the_sleeve_covers_that_place() -> None:
    bare = np.ones(SHAPE, np.float32)
    assert coming_forward(arms(), {RIGHT: 0.4}, bare, NOTHING).max() == 0
    assert coming_forward(arms(), {RIGHT: 0.0}, bare, NOTHING).max() == 0


def test_what_came_to_light_beside_the_arm_comes_forward_with_it() -> None:
    places = arms()
    place = places[RIGHT]
    bare = ((place.near < 1) & (place.share > BARE_FROM)).astype(np.float32)
    beside = (place.near > 1.5) & (place.near < 2) & (np.abs(place.share - BARE_FROM) < 0.01)
    assert coming_forward(places, {RIGHT: 0.2}, bare, beside.astype(np.float32))[beside].min() > 0.9
