"""Arms in front of new clothes, and sleeves behind the hips."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import RIGHT, SIDES, BodyModel, measure_body
from engines.warp.body.seen_arms import SeenArm, seen_arms
from engines.warp.body.silhouette import ease
from engines.warp.composite.arm_outline import drawn_outline
from engines.warp.composite.arms import (
    arm_places,
    arms_in_front,
    arms_left_alone,
    forearms_before,
    hidden_by_body,
    under_cuffs,
)
from engines.warp.composite.front import hands_in_front
from engines.warp.skin_edges import ending_by_colour
from tests.engines.mannequin import Mannequin, draw_mannequin

SHAPE = (960, 760)
BARE = np.zeros(SHAPE, np.float32)


def worn_by(mannequin: Mannequin) -> np.ndarray:
    return np.asarray(mannequin.person_map.labels == Label.UPPER)


def cover_of(body: BodyModel, old: np.ndarray, end: float) -> np.ndarray:
    return arms_in_front(
        old, body, arm_places(body), dict.fromkeys(SIDES, end), sleeves={}, cloth=np.zeros(SHAPE, np.float32)
    )


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
    hands = hands_in_front(photo, mannequin.person_map, body, places, sleeves={}, old=worn_by(mannequin))
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


def test_a_sleeve_does_not_lie_on_the_hip_that_hides_its_arm() -> None:
    body = measure_body(draw_mannequin(*SHAPE, arms="out", sleeves="none").person_map)
    arm = body.arms[RIGHT]
    labels = body.labels.copy()
    middle = np.interp(np.arange(960), arm.line[:, 1], arm.line[:, 0])[:, None]
    forearm = (np.arange(960) > arm.line[arm.shares > arm.bend][0, 1])[:, None]
    hip = forearm & (labels == Label.ARMS) & (np.arange(760)[None] > 380) & (np.arange(760)[None] < middle)
    labels[hip] = Label.LOWER
    behind = replace(body, labels=labels)
    share = arm_places(behind)[RIGHT].share
    inner = hip & (share > arm.bend + 0.15) & (share < 0.9) & (np.arange(760)[None] < middle - 8)
    assert hidden_by_body(behind, RIGHT, seen_arms(behind)[RIGHT], BARE)[inner].min() > 0.9
    whole = hidden_by_body(body, RIGHT, seen_arms(body)[RIGHT], BARE)
    assert whole[(share > arm.bend) & (np.arange(760)[None] > 380)].max() == 0


def test_a_sleeve_comes_out_from_behind_the_hip_along_a_slant() -> None:
    body = measure_body(draw_mannequin(*SHAPE, arms="down", sleeves="none").person_map)
    arm, half = body.arms[RIGHT], 0.1 * body.shoulder_width
    even = np.full(len(arm.shares), half)
    front = ease((arm.shares - 0.65) / 0.3).astype(np.float64)
    seen = SeenArm(even, even, np.zeros_like(even), even, front)
    hidden = (hidden_by_body(body, RIGHT, seen, BARE) > 0.5).sum(axis=1)
    rows = np.arange(*np.rint(arm.points(np.array([0.6, 1.0]))[:, 1]).astype(int))
    assert hidden[rows[0]] > half
    assert hidden[rows[-1]] == 0
    assert np.abs(np.diff(hidden[rows])).max() < 0.35 * half


def test_a_sleeve_goes_behind_the_hip_along_a_slant_below_the_hem() -> None:
    body = measure_body(draw_mannequin(*SHAPE, arms="down", sleeves="none").person_map)
    arm, half = body.arms[RIGHT], 0.1 * body.shoulder_width
    even = np.full(len(arm.shares), half)
    seen = SeenArm(even, even, np.zeros_like(even), even, np.zeros_like(even))
    hem = round(float(arm.points(np.array([0.5]))[0, 1]))
    cloth = BARE.copy()
    cloth[:hem] = 1
    hidden = (hidden_by_body(body, RIGHT, seen, cloth) > 0.5).sum(axis=1)
    last = round(float(arm.points(np.array([1.0]))[0, 1]))
    assert hidden[: hem + 4].max() < 0.2 * half
    assert hidden[last - 4] > half
    assert np.abs(np.diff(hidden[hem:last])).max() < 0.2 * half


@pytest.mark.parametrize(("old", "left_alone"), [(Label.LOWER, True), (Label.UPPER, False)])
def test_arms_that_the_old_garment_did_not_cover_stay_as_they_are(old: Label, left_alone: bool) -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="short")
    body = measure_body(mannequin.person_map)
    cover = arms_left_alone(mannequin.person_map.labels == old, body, arm_places(body))
    x, y = np.rint(body.arms[RIGHT].points(np.array([0.6, 0.8, 0.95]))).astype(int).T
    assert (cover[y, x] > 0.9).all() == left_alone


def test_a_cuff_goes_over_the_wrist_of_its_own_hand() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    places = arm_places(body)
    cuff = ((places[RIGHT].share < 1.05) & (places[RIGHT].near < 1.5)).astype(np.float32)
    photo = mannequin.photo.astype(np.float32) / 255.0
    hands = hands_in_front(photo, mannequin.person_map, body, places, sleeves={RIGHT: cuff}, old=worn_by(mannequin))
    inside = (cuff > 0) & (body.labels == Label.HANDS)
    assert inside.sum() > 100
    assert hands[inside].max() < 0.05
    assert hands[(body.labels == Label.HANDS) & (places[RIGHT].share > 1.11)].mean() > 0.5


def test_fingers_are_whole_although_their_labels_have_teeth() -> None:
    """Labels come from a coarser grid than the photo; a finger is only a few of its cells wide."""
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="short")
    body = measure_body(mannequin.person_map)
    photo, labels = mannequin.photo.astype(np.float32) / 255.0, mannequin.person_map.labels.copy()
    finger = np.zeros(SHAPE, dtype=bool)
    finger[400:410, 300:360] = True
    photo[380:430, 280:380] = 0.95
    photo[finger] = (0.45, 0.28, 0.2)
    labels[finger] = Label.HANDS
    labels[400:402, 304:356:8] = Label.UPPER
    labels[408:410, 300:356:8] = Label.UPPER
    labels[380:430, 280:380][~finger[380:430, 280:380]] = Label.UPPER
    mended = replace(mannequin.person_map, labels=ending_by_colour(photo, labels, body.shoulder_width))
    hands = hands_in_front(photo, mended, body, arm_places(body), sleeves={}, old=worn_by(mannequin))
    assert hands[402:408, 306:354].min() > 0.95
    assert hands[finger].mean() > 0.85
    assert hands[392:396, 300:360].max() < 0.1


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
    ends, cloth = dict.fromkeys(SIDES, 0.3), np.ones(SHAPE, np.float32)
    cover = arms_in_front(old, behind, seen, ends, sleeves={}, cloth=cloth, forearms=before)
    assert cover[forearm].mean() > 0.9
    assert arms_in_front(old, behind, seen, ends, sleeves={}, cloth=cloth)[forearm].mean() < 0.6


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


def test_below_a_narrow_cuff_the_torsos_edge_leads_over_to_the_arms() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    places = arm_places(body)
    arm, share = body.arms[RIGHT], places[RIGHT].share
    offset = np.interp(share, arm.shares, (arm.outer + arm.inner) / 2) * places[RIGHT].near
    inwards = np.arange(760)[None] < np.interp(np.arange(960), arm.line[:, 1], arm.line[:, 0])[:, None]
    cuff = ((share < 0.4) & (~inwards | (offset < 0.2 * arm.inner.max())) & (places[RIGHT].near < 1.3)).astype(
        np.float32
    )
    ends = {RIGHT: 0.4}
    cover = arms_in_front(
        worn_by(mannequin), body, places, ends, sleeves={RIGHT: cuff}, cloth=np.zeros(SHAPE, np.float32)
    )
    whole = arms_in_front(worn_by(mannequin), body, places, ends, sleeves={}, cloth=np.zeros(SHAPE, np.float32))
    below = {wide: ((share > wide) & (share < wide + 0.02)) for wide in (0.41, 0.6)}
    assert cover[below[0.41]].sum() < 0.85 * whole[below[0.41]].sum()
    np.testing.assert_allclose(cover[below[0.6]].sum(), whole[below[0.6]].sum(), rtol=0.02)


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


def test_below_a_short_cuff_the_torsos_edge_leads_over_to_the_arms() -> None:
    mannequin = draw_mannequin(*SHAPE, arms="out", sleeves="none")
    body = measure_body(mannequin.person_map)
    places = arm_places(body)
    arm, share = body.arms[RIGHT], places[RIGHT].share
    centre = np.interp(np.arange(960), arm.line[:, 1], arm.line[:, 0])[:, None]
    # The torso hides the inner half of the arm, which comes before it farther down than the cuff ends.
    torso = ((np.arange(760)[None] < centre) & (places[RIGHT].near < 3)).astype(np.float32)
    cuff = ((share < 0.2) & (places[RIGHT].near < 1.3)).astype(np.float32)
    ends = {RIGHT: 0.2}
    cover = arms_in_front(worn_by(mannequin), body, places, ends, sleeves={RIGHT: cuff}, cloth=torso)
    shown = [cover[(share > place) & (share < place + 0.02)].sum() for place in (0.31, 0.8)]
    whole = drawn_outline(body.shape, arm, places[RIGHT].seen)
    level = [whole[(share > place) & (share < place + 0.02)].sum() for place in (0.31, 0.8)]
    assert shown[0] < 0.85 * level[0]
    np.testing.assert_allclose(shown[1], level[1], rtol=0.02)
