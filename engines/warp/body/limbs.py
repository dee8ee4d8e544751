"""Arms and legs as centre lines with a half width to either side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.silhouette import ease, reach, settle, towards
from engines.warp.body.skeleton import Point, Skeleton
from engines.warp.ribbon import Reals

SAMPLES = 64
"""Points along a limb from its root to wrist or ankle."""

LEG_REACH, ARM_REACH = 1.18, 1.5
"""Shares of a limb up to which it is followed: into the shoe, and beyond the hand, where an old sleeve may go."""

CROTCH_DROP = 0.30
"""From hip joint to crotch, in shoulder widths."""

LEG_LEAST, LEG_MOST = (0.17, 0.115, 0.075), (0.32, 0.21, 0.16)
"""Believable half widths of a clothed or bare leg at crotch, knee and ankle, in shoulder widths."""

SEATED_DROP, SEATED_MOST = 0.5, 1.3
"""Knee below hip over the length of the shin, under which a thigh is raised; and by what both legs of somebody who
sits may then be thicker: the knees are nearer to the camera than the shoulders."""

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
        depth: z of the knee in pixels, negative towards the camera; 0 of an arm.
    """

    shares: NDArray[np.float32]
    line: NDArray[np.float32]
    outward: NDArray[np.float32]
    outer: NDArray[np.float32]
    inner: NDArray[np.float32]
    length: float
    bend: float
    depth: float

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


def measure_leg(inside: NDArray[np.bool_], bone: Skeleton, side: int) -> Limb:
    """Leg from the height of the crotch (share 0) to the ankle (share 1).

    Args:
        inside: ``(height, width)``, true on the person without arms and hands.
        bone: The joints.
        side: Picture side.
    """
    unit = bone.shoulder_width
    # The inner half width ends half way to the other leg.
    leg, other = (
        _course(_below_hip(bone, each), bone.right * each, LEG_REACH, bone.depth[each]) for each in (side, -side)
    )
    half_gap = np.linalg.norm(leg.line - other.line, axis=1) / 2.0
    seated = any(
        float(bone.knee[each][1] - bone.hip[each][1]) < SEATED_DROP * np.linalg.norm(bone.ankle[each] - bone.knee[each])
        for each in (side, -side)
    )
    least, most = leg.between(LEG_LEAST, unit), leg.between(LEG_MOST, unit * (SEATED_MOST if seated else 1.0))
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
    arm = _course((bone.shoulder[side], bone.elbow[side], bone.wrist[side]), bone.right * side, ARM_REACH, 0.0)
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


def _course(joints: tuple[Point, Point, Point], outwards: Point, end: float, depth: float) -> Limb:
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
    return Limb(shares, line, (normal * sign).astype(np.float32), nothing, nothing, length, first / length, depth)
