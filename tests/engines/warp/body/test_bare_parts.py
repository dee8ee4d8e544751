"""Invented limbs go on from what is seen of them."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Label, Landmark
from engines.warp.body.bare_parts import (
    TORSO_BARE_MOST,
    bare_edges,
    bare_half_width,
    bare_leg,
    clothed_until,
)
from engines.warp.body.limbs import LEG_BARE
from engines.warp.body.model import LEFT, RIGHT, BodyModel, measure_body
from tests.engines.mannequin import draw_mannequin


def test_seen_leg_keeps_its_own_outline() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    knee = int(mannequin.point(Landmark.LEFT_KNEE)[1])
    below = np.indices(labels.shape)[0] > knee
    labels[below & (labels == Label.LOWER)] = Label.LEGS
    body = measure_body(mannequin.person_map)
    leg = body.legs[RIGHT]
    outer, inner = bare_edges(labels, (Label.LEGS,), leg, leg.usual(LEG_BARE, body.shoulder_width))
    shin = int(np.searchsorted(leg.shares, 0.75))
    # The mannequin's shins are capsules with a radius of 0.042 of its height.
    assert outer[shin] + inner[shin] == pytest.approx(2 * 0.042 * labels.shape[0], rel=0.12)


def test_hidden_leg_has_the_usual_taper() -> None:
    body = measure_body(draw_mannequin().person_map)
    leg = body.legs[LEFT]
    outer, inner = bare_edges(body.labels, (Label.LEGS,), leg, leg.usual(LEG_BARE, body.shoulder_width))
    widths = outer + inner
    assert widths[5] > widths[len(widths) // 2] > widths[-8]


def arm_widths(sleeves: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outer and inner edges of the right arm, and its shares."""
    body = measure_body(draw_mannequin(sleeves=sleeves, arms="out").person_map)
    arm = body.arms[RIGHT]
    usual = np.interp(arm.shares, [0.0, arm.bend, 1.0], (0.15, 0.11, 0.075)) * body.shoulder_width
    outer, inner = bare_edges(body.labels, (Label.ARMS, Label.HANDS), arm, usual)
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
    outer, inner = bare_edges(labels, (Label.ARMS, Label.HANDS), arm, usual)
    widths = outer + inner
    above, below = (int(np.searchsorted(arm.shares, share)) for share in (0.34, 0.52))
    assert widths[below] > 3.0 * usual[below]
    assert widths[above] > 0.9 * widths[below]


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


HEIGHTS = np.array([0.55, 0.65], np.float32)


def seen(left: float, right: float) -> BodyModel:
    """A body whose torso is seen that wide to either side of its axis, in shoulder widths."""
    body = measure_body(draw_mannequin(1024, 768).person_map)
    unit = body.shoulder_width
    widths = {side: np.full_like(body.widths[side], unit * width) for side, width in ((LEFT, left), (-LEFT, right))}
    body = replace(body, widths=widths)
    body.labels[body.labels == Label.LOWER] = Label.UPPER
    return body


def test_a_loose_top_says_nothing_about_the_torso() -> None:
    body = seen(0.6, 0.6)
    most = np.interp(HEIGHTS, *zip(*TORSO_BARE_MOST, strict=True)) * body.shoulder_width
    np.testing.assert_allclose(bare_half_width(body, HEIGHTS, LEFT), most, rtol=1e-5)
