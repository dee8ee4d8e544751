"""The body that clothes are laid on, measured from a `PersonMap`.

Heights are in torso lengths along the axis from mid-shoulder (0) to mid-hip (1) and beyond; offsets are pixels
across the axis, positive towards the right of the picture. Sides are picture sides, `LEFT` and `RIGHT`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Mask, PersonMap
from engines.regions import labelled_as
from engines.warp.body.limbs import (
    CROTCH_DROP,
    LEFT,
    RIGHT,
    SIDES,
    Limb,
    Point,
    Skeleton,
    measure_arm,
    measure_leg,
    read_skeleton,
)
from engines.warp.body.silhouette import field_of, reach, settle, values_at
from engines.warp.ribbon import Reals

__all__ = ["LEFT", "RIGHT", "SIDES", "BodyModel", "measure_body"]

PROFILE_HEIGHTS = np.linspace(0.10, 1.45, 91, dtype=np.float32)
"""Heights at which the torso's half widths are measured."""

TORSO_LEAST = ((0.10, 0.36), (0.30, 0.36), (0.60, 0.30), (0.90, 0.36), (1.45, 0.36))
TORSO_MOST = ((0.10, 0.58), (0.30, 0.56), (0.60, 0.52), (0.85, 0.56), (1.00, 0.62), (1.45, 0.66))
"""Believable half widths of a torso with clothes on: height, shoulder widths."""

ARMPIT, MOST_BEFORE_ARM = 0.35, 0.08
"""Height below which a torso may hide a part of the arm behind it, torso lengths, and how much, shoulder widths."""

NECK_HALF_WIDTH = 0.19
"""Where the neck meets the shoulder line, in shoulder widths from the axis."""

NECK_RISE = 0.215
"""Height of that point above the mid-shoulder, in shoulder widths."""

TIP_OUT, TIP_UP = 0.57, 0.82
"""Direction from the shoulder joint to the tip of the shoulder: outwards and upwards, a unit vector."""

NATURAL_WAIST = 0.80
"""Height of a waistband nobody can see, in torso lengths below the shoulders."""

TUCKED_ABOVE = 0.93
"""A top that ends above this height is worn tucked in, or is cropped."""

SEARCHED = (0.50, 1.40)
"""Heights between which a waist is looked for."""

BARE_ROW = 0.02
"""Height of the rows in which a bare midriff is looked for."""


@dataclass(frozen=True)
class Waist:
    """The line between top and lower garment.

    Attributes:
        height: On the body's axis, in torso lengths below the shoulders.
        bend: Quadratic and linear coefficient of the line over the lateral position in shoulder widths.
        tucked: Whether the waistband is open to view.
        bare_midriff: Whether skin shows between the two.
        seen: Whether the line was measured; false where it is only the natural height.
    """

    height: float
    bend: tuple[float, float]
    tucked: bool
    bare_midriff: bool
    seen: bool

    def line(self, laterals: Reals) -> NDArray[np.float32]:
        """Height of the line at lateral positions given in shoulder widths."""
        bounded = np.clip(laterals, -0.45, 0.45)
        curve = self.height + self.bend[0] * bounded**2 + self.bend[1] * bounded
        return np.asarray(np.clip(curve, self.height - 0.12, self.height + 0.12), dtype=np.float32)


UNSEEN_WAIST = Waist(NATURAL_WAIST, (0.0, 0.0), tucked=True, bare_midriff=False, seen=False)

FROM_JOINTS = ("heights", "laterals", "arm_places", "arm_distance", "leg_distance")
"""Fields of a body over the whole picture that do not depend on its labels."""


@dataclass(frozen=True)
class BodyModel:
    """Where the body is under the clothes.

    Attributes:
        shape: ``(height, width)`` of the working photo.
        labels: ``(height, width)`` of `Label`.
        matte: ``(height, width)`` float32, 0 to 1.
        skeleton: Joints by picture side.
        widths: Per side ``(91,)`` half widths of the torso in pixels at `PROFILE_HEIGHTS`.
        arms: Per side, shoulder to wrist.
        legs: Per side, crotch height to ankle.
        waist: The line between top and lower garment.
        tips: Per side, the outer end of the shoulder line on the silhouette.
    """

    shape: tuple[int, int]
    labels: Mask
    matte: NDArray[np.float32]
    skeleton: Skeleton
    widths: dict[int, NDArray[np.float32]]
    arms: dict[int, Limb]
    legs: dict[int, Limb]
    waist: Waist
    tips: dict[int, Point]

    @property
    def shoulder_width(self) -> float:
        """Distance of the shoulder joints in pixels."""
        return self.skeleton.shoulder_width

    @property
    def torso_length(self) -> float:
        """Mid-shoulder to mid-hip in pixels."""
        return self.skeleton.torso_length

    @property
    def crotch_height(self) -> float:
        """Height of the crotch, in torso lengths."""
        return 1.0 + CROTCH_DROP * self.shoulder_width / self.torso_length

    def point(self, height: Reals | float, offset: Reals | float = 0.0) -> Point:
        """The pixel position at a height and an offset; arrays of one shape give ``(..., 2)``."""
        bone = self.skeleton
        along = np.asarray(height, np.float32)[..., None] * (bone.hips - bone.shoulders)
        return np.asarray(bone.shoulders + along + np.asarray(offset, np.float32)[..., None] * bone.right, np.float32)

    def half_width(self, height: Reals | float, side: int) -> NDArray[np.float32]:
        """Half width of the torso in pixels at heights, on one side."""
        return np.asarray(np.interp(height, PROFILE_HEIGHTS, self.widths[side]), np.float32)

    def width(self, height: float) -> float:
        """Whole width of the torso in pixels at a height."""
        return float(self.half_width(height, LEFT) + self.half_width(height, RIGHT))

    def tip_offset(self, side: int) -> float:
        """How far the shoulder tip lies from the axis, in pixels, positive on either side."""
        bone = self.skeleton
        return float((self.tips[side] - bone.shoulders) @ bone.right) * side

    def with_fields_of(self, other: BodyModel) -> BodyModel:
        """This body, with the fields over the picture that were worked out for another one of the same joints."""
        vars(self).update({name: field for name, field in vars(other).items() if name in FROM_JOINTS})
        return self

    @cached_property
    def heights(self) -> NDArray[np.float32]:
        """``(height, width)`` of every pixel's height in torso lengths."""
        bone = self.skeleton
        return field_of(self.shape, bone.shoulders, bone.down) / np.float32(self.torso_length)

    @cached_property
    def laterals(self) -> NDArray[np.float32]:
        """``(height, width)`` of every pixel's offset from the axis in shoulder widths."""
        bone = self.skeleton
        return field_of(self.shape, bone.shoulders, bone.right) / np.float32(self.shoulder_width)

    @cached_property
    def arm_places(self) -> dict[int, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Per side, every pixel's distance from an arm in half arm widths, and share of the arm, see `Limb.around`."""
        return {side: self.arms[side].around(self.shape) for side in SIDES}

    @cached_property
    def arm_distance(self) -> NDArray[np.float32]:
        """``(height, width)`` distance from the nearer arm's centre line in half arm widths; below 1 is arm."""
        return np.minimum(*(np.where(share < 1.0, near, np.inf) for near, share in self.arm_places.values()))

    @cached_property
    def leg_distance(self) -> NDArray[np.float32]:
        """``(height, width)`` distance from the nearer leg's centre line in half leg widths; below 1 is leg."""
        return np.minimum(*(self.legs[side].around(self.shape)[0] for side in SIDES))


def measure_body(person_map: PersonMap) -> BodyModel:
    """Measure the body.

    Args:
        person_map: Of the working photo.

    Raises:
        EngineError: ``pose_not_usable`` when the shoulders are not apart.
    """
    bone = read_skeleton(person_map)
    labels = person_map.labels
    matte = person_map.matte.astype(np.float32) / 255.0
    person = matte > 0.5
    bare_arm = labelled_as(labels, (Label.ARMS, Label.HANDS))
    body = BodyModel(
        shape=(labels.shape[0], labels.shape[1]),
        labels=labels,
        matte=matte,
        skeleton=bone,
        widths={},
        arms={side: measure_arm(person, bone, side) for side in SIDES},
        legs={side: measure_leg(person & ~bare_arm, bone, side) for side in SIDES},
        waist=UNSEEN_WAIST,
        tips={side: _shoulder_tip(person & (labels != Label.HAIR), bone, side) for side in SIDES},
    )
    # An arm inside the outline is no end of the torso.
    torso = person & ~(bare_arm & (np.abs(body.laterals) > 0.3))
    measured = replace(body, widths=_torso_widths(body, torso), waist=_find_waist(body, ~bare_arm))
    return measured.with_fields_of(body)


def _find_waist(body: BodyModel, no_bare_arm: NDArray[np.bool_]) -> Waist:
    """Measure the line between top and lower garment, clear of arms."""
    labels, heights, laterals = body.labels, body.heights, body.laterals
    clear = no_bare_arm & (body.arm_distance > 0.9)
    area = clear & (np.abs(laterals) < 0.40) & (heights > 0.45) & (heights < 1.5)
    upper, lower = area & (labels == Label.UPPER), area & (labels == Label.LOWER)
    if min(upper.sum(), lower.sum()) < 40:
        return UNSEEN_WAIST
    # In each strip along the body the height with the fewest pixels of the wrong garment on either side.
    strips, rows = np.linspace(-0.40, 0.40, 21), np.linspace(0.45, 1.5, 106)
    above, below = (np.histogram2d(laterals[part], heights[part], (strips, rows))[0] for part in (upper, lower))
    wrong = below.cumsum(axis=1) + above.sum(axis=1, keepdims=True) - above.cumsum(axis=1)
    believed = above.sum(axis=1) + below.sum(axis=1) >= 30
    if believed.sum() < 4:
        return UNSEEN_WAIST
    positions, splits = strips[:-1][believed] + 0.02, rows[wrong.argmin(axis=1) + 1][believed]
    sound = np.abs(splits - np.median(splits)) < 0.09
    curve = np.polyfit(positions[sound], splits[sound], 2) if sound.sum() > 8 else [0.0, 0.0, splits[sound].mean()]
    height = float(np.clip(curve[2], *SEARCHED))
    # A midriff is bare where most of the body's middle is skin.
    middle = clear & (np.abs(laterals) < 0.2) & ~labelled_as(labels, (Label.BACKGROUND, Label.HAIR, Label.FACE))
    edges = np.arange(0.5, 1.0, BARE_ROW)
    worn, skin = (np.histogram(heights[at], edges)[0] for at in (middle, middle & (labels == Label.TORSO_SKIN)))
    bare = edges[:-1][skin > 0.5 * np.maximum(worn, 12)]
    if len(bare):
        height = max(height, float(bare[-1]) + BARE_ROW)
    tucked = height < TUCKED_ABOVE or len(bare) > 0
    return Waist(height, (float(curve[0]), float(curve[1])), tucked=tucked, bare_midriff=len(bare) > 0, seen=True)


def _torso_widths(body: BodyModel, inside: NDArray[np.bool_]) -> dict[int, NDArray[np.float32]]:
    """Half widths per side, held to anatomy and ending at an arm in its sleeve that hangs beside the torso."""
    bone, unit = body.skeleton, body.shoulder_width
    least, most = (np.interp(PROFILE_HEIGHTS, *np.transpose(knots)) * unit for knots in (TORSO_LEAST, TORSO_MOST))
    widths = {}
    for side in SIDES:
        measured = reach(inside, body.point(PROFILE_HEIGHTS), bone.right * side, 0.8 * unit)
        # Below the crotch the axis runs between the legs.
        measured[bone.torso_length * (PROFILE_HEIGHTS - 0.97) > CROTCH_DROP * unit] = np.nan
        arm = body.arms[side]
        inner = (arm.line - arm.outward * arm.inner[:, None] - bone.shoulders)[arm.shares <= 1.0]
        drop, offset = inner @ bone.down / bone.torso_length, inner @ bone.right * side
        # Below the armpit a bare arm may be seen to go behind the torso; one that lies on the torso says nothing.
        label, _ = values_at(body.labels, arm.line[arm.shares <= 1.0])
        bare = labelled_as(label, (Label.ARMS, Label.HANDS)) & (drop > ARMPIT)
        offset = offset + MOST_BEFORE_ARM * unit * bare
        order = np.argsort(drop)
        beside = np.interp(PROFILE_HEIGHTS, drop[order], offset[order], left=np.inf, right=np.inf)
        arm_edge = np.where(beside > 0.30 * unit, beside, np.inf)
        widths[side] = settle(np.minimum(measured, arm_edge).astype(np.float32), least, most, 9)
    return widths


def _shoulder_tip(inside: NDArray[np.bool_], bone: Skeleton, side: int) -> Point:
    """Where the shoulder's curve meets the silhouette, up and outwards from the joint."""
    unit = bone.shoulder_width
    way = (bone.right * side * TIP_OUT - bone.down * TIP_UP).astype(np.float32)
    distance = float(reach(inside, bone.shoulder[side][None], way, 0.35 * unit)[0])
    distance = 0.12 * unit if not np.isfinite(distance) else distance
    return np.asarray(bone.shoulder[side] + way * float(np.clip(distance, 0.06 * unit, 0.22 * unit)), np.float32)
