import numpy as np
import pytest

from engines.base import EngineError
from engines.fashn.poses.skeleton import LIMBS, pose_of, with_neck


def numbered(people: int = 1, score: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    """Points whose column is their number, and whose row is ten times as much."""
    column = np.arange(133.0)
    points = np.stack([column, 10 * column], axis=1)
    return np.repeat(points[None], people, axis=0), np.full((people, 133), score)


def test_body_is_in_openpose_order_with_a_neck() -> None:
    points, scores = with_neck(*numbered())
    order = [0, 5.5, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3]
    assert points[0, :18, 0].tolist() == order
    assert points[0, 18:, 0].tolist() == list(range(17, 133))
    assert points[0, 1].tolist() == [5.5, 55.0]
    assert scores[0, 1] == 1.0


def test_neck_is_seen_where_both_shoulders_are() -> None:
    points, scores = numbered()
    scores[0, 5] = 0.2
    assert with_neck(points, scores)[1][0, 1] == 0.0


def test_hands_and_face_are_cut_out_of_the_133_points() -> None:
    pose = pose_of(*with_neck(*numbered()), 100, 1000)
    assert pose.body.shape == (18, 2)
    assert (pose.face[[0, -1], 0] * 1000).tolist() == [23, 90]
    assert np.allclose(pose.hands[0, [0, -1], 0] * 1000, [91, 111])
    assert np.allclose(pose.hands[1, [0, -1], 1] * 100, [1120, 1320])


def test_points_with_low_scores_are_not_seen() -> None:
    points, scores = with_neck(*numbered())
    scores[0, [3, 30, 100]] = 0.29
    pose = pose_of(points, scores, 10, 10)
    assert np.nonzero(~pose.body_seen)[0].tolist() == [3]
    assert pose.face[30 - 24].tolist() == [-1, -1]
    assert pose.hands[0, 100 - 92].tolist() == [-1, -1]
    assert pose.face[0].min() > 0


def test_largest_person_is_taken() -> None:
    points, scores = with_neck(*numbered(people=3))
    points[1] *= 3
    points[2] *= 2
    pose = pose_of(points, scores, 1, 1)
    assert np.array_equal(pose.body, points[1, :18])


def test_surer_person_of_the_same_size_is_taken() -> None:
    points, scores = with_neck(*numbered(people=2))
    points[1] += 1
    scores[0] *= 0.8
    assert np.array_equal(pose_of(points, scores, 1, 1).body, points[1, :18])


def test_nobody_is_there_without_a_limb() -> None:
    points, scores = with_neck(*numbered(score=0.1))
    scores[0, 4] = 0.9  # a wrist alone
    with pytest.raises(EngineError) as refusal:
        pose_of(points, scores, 10, 10)
    assert refusal.value.code == "person_not_found"


def test_one_limb_is_enough() -> None:
    points, scores = with_neck(*numbered(score=0.1))
    scores[0, list(LIMBS[3])] = 0.9
    assert pose_of(points, scores, 10, 10).body_seen.sum() == 2
