"""The joints that clothes hang on, and arms and legs as centre lines with a half width to either side.

Sides are those of the picture: ``LEFT`` is the side with the smaller x, even if the person faces away. Joints that the
photo does not show are replaced by plausible ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import EngineError, Landmark, PersonMap
from engines.warp.body.silhouette import ease, field_of, reach, settle, towards
from engines.warp.ribbon import Reals

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

LEAST_DROP = 0.50
"""How far every knee is below its hip, in torso lengths, on somebody who stands or walks: 0.69 to 0.97 in photos, 0.13
on somebody who sits. Knees that are not seen, or lie outside the photo, say nothing."""

GRAVITY: Final = np.array([0.0, 1.0], np.float32)

SAMPLES = 64
"""Points along a limb from its root to wrist or ankle."""

LEG_REACH, ARM_REACH = 1.18, 1.5
"""Shares of a limb up to which it is followed: into the shoe, and beyond the hand, where an old sleeve may go."""

CROTCH_DROP = 0.30
"""From hip joint to crotch, in shoulder widths."""

LEG_LEAST, LEG_MOST = (0.17, 0.115, 0.075), (0.32, 0.21, 0.16)
"""Believable half widths of a clothed or bare leg at crotch, knee and ankle, in shoulder widths."""

SEATED_MOST = 1.3
"""Factor by which the legs of a sitting person may be thicker: the knees are nearer to the camera than the
shoulders."""

LEG_BARE = ((0.0, 0.265), (0.35, 0.240), (0.85, 0.168), (1.0, 0.158), (1.3, 0.166), (1.62, 0.128), (2.0, 0.088))
"""Half width of a bare leg in shoulder widths, over 0 at the crotch, 1 at the knee and 2 at the ankle."""

ARM_BARE = (
    *((0.0, 0.118), (0.3, 0.108), (0.6, 0.102), (0.85, 0.101)),
    *((1.0, 0.109), (1.2, 0.109), (1.5, 0.088), (1.8, 0.069), (2.0, 0.067)),
)
"""The same of a bare arm, over 0 at the shoulder, 1 at the elbow and 2 at the wrist: what photos of people without
sleeves show."""

ARM_CLOTHED = (0.155, 0.120, 0.080)
"""Half width of an arm in its sleeve at shoulder, elbow and wrist, in shoulder widths."""

AROUND, END_OF_HAND = 5.0, 1.12
"""How far around a limb places on it are told, in half widths of it; and share of an arm at which its hand ends."""


@dataclass(frozen=True)
class Skeleton:
    """The joints that clothes hang on, in pixels of the working photo.

    Attributes:
        shoulder: Joint per picture side; ``elbow`` to ``ankle`` alike.
        depth: z of the knee per picture side, negative towards the camera.
        seated: Whether a thigh is raised, sideways or towards the camera.
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
    seated: bool
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
    seated = any(
        knees[side][3] >= SEEN
        and 0 <= float(knees[side][0]) < person_map.labels.shape[1]
        and 0 <= float(knees[side][1]) < person_map.labels.shape[0]
        and float(knees[side][1] - hip[side][1]) < LEAST_DROP * torso_length
        for side in SIDES
    )
    return Skeleton(
        shoulder=shoulder,
        elbow=elbow,
        wrist=wrist,
        hip=hip,
        knee=knee,
        ankle=ankle,
        depth={side: float(knees[side][2]) for side in SIDES},
        seated=seated,
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


@dataclass(frozen=True)
class Limb:
    """One arm or leg.

    Attributes:
        shares: ``(n,)`` positions of the samples: 0 at the root, 1 at wrist or ankle, rising beyond 1.
        line: ``(n, 2)`` centre line in pixels.
        outward: ``(n, 2)`` unit vectors across the limb, away from the body's middle.
        outer: ``(n,)`` distance from the centre line to the outer edge of the silhouette in pixels.
        inner: ``(n,)`` the same towards the body's middle.
        length: Root to wrist or ankle in pixels.
        bend: Share at which the elbow or knee lies.
    """

    shares: NDArray[np.float32]
    line: NDArray[np.float32]
    outward: NDArray[np.float32]
    outer: NDArray[np.float32]
    inner: NDArray[np.float32]
    length: float
    bend: float

    def points(self, shares: Reals) -> NDArray[np.float32]:
        """Centre line at the given shares, ``(m, 2)``."""
        return self._read(self.line, shares)

    def outwards(self, shares: Reals) -> NDArray[np.float32]:
        """Unit vectors away from the body's middle at the given shares, ``(m, 2)``."""
        return towards(self._read(self.outward, shares))

    def _read(self, values: NDArray[np.float32], shares: Reals) -> NDArray[np.float32]:
        columns = [np.interp(shares, self.shares, values[:, k]) for k in range(2)]
        return np.stack(columns, axis=-1).astype(np.float32)

    def between(self, knots: tuple[float, float, float], shoulder_width: float) -> NDArray[np.float32]:
        """Half widths in pixels at the samples, from those at root, bend and tip in shoulder widths."""
        return (np.interp(self.shares, [0.0, self.bend, 1.0], knots) * shoulder_width).astype(np.float32)

    def usual(self, widths: tuple[tuple[float, float], ...], shoulder_width: float) -> NDArray[np.float32]:
        """Half widths in pixels at the samples, of `ARM_BARE` or `LEG_BARE`."""
        beyond = 1.0 + (self.shares - self.bend) / max(1.0 - self.bend, 0.1)
        position = np.where(self.shares < self.bend, self.shares / max(self.bend, 0.1), beyond)
        knots, values = zip(*widths, strict=True)
        return np.asarray(np.interp(position, knots, values) * shoulder_width, dtype=np.float32)

    def edges(self, inside: NDArray[np.bool_], limit: float) -> list[NDArray[np.float32]]:
        """Distances to the outer and the inner end of a mask, up to a limit in pixels."""
        return [reach(inside, self.line, way * self.outward, limit) for way in (1, -1)]

    def around(self, shape: tuple[int, int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Every pixel's place beside the limb.

        Returns:
            Distance from the centre line in half widths of the limb, and share of the limb from its root (0) to its tip
            (1) and beyond, both ``(h, w)`` float32; infinity and 0 far from it.
        """
        nearest, share = np.full(shape, np.inf, np.float32), np.zeros(shape, np.float32)
        widest = (self.outer + self.inner).max() / 2
        low = np.clip(np.floor(self.line.min(axis=0) - AROUND * widest).astype(int), 0, shape[::-1])
        high = np.clip(np.ceil(self.line.max(axis=0) + AROUND * widest).astype(int), 0, shape[::-1])
        window = (slice(low[1], high[1]), slice(low[0], high[0]))
        size = (int(high[1] - low[1]), int(high[0] - low[0]))
        if min(size) <= 0:
            return nearest, share
        for first, last in ((0.0, self.bend), (self.bend, 1.0)):
            ends = (self.points(np.array([first, last], np.float32)) - low).astype(np.float32)
            bone = ends[1] - ends[0]
            length = max(float(np.linalg.norm(bone)), 1.0)
            way = np.asarray(bone / length, np.float32)
            along = field_of(size, ends[0], way) / length
            aside = field_of(size, ends[0], np.array([way[1], -way[0]], np.float32))
            # Beyond the wrist an arm goes on into its hand, and a leg into its shoe.
            beyond = np.maximum(-along, 0) if last == 1.0 else np.maximum(np.maximum(-along, along - 1), 0)
            here = first + np.clip(along, 0, 1.3 if last == 1.0 else 1.0) * (last - first)
            half = np.interp(here, self.shares, (self.outer + self.inner) / 2).astype(np.float32)
            distance = cv2.magnitude(aside, beyond * length) / half
            closer = distance < nearest[window]
            nearest[window][closer], share[window][closer] = distance[closer], here[closer]
        return nearest, share


def measure_leg(inside: NDArray[np.bool_], bone: Skeleton, side: int) -> Limb:
    """Leg from the height of the crotch (share 0) to the ankle (share 1).

    Args:
        inside: ``(height, width)``, true on the person without arms and hands.
        bone: The joints.
        side: Picture side.
    """
    unit = bone.shoulder_width
    # The inner half width ends half way to the other leg.
    leg, other = (_course(_below_hip(bone, each), bone.right * each, LEG_REACH) for each in (side, -side))
    half_gap = np.linalg.norm(leg.line - other.line, axis=1) / 2.0
    least, most = leg.between(LEG_LEAST, unit), leg.between(LEG_MOST, unit * (SEATED_MOST if bone.seated else 1.0))
    # Below the ankle a ray measures the shoe.
    outer, inner = (np.where(leg.shares > 0.97, np.nan, edge) for edge in leg.edges(inside, 0.5 * unit))
    inner_most = np.maximum(least, np.minimum(most, half_gap)).astype(np.float32)
    return replace(leg, outer=settle(outer, least, most), inner=settle(inner, least, inner_most))


def measure_arm(inside: NDArray[np.bool_], bone: Skeleton, side: int) -> Limb:
    """Arm from the shoulder joint (share 0) to the wrist (share 1).

    Args:
        inside: ``(height, width)``, true on the person.
        bone: The joints.
        side: Picture side.
    """
    arm = _course((bone.shoulder[side], bone.elbow[side], bone.wrist[side]), bone.right * side, ARM_REACH)
    usual = arm.between(ARM_CLOTHED, bone.shoulder_width)
    # An arm lying on the torso has no outline of its own: rays that run on say nothing.
    outer, inner = (
        settle(np.where(edge > 1.5 * usual, np.nan, edge), 0.85 * usual, 1.25 * usual)
        for edge in arm.edges(inside, 0.3 * bone.shoulder_width)
    )
    return replace(arm, outer=outer, inner=inner)


def _below_hip(bone: Skeleton, side: int) -> tuple[Point, Point, Point]:
    """The joints of a leg, begun on the thigh at the height of the crotch."""
    hip, knee = bone.hip[side], bone.knee[side]
    drop = min(CROTCH_DROP * bone.shoulder_width / max(float(np.linalg.norm(knee - hip)), 1.0), 0.6)
    return np.asarray(hip + (knee - hip) * drop, dtype=np.float32), knee, bone.ankle[side]


def _course(joints: tuple[Point, Point, Point], outwards: Point, end: float) -> Limb:
    """A two-bone limb without any width, whose normals turn smoothly at the bend."""
    root, middle, tip = joints
    first, second = float(np.linalg.norm(middle - root)), float(np.linalg.norm(tip - middle))
    length = max(first + second, 1.0)
    shares = np.linspace(0.0, end, round(end * SAMPLES), dtype=np.float32)
    along = shares * length
    way_first, way_second = towards(middle - root), towards(tip - middle)
    line = np.where(
        (along < first)[:, None],
        root + way_first * along[:, None],
        middle + way_second * (along - first)[:, None],
    ).astype(np.float32)
    turn = ease((along - 0.7 * first) / max(0.6 * first, 1.0))[:, None]
    way = towards((way_first * (1.0 - turn) + way_second * turn).astype(np.float32))
    normal = np.stack([way[:, 1], -way[:, 0]], axis=1)
    # The normal is chosen once, at the root, and then carried along, so that a raised forearm does not flip it.
    sign = 1.0 if float(normal[0] @ outwards) >= 0 else -1.0
    nothing = np.zeros_like(shares)
    return Limb(shares, line, (normal * sign).astype(np.float32), nothing, nothing, length, first / length)
