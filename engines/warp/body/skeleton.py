"""Joints by picture side, with believable stand-ins for those that the photo does not show.

Sides are those of the picture: ``LEFT`` is the side with the smaller x, whichever way the person faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engines.base import EngineError, Landmark, PersonMap
from engines.warp.body.silhouette import towards

LEFT: Final = -1
RIGHT: Final = 1
SIDES: Final = (LEFT, RIGHT)

Point: TypeAlias = NDArray[np.float32]
"""``(2,)`` x and y in pixels of the working photo."""

SEEN = 0.5
"""Visibility from which a joint is taken as the pose model gives it."""

TORSO_PER_SHOULDER = 1.5
"""Mid-shoulder to mid-hip over the distance of the shoulder joints, in a person facing the camera."""

BELIEVABLE_TORSO = (1.05, 2.1)
"""Range of that ratio within which hips out of the frame are still believed."""

LEG_PER_TORSO, ARM_PER_TORSO = (0.85, 0.82), (0.60, 0.50)
"""Hip to knee and knee to ankle of a standing adult, shoulder to elbow and elbow to wrist, in torso lengths."""

GRAVITY: Final = np.array([0.0, 1.0], np.float32)


@dataclass(frozen=True)
class Skeleton:
    """The joints that clothes hang on, in pixels of the working photo.

    Attributes:
        shoulder: Joint per picture side; ``elbow`` to ``ankle`` alike.
        depth: z of the knee per picture side, negative towards the camera.
        knee_seen: Visibility of the knee per picture side.
        shoulders: Mid-shoulder.
        hips: Mid-hip.
        shoulder_width: Distance of the shoulder joints in pixels, at least half the torso length.
        torso_length: Mid-shoulder to mid-hip in pixels.
        down: Unit vector from shoulders to hips.
        right: Unit vector across the torso, towards the right of the picture.
    """

    shoulder: dict[int, Point]
    elbow: dict[int, Point]
    wrist: dict[int, Point]
    hip: dict[int, Point]
    knee: dict[int, Point]
    ankle: dict[int, Point]
    depth: dict[int, float]
    knee_seen: dict[int, float]
    shoulders: Point
    hips: Point
    shoulder_width: float
    torso_length: float
    down: Point
    right: Point


def read_skeleton(person_map: PersonMap) -> Skeleton:
    """Sort the landmarks by picture side and replace those that cannot be true.

    Raises:
        EngineError: ``pose_not_usable`` when the shoulders are not apart.
    """
    points = person_map.landmarks[:, :2].astype(np.float32)
    seen = person_map.landmarks[:, 3]
    arm_rows = _by_picture_side(points, Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER)
    shoulder = {side: points[Landmark.LEFT_SHOULDER + arm_rows[side]] for side in SIDES}
    shoulders = (shoulder[LEFT] + shoulder[RIGHT]) / 2.0
    apart = float(np.linalg.norm(shoulder[RIGHT] - shoulder[LEFT]))
    if not np.isfinite(apart) or apart < 4.0:
        raise EngineError("pose_not_usable", advice="Turn towards the camera, so that both shoulders face it.")

    hips, hip, leg_rows = _hips(points, seen, shoulder, shoulders, apart)
    torso_length = max(float(np.linalg.norm(hips - shoulders)), 1.0)
    down = towards(hips - shoulders)
    right = np.array([down[1], -down[0]], np.float32)

    def limb(root: Point, rows: tuple[int, int], bones: tuple[float, float]) -> tuple[Point, Point]:
        """Middle and end of a limb; unseen joints are held to the usual length and to hanging about downwards."""
        usual_first, usual_second = (per_torso * torso_length for per_torso in bones)
        middle = points[rows[0]]
        settled = middle if seen[rows[0]] >= SEEN else _believed(root, middle, usual_first)
        if seen[rows[1]] >= SEEN:
            return settled, points[rows[1]]
        return settled, _believed(settled, points[rows[1]] + (settled - middle), usual_second)

    elbow, wrist, knee, ankle = {}, {}, {}, {}
    for side in SIDES:
        arm, leg = arm_rows[side], leg_rows[side]
        elbow[side], wrist[side] = limb(
            shoulder[side], (Landmark.LEFT_ELBOW + arm, Landmark.LEFT_WRIST + arm), ARM_PER_TORSO
        )
        knee[side], ankle[side] = limb(hip[side], (Landmark.LEFT_KNEE + leg, Landmark.LEFT_ANKLE + leg), LEG_PER_TORSO)
    knees = {side: person_map.landmarks[Landmark.LEFT_KNEE + leg_rows[side]] for side in SIDES}
    return Skeleton(
        shoulder=shoulder,
        elbow=elbow,
        wrist=wrist,
        hip=hip,
        knee=knee,
        ankle=ankle,
        depth={side: float(knees[side][2]) for side in SIDES},
        knee_seen={side: float(knees[side][3]) for side in SIDES},
        shoulders=shoulders,
        hips=hips,
        shoulder_width=max(apart, 0.5 * torso_length),
        torso_length=torso_length,
        down=down,
        right=right if right[0] >= 0 else -right,
    )


def _by_picture_side(points: NDArray[np.float32], left_row: int, right_row: int) -> dict[int, int]:
    """Which of the person's sides is on which side of the picture: 0 for the row of "left", 1 for "right"."""
    return {LEFT: 1, RIGHT: 0} if points[right_row, 0] < points[left_row, 0] else {LEFT: 0, RIGHT: 1}


def _hips(
    points: NDArray[np.float32],
    seen: NDArray[np.float32],
    shoulder: dict[int, Point],
    shoulders: Point,
    apart: float,
) -> tuple[Point, dict[int, Point], dict[int, int]]:
    """Mid-hip, hip joints per picture side, and the rows they come from."""
    rows = _by_picture_side(points, Landmark.LEFT_HIP, Landmark.RIGHT_HIP)
    hip = {side: points[Landmark.LEFT_HIP + rows[side]] for side in SIDES}
    hips = (hip[LEFT] + hip[RIGHT]) / 2.0
    spine = hips - shoulders
    length = float(np.linalg.norm(spine))
    upright = length > 1.0 and float(spine[1]) / length > 0.75
    trusted = float(min(seen[Landmark.LEFT_HIP], seen[Landmark.RIGHT_HIP])) >= SEEN
    believable = upright and BELIEVABLE_TORSO[0] <= length / apart <= BELIEVABLE_TORSO[1]
    if length > 1.0 and (trusted or believable):
        return hips, hip, rows
    girdle = towards(shoulder[RIGHT] - shoulder[LEFT])
    down = towards(np.array([-girdle[1], girdle[0]], np.float32) + GRAVITY)
    hips = (shoulders + down * TORSO_PER_SHOULDER * apart).astype(np.float32)
    across = np.array([down[1], -down[0]], np.float32)
    # Hip joints lie about half as far apart as the shoulder joints.
    return hips, {side: hips + side * across * 0.26 * apart for side in SIDES}, rows


def _believed(root: Point, joint: Point, usual: float) -> Point:
    bone = joint - root
    length = float(np.linalg.norm(bone))
    way = towards(bone) if length > 1.0 and np.isfinite(length) else GRAVITY
    if float(way[1]) < 0.6:
        way = towards(way + GRAVITY)
    return np.asarray(root + way * float(np.clip(length, 0.9 * usual, 1.2 * usual)), dtype=np.float32)
