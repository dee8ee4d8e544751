"""The grey pose map: a value for each limb, drawn as the network was trained to read it."""

from __future__ import annotations

import math

import cv2
import numpy as np

from engines.base import Mask
from engines.fashn.poses.skeleton import BODY, LIMBS, Floats, Pose

_LIMB_VALUES = np.linspace(20, 240, BODY).astype(np.uint8)
"""A grey for each limb; the last one of them is not used."""

_LIMB_HALF_WIDTH = 4
_LIMB_DIMMING = 0.6
"""Limbs are darker than the joints on them."""

_JOINT_RADIUS = 4
_JOINT_BRIGHTENING = 1.3
"""A joint against the first limb that it belongs to."""

_FINGERS = tuple((0 if joint % 4 == 1 else joint - 1, joint) for joint in range(1, 21))
"""Joined points of a hand: the wrist, then four of each finger."""

_FINGER_VALUES = np.linspace(160, 220, len(_FINGERS)).astype(np.uint8)
_FINGER_WIDTH = 2
_FINGERTIP_VALUE, _FINGERTIP_RADIUS = 240, 4
_FACE_VALUE, _FACE_RADIUS = 200, 3

_WHITE = 255


def draw_pose(pose: Pose, height: int, width: int) -> Mask:
    """Draw the map of one person; all whole numbers are cut, not rounded.

    Args:
        pose: The person.
        height: Of the map, in pixels.
        width: Of the map, in pixels.

    Returns:
        ``(height, width)``, 0 where nothing is.
    """
    canvas = _limbs(pose, height, width)
    _joints(canvas, pose)
    for hand in pose.hands:
        _hand(canvas, hand)
    for x, y in _pixels(pose.face, canvas):
        if _is_inside(x, y):
            cv2.circle(canvas, (x, y), _FACE_RADIUS, _FACE_VALUE, thickness=-1)
    return canvas


def no_pose(height: int, width: int) -> Mask:
    """The map of a garment that nobody wears."""
    return np.zeros((height, width), np.uint8)


def _limbs(pose: Pose, height: int, width: int) -> Mask:
    canvas = np.zeros((height, width), np.uint8)
    body = _pixels(pose.body, canvas)
    for (first, second), value in zip(LIMBS, _LIMB_VALUES, strict=False):
        if pose.body_seen[first] and pose.body_seen[second]:
            (x, y), (to_x, to_y) = body[first], body[second]
            middle = (x + to_x) // 2, (y + to_y) // 2
            half_length = int(math.hypot(x - to_x, y - to_y)) // 2
            angle = int(math.degrees(math.atan2(y - to_y, x - to_x)))
            outline = cv2.ellipse2Poly(middle, (half_length, _LIMB_HALF_WIDTH), angle, 0, 360, 1)
            cv2.fillConvexPoly(canvas, np.asarray(outline), int(value))
    return (canvas * _LIMB_DIMMING).astype(np.uint8)


def _joints(canvas: Mask, pose: Pose) -> None:
    for joint, (x, y) in enumerate(_pixels(pose.body, canvas)):
        if pose.body_seen[joint]:
            limb = next(number for number, ends in enumerate(LIMBS) if joint in ends)
            value = min(_WHITE, int(_LIMB_VALUES[limb] * _JOINT_BRIGHTENING))
            cv2.circle(canvas, (x, y), _JOINT_RADIUS, value, thickness=-1)


def _hand(canvas: Mask, hand: Floats) -> None:
    points = _pixels(hand, canvas)
    for (first, second), value in zip(_FINGERS, _FINGER_VALUES, strict=True):
        if _is_inside(*points[first]) and _is_inside(*points[second]):
            cv2.line(canvas, points[first], points[second], int(value), thickness=_FINGER_WIDTH)
    for x, y in points:
        if _is_inside(x, y):
            cv2.circle(canvas, (x, y), _FINGERTIP_RADIUS, _FINGERTIP_VALUE, thickness=-1)


def _pixels(shares: Floats, canvas: Mask) -> list[tuple[int, int]]:
    """Points in whole pixels, cut towards zero."""
    height, width = canvas.shape
    return [(int(x * width), int(y * height)) for x, y in shares]


def _is_inside(x: int, y: int) -> bool:
    """Whether a point was seen: those that were not lie at negative places, and the first row and column are lost."""
    return x > 0 and y > 0
