"""Hidden legs have knees, calves and ankles; seen ones are left alone."""

from itertools import pairwise

import cv2
import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.leg_form import formed
from engines.warp.body.limbs import Limb, measure_leg, usual_leg
from engines.warp.body.model import RIGHT, BodyModel, measure_body
from tests.engines.mannequin import draw_mannequin


def trousered_leg() -> tuple[BodyModel, Limb, np.ndarray]:
    body = measure_body(draw_mannequin().person_map)
    labels = np.where(body.labels == Label.LEGS, np.uint8(Label.LOWER), body.labels)
    return body, body.legs[RIGHT], labels


def at(leg: Limb, edge: np.ndarray, place: float) -> float:
    """An edge at a place on the shin, 0 at the knee and 1 at the ankle."""
    return float(np.interp(leg.bend + place * (1.0 - leg.bend), leg.shares, edge))


def test_a_hidden_calf_bulges_and_lower_within_than_without() -> None:
    body, leg, labels = trousered_leg()
    plain = usual_leg(leg, body.shoulder_width)
    outer, inner = formed(labels, leg, (plain, plain), body.shoulder_width)
    shin = np.linspace(0.1, 0.7, 40)
    gained = [np.array([at(leg, edge - plain, place) for place in shin]) for edge in (outer, inner)]
    assert min(gains.max() for gains in gained) > 0.008 * body.shoulder_width
    assert shin[gained[0].argmax()] < shin[gained[1].argmax()]


def test_a_hidden_leg_is_narrow_below_the_knee_and_above_the_ankle() -> None:
    body, leg, labels = trousered_leg()
    plain = usual_leg(leg, body.shoulder_width)
    outer, inner = formed(labels, leg, (plain, plain), body.shoulder_width)
    assert at(leg, outer + inner - 2 * plain, 0.0) < 0
    assert at(leg, outer + inner - 2 * plain, 0.8) < -0.015 * body.shoulder_width


def test_what_is_seen_of_a_leg_stays_as_it_is() -> None:
    body, leg, labels = trousered_leg()
    plain = usual_leg(leg, body.shoulder_width)
    labels[labels == Label.LOWER] = Label.LEGS
    outer, _ = formed(labels, leg, (plain, plain), body.shoulder_width)
    seen = leg.shares <= 0.9
    np.testing.assert_allclose(outer[seen], plain[seen], atol=0.01)


def test_a_shin_that_points_towards_the_camera_has_no_form() -> None:
    body, leg, labels = trousered_leg()
    plain = usual_leg(leg, body.shoulder_width)
    unit = leg.length * (1.0 - leg.bend) / 0.6
    np.testing.assert_array_equal(formed(labels, leg, (plain, plain), unit)[0], plain)


@pytest.mark.parametrize(("knee", "fills"), [((330, 210), True), ((220, 360), False)])
def test_the_knee_of_a_raised_leg_fills_its_cloth(knee: tuple[int, int], fills: bool) -> None:
    joints = tuple(np.array(joint, np.float32) for joint in ((200, 200), knee, (knee[0], knee[1] + 160)))
    cloth = np.zeros((560, 480), np.uint8)
    for begin, end in pairwise(joints):
        cv2.line(cloth, begin.astype(int).tolist(), end.astype(int).tolist(), 1, 60)
    leg = measure_leg(
        cloth > 0,
        joints,
        other=tuple(joint - (120, 0) for joint in joints),
        right=np.array([1, 0], np.float32),
        side=1,
        shoulder_width=140.0,
        depth=0.0,
        seen=1.0,
    )
    labels = np.where(cloth > 0, np.uint8(Label.LOWER), np.uint8(Label.BACKGROUND))
    plain = np.full(len(leg.shares), 22.0, np.float32)
    outer, _ = formed(labels, leg, (plain, plain), 140.0)
    assert (at(leg, outer, 0.0) > 26.0) == fills
    assert at(leg, outer, 0.95) < 24.0
