"""Invented limbs go on from what is seen of them."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Label, Landmark
from engines.warp.body.bare_limbs import bare_edges
from engines.warp.body.bare_parts import bare_arm, bare_leg, clothed_until
from engines.warp.body.limbs import usual_arm, usual_leg
from engines.warp.body.model import LEFT, RIGHT, measure_body
from engines.warp.drape.behind_arms import passes_in_front
from tests.engines.mannequin import draw_mannequin


def test_seen_leg_keeps_its_own_outline() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    knee = int(mannequin.point(Landmark.LEFT_KNEE)[1])
    below = np.indices(labels.shape)[0] > knee
    labels[below & (labels == Label.LOWER)] = Label.LEGS
    body = measure_body(mannequin.person_map)
    leg = body.legs[RIGHT]
    outer, inner = bare_edges(labels, (Label.LEGS,), leg, usual_leg(leg, body.shoulder_width))
    shin = int(np.searchsorted(leg.shares, 0.75))
    # The mannequin's shins are capsules with a radius of 0.042 of its height.
    assert outer[shin] + inner[shin] == pytest.approx(2 * 0.042 * labels.shape[0], rel=0.12)


def test_hidden_leg_has_the_usual_taper() -> None:
    body = measure_body(draw_mannequin().person_map)
    leg = body.legs[LEFT]
    outer, inner = bare_edges(body.labels, (Label.LEGS,), leg, usual_leg(leg, body.shoulder_width))
    widths = outer + inner
    assert widths[5] > widths[len(widths) // 2] > widths[-8]


def arm_widths(sleeves: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outer and inner edges of the right arm, and its shares."""
    body = measure_body(draw_mannequin(sleeves=sleeves, arms="out").person_map)
    arm = body.arms[RIGHT]
    usual = np.interp(arm.shares, [0.0, arm.bend, 1.0], (0.15, 0.11, 0.075)) * body.shoulder_width
    outer, inner = bare_edges(body.labels, (Label.ARMS, Label.HANDS), arm, usual, (Label.UPPER,))
    return outer, inner, arm.shares


def test_arm_under_a_short_sleeve_joins_the_seen_one_without_a_step() -> None:
    outer, inner, shares = arm_widths("short")
    around_cuff = (shares > 0.15) & (shares < 0.6)
    for edge in (outer, inner):
        steps = np.diff(edge[around_cuff])
        assert np.abs(steps).max() < 1.2
        assert np.abs(np.diff(steps)).max() < 0.8


def test_arm_at_the_cuff_is_as_wide_as_below_it_and_not_as_its_sleeve() -> None:
    outer, inner, shares = arm_widths("short")
    bare_outer, bare_inner, _ = arm_widths("none")
    at_cuff = int(np.searchsorted(shares, 0.41))
    # The sleeve is 0.036 of the height wide on either side of the bone, the arm 0.028.
    assert outer[at_cuff] + inner[at_cuff] == pytest.approx(bare_outer[at_cuff] + bare_inner[at_cuff], abs=3.5)
    assert outer[at_cuff] + inner[at_cuff] < 2 * 0.033 * 640


def test_a_strong_arm_goes_on_above_its_cuff_as_strong() -> None:
    mannequin = draw_mannequin(sleeves="short", arms="out")
    labels = mannequin.person_map.labels
    grown = cv2.dilate((labels == Label.ARMS).astype(np.uint8), np.ones((1, 23), np.uint8)) > 0
    labels[grown & (labels == Label.BACKGROUND)] = Label.ARMS
    body = measure_body(mannequin.person_map)
    arm = body.arms[RIGHT]
    usual = np.interp(arm.shares, [0.0, arm.bend, 1.0], (0.15, 0.11, 0.075)) * body.shoulder_width
    outer, inner = bare_edges(labels, (Label.ARMS, Label.HANDS), arm, usual, (Label.UPPER,))
    widths = outer + inner
    above, below = (int(np.searchsorted(arm.shares, share)) for share in (0.34, 0.52))
    assert widths[below] > 3.0 * usual[below]
    assert widths[above] > 0.9 * widths[below]


def test_the_outer_edge_of_an_arm_behind_the_body_is_where_it_is_seen() -> None:
    mannequin = draw_mannequin(sleeves="none", arms="out")
    labels = mannequin.person_map.labels
    body = measure_body(mannequin.person_map)
    arm = body.arms[RIGHT]
    usual = usual_arm(arm, body.shoulder_width)
    whole, _ = bare_edges(labels, (Label.ARMS, Label.HANDS), arm, usual, (Label.UPPER,))
    # Cloth before it leaves a strip of a quarter of its width.
    rows, columns = np.nonzero(labels == Label.ARMS)
    for sample in range(len(arm.shares)):
        on = np.hypot(columns - arm.line[sample, 0], rows - arm.line[sample, 1]) < 1.5 * whole[sample]
        offset = (columns[on] - arm.line[sample, 0]) * arm.outward[sample, 0]
        offset += (rows[on] - arm.line[sample, 1]) * arm.outward[sample, 1]
        inner = offset < 0.5 * whole[sample]
        labels[rows[on][inner], columns[on][inner]] = Label.UPPER
    strip, _ = bare_edges(labels, (Label.ARMS, Label.HANDS), arm, usual, (Label.UPPER,))
    forearm = (arm.shares > 0.3) & (arm.shares < 0.9)
    assert np.abs(strip - whole)[forearm].max() < 2.5


def test_a_hidden_arm_is_slimmer_than_its_sleeve_and_tapers() -> None:
    body = measure_body(draw_mannequin(sleeves="long").person_map)
    arm = body.arms[RIGHT]
    widths = usual_arm(arm, body.shoulder_width) / body.shoulder_width
    at = {name: widths[int(np.searchsorted(arm.shares, share))] for name, share in (("wrist", 1.0), ("root", 0.02))}
    elbow, above = (widths[int(np.searchsorted(arm.shares, share * arm.bend))] for share in (1.0, 0.85))
    assert at["root"] > elbow > above > at["wrist"]
    assert at["root"] < 0.13


def test_hidden_leg_stays_within_its_trousers() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    for side in (LEFT, RIGHT):
        leg = bare_leg(body, side, 0.1)
        assert (np.isin(body.labels, (Label.LOWER, Label.FEET))[leg.on & (leg.share < 0.95)]).mean() > 0.99


def test_limb_is_clothed_down_to_its_hem() -> None:
    body = measure_body(draw_mannequin().person_map)
    leg = body.legs[LEFT]
    cloth = np.zeros(body.shape, np.float32)
    cloth[: int(leg.points(np.array([0.4]))[0, 1])] = 1.0
    assert clothed_until(leg, cloth) == pytest.approx(0.4, abs=0.03)


def test_cloth_further_down_is_not_the_limbs_own() -> None:
    body = measure_body(draw_mannequin().person_map)
    leg = body.legs[LEFT]
    cloth = np.zeros(body.shape, np.float32)
    cloth[int(leg.points(np.array([0.7]))[0, 1]) :] = 1.0
    assert clothed_until(leg, cloth) == -1.0


def test_leg_beyond_its_end_is_empty() -> None:
    body = measure_body(draw_mannequin().person_map)
    assert not bare_leg(body, LEFT, 1.2).on.any()


def test_hanging_arms_are_not_in_front() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    assert not passes_in_front(body, LEFT)
    assert not passes_in_front(body, RIGHT)


def test_forearm_across_the_belly_is_in_front() -> None:
    mannequin = draw_mannequin(arms="out", sleeves="long")
    person = mannequin.person_map
    centre = person.labels.shape[1] / 2
    height = person.labels.shape[0]
    person.landmarks[Landmark.LEFT_WRIST, :2] = (centre + 10, 0.40 * height)
    row, column = int(0.40 * height), int(centre + 10)
    person.labels[row - 14 : row + 14, column - 20 : column + 14] = Label.HANDS
    body = measure_body(person)
    assert passes_in_front(body, RIGHT)
    assert not passes_in_front(body, LEFT)


def test_folds_of_trousers_do_not_show_in_the_outline_of_a_hidden_leg() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    body = measure_body(mannequin.person_map)
    leg = body.legs[LEFT]
    usual = usual_leg(leg, body.shoulder_width)
    wavy = np.full(labels.shape, Label.BACKGROUND, np.uint8)
    for row in range(int(leg.line[0, 1]), int(leg.line[-1, 1])):
        at = int(np.argmin(np.abs(leg.line[:, 1] - row)))
        half = 1.02 * usual[at] + 3.0 * np.sin(row / 6.0)
        middle = leg.line[at, 0]
        wavy[row, int(middle - half) : int(middle + half) + 1] = Label.LOWER
    outer, inner = bare_edges(wavy, (Label.LEGS,), leg, usual, (Label.LOWER,))
    for edge in (outer, inner):
        assert np.abs(np.diff((edge / usual)[4:56], n=2)).max() < 0.01


def test_an_arm_half_behind_the_body_ends_where_it_is_seen_to() -> None:
    mannequin = draw_mannequin(sleeves="short", arms="out")
    body = measure_body(mannequin.person_map)
    arm, limb = bare_arm(body, RIGHT, 0.0), body.arms[RIGHT]
    seen = body.labels == Label.ARMS
    body.labels[seen & (arm.across < 0.0)] = Label.UPPER
    aside = 0.12 * body.shoulder_width
    beside = replace(body, arms={**body.arms, RIGHT: replace(limb, line=limb.line + aside * limb.outward)})
    forearm = bare_arm(beside, RIGHT, 0.0)
    outer = forearm.on & (forearm.share > 0.5) & (forearm.share < 0.9) & (forearm.across > 0.0)
    assert (outer & ~seen).sum() < 0.1 * outer.sum()
