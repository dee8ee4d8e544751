"""A person drawn from capsules, with the map that a perfect segmenter would give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Landmark, PersonMap, Picture

SKIN = (205, 160, 135)
HAIR = (60, 40, 30)
TROUSERS = (45, 60, 110)
SHOES = (30, 30, 30)


@dataclass(frozen=True)
class Mannequin:
    """The photo and its map."""

    photo: Picture
    person_map: PersonMap

    def point(self, landmark: Landmark) -> NDArray[np.float32]:
        """(x, y) of a landmark in pixels."""
        return self.person_map.landmarks[landmark, :2]


def _joints(height: int, width: int, arms: str) -> dict[Landmark, tuple[float, float]]:
    """Positions in pixels; the person's left is right in the picture."""
    elbow_x, wrist_x = {"down": (0.165, 0.185), "out": (0.215, 0.285)}[arms]
    mirrored = {
        "SHOULDER": (0.115, 0.215),
        "ELBOW": (elbow_x, 0.345),
        "WRIST": (wrist_x, 0.465),
        "PINKY": (wrist_x + 0.012, 0.50),
        "INDEX": (wrist_x - 0.004, 0.505),
        "THUMB": (wrist_x - 0.015, 0.49),
        "HIP": (0.065, 0.50),
        "KNEE": (0.07, 0.71),
        "ANKLE": (0.07, 0.92),
        "HEEL": (0.07, 0.94),
        "FOOT_INDEX": (0.085, 0.955),
        "EYE_INNER": (0.012, 0.10),
        "EYE": (0.02, 0.10),
        "EYE_OUTER": (0.03, 0.10),
        "EAR": (0.045, 0.11),
    }
    joints = {Landmark.NOSE: (0.5 * width, 0.12 * height)}
    for side, sign in (("LEFT", 1), ("RIGHT", -1)):
        for name, (x, y) in mirrored.items():
            joints[Landmark[f"{side}_{name}"]] = (0.5 * width + sign * x * height, y * height)
        joints[Landmark[f"MOUTH_{side}"]] = (0.5 * width + sign * 0.015 * height, 0.14 * height)
    return joints


class _Painter:
    """Draws the same shape into the photo and into the labels."""

    def __init__(self, photo: Picture, labels: NDArray[np.uint8], unit: float) -> None:
        self.photo, self.labels, self.unit = photo, labels, unit

    def fill(self, shape: NDArray[np.uint8], colour: tuple[int, int, int], label: Label) -> None:
        self.photo[shape > 0] = colour
        self.labels[shape > 0] = label

    def capsule(
        self,
        ends: tuple[tuple[float, float], tuple[float, float]],
        radius: float,
        colour: tuple[int, int, int],
        label: Label,
    ) -> None:
        shape = np.zeros(self.labels.shape, np.uint8)
        start, end = (tuple(round(value) for value in point) for point in ends)
        cv2.line(shape, start, end, 255, max(1, round(2 * radius * self.unit)))
        self.fill(shape, colour, label)

    def ellipse(
        self, centre: tuple[float, float], radii: tuple[float, float], colour: tuple[int, int, int], label: Label
    ) -> None:
        shape = np.zeros(self.labels.shape, np.uint8)
        axes = (round(radii[0] * self.unit), round(radii[1] * self.unit))
        cv2.ellipse(shape, (round(centre[0]), round(centre[1])), axes, 0, 0, 360, 255, -1)
        self.fill(shape, colour, label)

    def polygon(self, points: list[tuple[float, float]], colour: tuple[int, int, int], label: Label) -> None:
        shape = np.zeros(self.labels.shape, np.uint8)
        cv2.fillPoly(shape, [np.rint(np.array(points)).astype(np.int32)], 255)
        self.fill(shape, colour, label)


def draw_mannequin(
    height: int = 640,
    width: int = 480,
    *,
    arms: str = "down",
    sleeves: str = "short",
    top: tuple[int, int, int] = (150, 60, 60),
    ground: tuple[int, int, int] = (215, 215, 220),
) -> Mannequin:
    """Draw a standing person seen from the front.

    Args:
        height: Of the photo, pixels.
        width: Of the photo, pixels; at least 0.7 of the height.
        arms: ``down`` or ``out`` (slightly spread).
        sleeves: ``none``, ``short`` or ``long``: of the top that is worn.
        top: Colour of that top.
        ground: Colour of the wall behind.
    """
    joints = _joints(height, width, arms)
    photo = np.empty((height, width, 3), np.uint8)
    photo[:] = ground
    painter = _Painter(photo, np.zeros((height, width), np.uint8), height)
    at = joints.__getitem__
    for side in ("LEFT", "RIGHT"):
        hip, knee, ankle, toe = (at(Landmark[f"{side}_{name}"]) for name in ("HIP", "KNEE", "ANKLE", "FOOT_INDEX"))
        painter.capsule((hip, knee), 0.055, TROUSERS, Label.LOWER)
        painter.capsule((knee, ankle), 0.042, TROUSERS, Label.LOWER)
        painter.capsule((ankle, toe), 0.022, SHOES, Label.FEET)
    centre = width / 2
    painter.ellipse((centre, 0.11 * height), (0.052, 0.072), HAIR, Label.HAIR)
    painter.capsule(((centre, 0.14 * height), (centre, 0.20 * height)), 0.030, SKIN, Label.NECK)
    painter.ellipse((centre, 0.12 * height), (0.042, 0.06), SKIN, Label.FACE)
    for side in ("LEFT", "RIGHT"):
        _draw_arm(painter, joints, side, sleeves, top)
    profile = [(0.035, 0.170), (0.075, 0.182), (0.12, 0.195), (0.115, 0.28), (0.10, 0.36), (0.095, 0.42), (0.115, 0.52)]
    right = [(centre + x * height, y * height) for x, y in profile]
    left = [(centre - x * height, y * height) for x, y in reversed(profile)]
    painter.polygon(right + left, top, Label.UPPER)
    landmarks = np.zeros((33, 4), np.float32)
    for landmark, (x, y) in joints.items():
        landmarks[landmark] = x, y, 0.0, 0.99
    matte = np.where(painter.labels > 0, 255, 0).astype(np.uint8)
    matte = np.asarray(cv2.GaussianBlur(matte, (0, 0), 0.8), dtype=np.uint8)
    soft = np.asarray(cv2.GaussianBlur(photo, (0, 0), 0.7), dtype=np.uint8)
    return Mannequin(soft, PersonMap(painter.labels, matte, landmarks, 0.99))


def _draw_arm(
    painter: _Painter,
    joints: dict[Landmark, tuple[float, float]],
    side: str,
    sleeves: str,
    top: tuple[int, int, int],
) -> None:
    shoulder, elbow, wrist = (joints[Landmark[f"{side}_{name}"]] for name in ("SHOULDER", "ELBOW", "WRIST"))
    finger = joints[Landmark[f"{side}_INDEX"]]
    painter.capsule((wrist, finger), 0.018, SKIN, Label.HANDS)
    painter.capsule((shoulder, elbow), 0.028, SKIN, Label.ARMS)
    painter.capsule((elbow, wrist), 0.022, SKIN, Label.ARMS)
    if sleeves == "none":
        return
    middle = (shoulder[0] * 0.4 + elbow[0] * 0.6, shoulder[1] * 0.4 + elbow[1] * 0.6)
    painter.capsule((shoulder, middle if sleeves == "short" else elbow), 0.036, top, Label.UPPER)
    if sleeves == "long":
        painter.capsule((elbow, wrist), 0.028, top, Label.UPPER)


def turned_sideways(mannequin: Mannequin) -> Mannequin:
    """The same, with shoulders as close together in the picture as those of somebody seen from the side."""
    landmarks = mannequin.person_map.landmarks.copy()
    middle = landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], 0].mean()
    landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], 0] = middle + 9, middle - 9
    return Mannequin(mannequin.photo, replace(mannequin.person_map, landmarks=landmarks))
