import dataclasses

import numpy as np
import pytest

from engines.fashn.poses.drawing import draw_pose, no_pose
from engines.fashn.poses.skeleton import Pose
from tests.engines.fashn.numbers import POSES

NO_HANDS, NO_FACE = np.empty((0, 21, 2)), np.empty((0, 2))


@pytest.fixture(scope="module")
def published() -> dict[str, np.ndarray]:
    with np.load(POSES) as file:
        return dict(file)


@pytest.fixture(scope="module")
def pose(published: dict[str, np.ndarray]) -> Pose:
    seen = published["subset"][0] >= 0
    return Pose(published["body"], seen, published["hands"], published["faces"][0])


def test_body_is_drawn_as_published(published: dict[str, np.ndarray], pose: Pose) -> None:
    body = dataclasses.replace(pose, hands=NO_HANDS, face=NO_FACE)
    assert np.array_equal(draw_pose(body, *published["size_hw"].tolist()), published["pose_body"])


def test_hands_and_face_are_drawn_as_published(published: dict[str, np.ndarray], pose: Pose) -> None:
    assert np.array_equal(draw_pose(pose, *published["size_hw"].tolist()), published["pose_full"])


def test_points_that_were_not_seen_are_not_drawn(pose: Pose) -> None:
    unseen = Pose(pose.body, np.zeros(18, bool), np.full((2, 21, 2), -1.0), np.full((68, 2), -1.0))
    assert not draw_pose(unseen, 216, 160).any()


def test_points_of_a_hand_in_the_first_row_or_column_are_not_drawn(pose: Pose) -> None:
    edge = np.full((2, 21, 2), -1.0)
    edge[0, 3], edge[1, 5] = (0.001, 0.5), (0.5, 0.001)
    assert not draw_pose(Pose(pose.body, np.zeros(18, bool), edge, NO_FACE), 216, 160).any()


def test_points_far_outside_do_no_harm(pose: Pose) -> None:
    far = dataclasses.replace(pose, body=pose.body * 3 - 1)
    assert draw_pose(far, 216, 160).shape == (216, 160)


def test_nobody_wears_a_garment() -> None:
    assert not no_pose(8, 6).any()
    assert no_pose(8, 6).shape == (8, 6)
