"""The body is measured where it is."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import EngineError, Label, Landmark, PersonMap
from engines.warp.body.model import LEFT, RIGHT, measure_body
from tests.engines.mannequin import draw_mannequin

JOINTS = {
    Landmark.NOSE: (200, 60),
    Landmark.RIGHT_SHOULDER: (150, 120),
    Landmark.LEFT_SHOULDER: (250, 120),
    Landmark.RIGHT_ELBOW: (115, 205),
    Landmark.LEFT_ELBOW: (285, 205),
    Landmark.RIGHT_WRIST: (95, 280),
    Landmark.LEFT_WRIST: (305, 280),
    Landmark.RIGHT_HIP: (173, 270),
    Landmark.LEFT_HIP: (227, 270),
    Landmark.RIGHT_KNEE: (168, 395),
    Landmark.LEFT_KNEE: (232, 395),
    Landmark.RIGHT_ANKLE: (165, 515),
    Landmark.LEFT_ANKLE: (235, 515),
}


def standing(waist: int = 250, height: int = 560, visibility: float = 1.0) -> PersonMap:
    labels = np.zeros((560, 400), np.uint8)

    def bone(begin: Landmark, end: Landmark, thickness: int, label: Label) -> None:
        cv2.line(labels, JOINTS[begin], JOINTS[end], int(label), thickness)

    for side in ("RIGHT", "LEFT"):
        hip, knee, ankle = (Landmark[f"{side}_{joint}"] for joint in ("HIP", "KNEE", "ANKLE"))
        bone(hip, knee, 46, Label.LOWER)
        bone(knee, ankle, 32, Label.LOWER)
    cv2.rectangle(labels, (157, 105), (243, 290), int(Label.UPPER), -1)
    labels[waist:290, 155:246] = Label.LOWER
    for side in ("RIGHT", "LEFT"):
        shoulder, elbow, wrist = (Landmark[f"{side}_{joint}"] for joint in ("SHOULDER", "ELBOW", "WRIST"))
        bone(shoulder, elbow, 30, Label.ARMS)
        bone(elbow, wrist, 22, Label.ARMS)
    cv2.ellipse(labels, (200, 60), (28, 38), 0, 0, 360, int(Label.FACE), -1)
    landmarks = np.zeros((33, 4), np.float32)
    for row, position in JOINTS.items():
        inside = position[1] < height
        landmarks[row] = (*position, 0.0, 1.0 if inside else visibility)
    labels = labels[:height]
    return PersonMap(labels, (labels > 0).astype(np.uint8) * 255, landmarks, 1.0)


def test_axis_and_lengths() -> None:
    body = measure_body(standing())
    assert body.shoulder_width == pytest.approx(100)
    assert body.torso_length == pytest.approx(150)
    np.testing.assert_allclose(body.point(0.5, 10.0), [210, 195], atol=0.5)


def test_half_widths_follow_the_silhouette() -> None:
    body = measure_body(standing())
    assert body.half_width(0.6, LEFT) == pytest.approx(43, abs=3)
    assert body.half_width(0.6, RIGHT) == pytest.approx(43, abs=3)


def test_waist_is_where_the_labels_change() -> None:
    body = measure_body(standing(waist=250))
    assert body.waist.seen
    assert body.waist.height == pytest.approx((250 - 120) / 150, abs=0.03)
    assert body.waist.tucked


def test_long_top_hides_the_waistband() -> None:
    assert not measure_body(standing(waist=285)).waist.tucked


def test_legs_run_from_crotch_to_ankle() -> None:
    leg = measure_body(standing()).legs[RIGHT]
    np.testing.assert_allclose(leg.points(np.array([1.0], np.float32))[0], [235, 515], atol=2)
    assert leg.line[0, 1] == pytest.approx(300, abs=2)
    assert leg.outward[0, 0] > 0.9
    assert np.interp(0.25, leg.shares, leg.outer) == pytest.approx(22, abs=4)


def test_arms_keep_their_outward_side() -> None:
    body = measure_body(standing())
    assert body.arms[LEFT].outward[0, 0] < -0.8
    assert body.arms[RIGHT].outward[0, 0] > 0.8


def test_shoulder_tip_lies_on_the_silhouette() -> None:
    body = measure_body(standing())
    tip = body.tips[RIGHT]
    assert 250 < tip[0] < 266
    assert 104 < tip[1] < 118


@pytest.mark.parametrize("height", [420, 300, 230])
def test_cut_by_the_frame_keeps_a_believable_body(height: int) -> None:
    body = measure_body(standing(height=height, visibility=0.1))
    assert 1.1 < body.torso_length / body.shoulder_width < 2.0
    for side in (LEFT, RIGHT):
        assert np.isfinite(body.legs[side].line).all()
        assert np.isfinite(body.legs[side].outer).all()
        assert body.legs[side].length > body.torso_length


def test_hips_that_cannot_be_true_are_replaced() -> None:
    person = standing(height=230, visibility=0.1)
    person.landmarks[[Landmark.LEFT_HIP, Landmark.RIGHT_HIP], 1] = 150
    body = measure_body(person)
    assert body.torso_length == pytest.approx(150, abs=10)
    assert body.skeleton.down[1] > 0.99


def test_shoulders_in_one_point_are_refused() -> None:
    person = standing()
    person.landmarks[Landmark.LEFT_SHOULDER, :2] = person.landmarks[Landmark.RIGHT_SHOULDER, :2]
    with pytest.raises(EngineError) as refusal:
        measure_body(person)
    assert refusal.value.code == "pose_not_usable"


def test_other_labels_leave_the_fields_of_the_joints_as_they_are() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    heights = body.heights
    other = replace(body, labels=np.zeros_like(body.labels)).with_fields_of(body)
    assert other.heights is heights
    assert not other.labels.any()
    assert body.labels.any()
    assert np.array_equal(other.laterals, body.laterals)
