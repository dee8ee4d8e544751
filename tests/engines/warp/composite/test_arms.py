"""Arms in front of new clothes, and sleeves behind the hips."""

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.warp.body.model import RIGHT, SIDES, BodyModel, measure_body
from engines.warp.composite.arms import arm_places, arms_in_front, forearms_before, under_cuffs
from engines.warp.composite.front import hands_in_front
from tests.engines.mannequin import Mannequin, draw_mannequin

SHAPE = (960, 760)
BARE = np.zeros(SHAPE, np.float32)


def worn_by(mannequin: Mannequin) -> np.ndarray:
    return np.asarray(mannequin.person_map.labels == Label.UPPER)


def cover_of(body: BodyModel, old: np.ndarray, end: float) -> np.ndarray:
    return arms_in_front(old, body, arm_places(body), dict.fromkeys(SIDES, end))


def test_a_bare_forearm_is_drawn_whole_and_the_wall_is_not() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="short")
    body = measure_body(mannequin.person_map)
    cover = cover_of(body, worn_by(mannequin), 0.35)
    forearm = (body.labels == Label.ARMS) & (arm_places(body)[RIGHT].share > 0.5)
    assert cover[forearm].mean() > 0.85
    assert cover[body.matte < 0.01].mean() < 0.001


def test_no_gap_between_arm_and_hand() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="short")
    body = measure_body(mannequin.person_map)
    places = arm_places(body)
    photo = mannequin.photo.astype(np.float32) / 255.0
    hands = hands_in_front(photo, mannequin.person_map, body, places, sleeves={})
    cover = np.maximum(cover_of(body, worn_by(mannequin), 0.35), hands)
    x, y = np.rint(body.arms[RIGHT].points(np.linspace(0.8, 1.04, 40))).astype(int).T
    assert cover[y, x].min() > 0.9


def test_new_cloth_covers_the_arm_above_the_end_of_its_sleeve() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    cover = cover_of(body, worn_by(mannequin), 0.5)
    place = arm_places(body)[RIGHT]
    assert cover[(place.share < 0.47) & (place.near < 1.2)].max() < 0.05
    assert cover[(place.share > 0.53) & (place.share < 0.9) & (place.near < 0.4)].min() > 0.95


def test_a_cuff_goes_over_the_wrist_of_its_own_hand() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    places = arm_places(body)
    cuff = ((places[RIGHT].share < 1.05) & (places[RIGHT].near < 1.5)).astype(np.float32)
    photo = mannequin.photo.astype(np.float32) / 255.0
    hands = hands_in_front(photo, mannequin.person_map, body, places, sleeves={RIGHT: cuff})
    inside = (cuff > 0) & (body.labels == Label.HANDS)
    assert inside.sum() > 100
    assert hands[inside].max() < 0.05
    assert hands[(body.labels == Label.HANDS) & (places[RIGHT].share > 1.11)].mean() > 0.5


def test_a_hand_that_hung_behind_the_hip_does_not_float_before_a_wide_skirt() -> None:
    body = measure_body(draw_mannequin(*SHAPE, arms="out", sleeves="none").person_map)
    arm, places = body.arms[RIGHT], arm_places(body)
    columns = np.arange(760)[None]
    middle = np.interp(np.arange(960), arm.line[:, 1], arm.line[:, 0])[:, None]
    labels = body.labels.copy()
    hidden = (labels == Label.ARMS) & (columns > 380) & (columns < middle)
    labels[hidden & (places[RIGHT].share > 0.45)] = Label.UPPER
    behind = replace(body, labels=labels)
    old = labels == Label.UPPER
    share, near = places[RIGHT].share, places[RIGHT].near
    forearm = (share > 0.65) & (share < 0.85) & (near < 0.5) & (columns > 380)
    seen = arm_places(behind)
    floating, before = (forearms_before(old, behind, seen, np.full(SHAPE, cloth, np.float32)) for cloth in (0.0, 1.0))
    assert not floating
    ends, _cloth = dict.fromkeys(SIDES, 0.3), np.ones(SHAPE, np.float32)
    cover = arms_in_front(old, behind, seen, ends, forearms=before)
    assert cover[forearm].mean() > 0.9
    assert arms_in_front(old, behind, seen, ends)[forearm].mean() < 0.6


def test_a_forearm_that_comes_to_light_is_no_wider_than_what_is_seen_above_it() -> None:
    body = measure_body(draw_mannequin(*SHAPE, arms="out", sleeves="none").person_map)
    columns, arm = np.arange(760)[None], body.arms[RIGHT]
    middle = np.interp(np.arange(960), arm.line[:, 1], arm.line[:, 0])[:, None]
    widths = {}
    for inwards in (2.0, 8.0):
        labels = body.labels.copy()
        labels[(labels == Label.ARMS) & (columns > 380) & (columns < middle - inwards)] = Label.UPPER
        labels[(labels == Label.ARMS) & (arm_places(body)[RIGHT].share > 0.5) & (columns > 380)] = Label.UPPER
        behind = replace(body, labels=labels)
        places = arm_places(behind)
        before = forearms_before(labels == Label.UPPER, behind, places, np.ones(SHAPE, np.float32))
        share = places[RIGHT].share
        widths[inwards] = before[RIGHT][(share > 0.66) & (share < 0.8)].sum()
    assert widths[2.0] < 0.95 * widths[8.0]


def test_the_shadow_of_a_garment_ends_softly_on_the_arms_before_it() -> None:
    body = measure_body(draw_mannequin(*SHAPE, arms="out", sleeves="none").person_map)
    places = arm_places(body)
    left = under_cuffs(body, places, dict.fromkeys(SIDES, 0.4))
    for side in SIDES:
        x, y = np.rint(body.arms[side].points(np.linspace(0.2, 0.9, 300))).astype(int).T
        along = left[y, x]
        assert along[:70].min() > 0.99
        assert along[-100:].max() < 0.01
        assert np.abs(np.diff(along)).max() < 0.2
