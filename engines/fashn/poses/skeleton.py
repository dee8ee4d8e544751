"""The joints that DWPose finds, and the choice among several people.

The pose network knows the 133 points of COCO-WholeBody. Its 17 joints of the body are put in OpenPose's order, to
which a neck belongs, halfway between the shoulders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.base import EngineError

Floats = NDArray[np.float64]

SEEN = 0.3
"""Points with a lower score count as guesses."""

BODY = 18
"""OpenPose's joints of the body, neck included."""

WHOLE_BODY = 133
"""Points of the pose network."""

LIMBS = (
    *((1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7)),  # shoulders and arms
    *((1, 8), (8, 9), (9, 10), (1, 11), (11, 12), (12, 13)),  # sides and legs
    *((1, 0), (0, 14), (14, 16), (0, 15), (15, 17)),  # neck, eyes and ears
)
"""Pairs of joints that are joined, in OpenPose's numbering from nose to left ear."""

_LEFT_SHOULDER, _RIGHT_SHOULDER = 5, 6
_NECK = 17
_FROM_WHOLE_BODY = (0, _NECK, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3)
"""OpenPose's order, in numbers of the pose network whose neck follows its 17 joints."""

_FACE, _HANDS = slice(24, 92), slice(92, 134)
"""Rows once the neck is in; between body and face there are the feet, which nobody draws."""

_TRUNK_AND_LIMBS = slice(1, 14)
"""Joints of the body without eyes, ears and nose."""


@dataclass(frozen=True)
class Pose:
    """One person, in shares of the picture's width and height.

    Attributes:
        body: ``(18, 2)``, x and y in OpenPose's order.
        body_seen: ``(18,)``, which of them to believe.
        hands: ``(2, 21, 2)``, negative where not seen.
        face: ``(68, 2)``, negative where not seen.
    """

    body: Floats
    body_seen: NDArray[np.bool_]
    hands: Floats
    face: Floats


def with_neck(points: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Add the neck and put the body in OpenPose's order.

    Args:
        points: ``(n, 133, 2)``.
        scores: ``(n, 133)``.

    Returns:
        ``(n, 134, 2)`` and ``(n, 134)``.
    """
    shoulders = [_LEFT_SHOULDER, _RIGHT_SHOULDER]
    neck = points[:, shoulders].mean(axis=1)
    neck_score = np.all(scores[:, shoulders] > SEEN, axis=1).astype(np.float64)
    points = np.insert(points, _NECK, neck, axis=1)
    scores = np.insert(scores, _NECK, neck_score, axis=1)
    order = [*_FROM_WHOLE_BODY, *range(BODY, WHOLE_BODY + 1)]
    return points[:, order], scores[:, order]


def pose_of(points: Floats, scores: Floats, height: int, width: int) -> Pose:
    """The person who is largest and surest.

    Args:
        points: ``(n, 134, 2)``, x and y in pixels, as `with_neck` gives them.
        scores: ``(n, 134)``.
        height: Of the picture.
        width: Of the picture.

    Raises:
        EngineError: ``person_not_found``, where no two joined joints of that person are seen.
    """
    person = _most_prominent(points, scores)
    seen = scores[person] > SEEN
    if not any(seen[first] and seen[second] for first, second in LIMBS):
        raise EngineError("person_not_found", "No limb was found by the pose model.")
    shares = points[person] / np.array([width, height], np.float64)
    drawn = np.where((scores[person] < SEEN)[:, None], -1.0, shares)
    return Pose(shares[:BODY], seen[:BODY], drawn[_HANDS].reshape(2, -1, 2), drawn[_FACE])


def _most_prominent(points: Floats, scores: Floats) -> int:
    """Number of the person with the largest product of size and score.

    Which joints count for the size is decided by the first person's scores for all of them, as in the published code.
    """
    believed = scores[:, _TRUNK_AND_LIMBS] > SEEN
    surety = (scores[:, _TRUNK_AND_LIMBS] * believed).sum(axis=1)
    sizes = np.array([_size(joints[believed[0]]) for joints in points[:, _TRUNK_AND_LIMBS]])
    products = surety * sizes
    return int(np.argmax(products if np.any(products) else surety))


def _size(joints: Floats) -> float:
    """Area of the upright rectangle around ``(n, 2)`` joints, without those beyond the left or the upper edge."""
    across, down = joints[:, 0][joints[:, 0] > 0], joints[:, 1][joints[:, 1] > 0]
    if not across.size or not down.size:
        return 0.0
    return float(np.ptp(across) * np.ptp(down))
