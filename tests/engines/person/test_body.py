"""The frame of reference of a body: drawn in a part of the photo or smaller, it stays the same body."""

import cv2
import numpy as np
import pytest

from engines.base import Landmark
from engines.person.body import Body
from engines.person.face import Face

WIDTH, HEIGHT = 300, 480

STANDING: dict[Landmark, tuple[float, float]] = {
    Landmark.LEFT_SHOULDER: (190, 120),
    Landmark.RIGHT_SHOULDER: (110, 120),
    Landmark.LEFT_ELBOW: (210, 180),
    Landmark.RIGHT_ELBOW: (90, 180),
    Landmark.LEFT_WRIST: (220, 240),
    Landmark.RIGHT_WRIST: (80, 240),
    Landmark.LEFT_PINKY: (222, 250),
    Landmark.RIGHT_PINKY: (78, 250),
    Landmark.LEFT_INDEX: (220, 252),
    Landmark.RIGHT_INDEX: (80, 252),
    Landmark.LEFT_HIP: (170, 250),
    Landmark.RIGHT_HIP: (130, 250),
    Landmark.LEFT_KNEE: (172, 340),
    Landmark.RIGHT_KNEE: (128, 340),
    Landmark.LEFT_ANKLE: (174, 430),
    Landmark.RIGHT_ANKLE: (126, 430),
    Landmark.LEFT_FOOT_INDEX: (184, 445),
    Landmark.RIGHT_FOOT_INDEX: (116, 445),
}


@pytest.fixture
def body() -> Body:
    landmarks = np.ones((len(Landmark), 4), np.float32)
    for landmark, place in STANDING.items():
        landmarks[landmark, :2] = place
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    oval = np.column_stack([150 + 22 * np.cos(turn), 65 + 30 * np.sin(turn)]).astype(np.float32)
    return Body(landmarks, Face(oval, np.array([150, 95], np.float32), 44.0, measured=True), (HEIGHT, WIDTH))


def test_height_runs_from_shoulders_to_hips(body: Body) -> None:
    assert body.height[120, 20] == pytest.approx(0, abs=1e-5)
    assert body.height[250, 280] == pytest.approx(1, abs=1e-5)
    assert body.aside[200, 150] == pytest.approx(0, abs=1e-5)
    assert body.aside[200, 230] == pytest.approx(1, abs=1e-5)


def test_position_along_the_nearer_limb(body: Body) -> None:
    assert body.arm.position[180, 210] == pytest.approx(1, abs=0.02)
    assert body.arm.position[240, 80] == pytest.approx(2, abs=0.02)
    assert body.leg.position[340, 172] == pytest.approx(1, abs=0.02)
    assert body.arm.offset[180, 210] == pytest.approx(0, abs=0.02)


def test_reach_takes_in_the_body_and_not_the_corners(body: Body) -> None:
    assert max(body.reach[65, 150], body.reach[200, 150], body.reach[240, 80], body.reach[430, 126]) < 1
    assert min(body.reach[5, 5], body.reach[5, 295], body.reach[475, 5], body.reach[300, 295]) > 1.5


def test_legs_that_the_photo_cuts_off_may_stand_further_out(body: Body) -> None:
    above_the_knees = body.cropped(0, 0, WIDTH, 330)

    beside = (325, 210)
    assert above_the_knees.reach[beside] < 0.6 * body.reach[beside]
    assert min(above_the_knees.reach[180, 250], above_the_knees.reach[20, 280]) > 1.2


def test_cropped_body_is_the_same_body(body: Body) -> None:
    part = body.cropped(40, 30, 200, 300)

    box = np.s_[30:330, 40:240]
    assert part.height == pytest.approx(body.height[box], abs=1e-4)
    assert part.head == pytest.approx(body.head[box], abs=1e-4)
    assert part.below_chin == pytest.approx(body.below_chin[box], abs=1e-4)
    assert part.leg.offset == pytest.approx(body.leg.offset[box], abs=1e-3)
    assert (part.face.mask(*part.shape) == body.face.mask(*body.shape)[box]).all()


def test_shrunk_body_reaches_as_far(body: Body) -> None:
    small = body.shrunk(4)

    assert small.shape == (HEIGHT // 4, WIDTH // 4)
    assert np.abs(cv2.resize(small.reach, (WIDTH, HEIGHT)) - body.reach).mean() < 0.03
