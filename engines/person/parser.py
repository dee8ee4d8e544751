"""The probabilities of what each pixel of a person is, by the network that ``training/parser`` trained."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Landmark, Picture
from engines.framing import centred, framed, reduced
from engines.onnx import OnnxNetwork, softmax
from engines.person.finding import Person
from engines.person.networks import Floats

HEIGHT, WIDTH = 256, 192
"""Of the window around the person, as the network sees it."""

REDUCED = 2
"""Factor by which the network's output is smaller than its window."""

MARGIN = 0.07
"""Ground around the person in the window, as a share of the person's own size."""

BEYOND_WINDOW = 0.003
"""Share of the person's area that each side of the window may leave out before `MARGIN` is added. The end of a mask
varies with the light, but the share of it beyond a line hardly does."""

BEYOND = 118
"""Grey of what the window holds beyond the photo's edges: about the mean of the training photos."""

MODEL = Path(__file__).with_name("parser.onnx")


class Thing(IntEnum):
    """The network's classes, in the order of its planes."""

    GROUND = 0
    HAIR = 1
    SKIN = 2
    TOP = 3
    OUTERWEAR = 4
    TROUSERS = 5
    SKIRT = 6
    DRESS = 7
    HOSE = 8
    SHOES = 9
    BAG = 10
    HAT = 11
    OTHER = 12


PARTS: tuple[tuple[tuple[Landmark, Landmark], ...], ...] = (
    ((Landmark.LEFT_SHOULDER, Landmark.LEFT_ELBOW), (Landmark.RIGHT_SHOULDER, Landmark.RIGHT_ELBOW)),
    ((Landmark.LEFT_ELBOW, Landmark.LEFT_WRIST), (Landmark.RIGHT_ELBOW, Landmark.RIGHT_WRIST)),
    ((Landmark.LEFT_WRIST, Landmark.LEFT_INDEX), (Landmark.RIGHT_WRIST, Landmark.RIGHT_INDEX)),
    ((Landmark.LEFT_HIP, Landmark.LEFT_KNEE), (Landmark.RIGHT_HIP, Landmark.RIGHT_KNEE)),
    ((Landmark.LEFT_KNEE, Landmark.LEFT_ANKLE), (Landmark.RIGHT_KNEE, Landmark.RIGHT_ANKLE)),
    ((Landmark.LEFT_HEEL, Landmark.LEFT_FOOT_INDEX), (Landmark.RIGHT_HEEL, Landmark.RIGHT_FOOT_INDEX)),
    ((Landmark.LEFT_EAR, Landmark.RIGHT_EAR), (Landmark.NOSE, Landmark.LEFT_EAR), (Landmark.NOSE, Landmark.RIGHT_EAR)),
)
"""Limbs that are drawn for the network, a plane each. Left and right share one, so that a mirrored photo needs no
other planes."""

TORSO = (Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER, Landmark.RIGHT_HIP, Landmark.LEFT_HIP)
THICKNESS = 0.16
"""Of a drawn limb, in lengths of the torso."""

FINE = 3
"""Limbs are drawn to ``2 ** -FINE`` pixels."""

PLANES = 3 + 2 + len(PARTS) + 1
"""Red, green, blue; the pose network's mask and the selfie network's; the limbs and the torso."""


@dataclass(frozen=True)
class Window:
    """The part of a photo that the network looks at.

    Attributes:
        matrix: ``(2, 3)``, from pixels of the photo to pixels of the window.
    """

    matrix: NDArray[np.float64]

    @classmethod
    def around(cls, pose_mask: Floats, people: Floats) -> Window:
        """The window that holds the person of both masks, ``(height, width)`` each, 0 to 1."""
        person = np.maximum(pose_mask, np.minimum(people, 3 * pose_mask))
        person[person < 0.1] = 0.0
        left, right = _ends(person.sum(axis=0))
        top, bottom = _ends(person.sum(axis=1))
        scale = min(WIDTH / (right - left), HEIGHT / (bottom - top)) / (1 + 2 * MARGIN)
        return cls(centred(scale, ((left + right) / 2, (top + bottom) / 2), (WIDTH, HEIGHT)))

    def cut(self, picture: NDArray[np.uint8], beyond: int = 0) -> NDArray[np.uint8]:
        """The window of a picture or of a mask."""
        return framed(picture, self.matrix, (WIDTH, HEIGHT), beyond)


def _ends(profile: Floats) -> tuple[float, float]:
    """Places along a profile beyond which `BEYOND_WINDOW` of it lies on either side, at least a pixel apart."""
    share = np.concatenate([[0.0], np.cumsum(profile, dtype=np.float64)]) / max(float(profile.sum()), 1e-6)
    first, last = np.interp([BEYOND_WINDOW, 1 - BEYOND_WINDOW], share, np.arange(len(share)))
    return float(first), float(max(last, first + 1))


@dataclass(frozen=True)
class Chances:
    """What each place of a photo is, as the network says.

    Attributes:
        planes: ``(len(Thing), HEIGHT / REDUCED, WIDTH / REDUCED)``, 0 to 1, in pixels of the answer.
        window: The part of the photo that the network looked at.
    """

    planes: Floats
    window: Window

    def of(self, thing: Thing, left: int, top: int, width: int, height: int) -> Floats:
        """``(height, width)``: how likely each pixel of a box is a thing; beyond the window all is ground."""
        matrix = reduced(self.window.matrix, REDUCED)
        matrix[:, 2] += matrix[:, :2] @ (left, top)
        how, beyond = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, float(thing is Thing.GROUND)
        laid = cv2.warpAffine(self.planes[thing], matrix, (width, height), flags=how, borderValue=beyond)
        return np.asarray(laid, np.float32)


def drawn_limbs(landmarks: Floats, matrix: NDArray[np.float64]) -> NDArray[np.uint8]:
    """``(len(PARTS) + 1, HEIGHT, WIDTH)``: the limbs as thick lines and the torso as an area, 0 or 255.

    Args:
        landmarks: ``(33, 2 or more)`` in pixels of the photo.
        matrix: `Window.matrix`.
    """
    points = landmarks[:, :2] @ matrix[:, :2].T + matrix[:, 2]
    spine = points[list(TORSO[:2])].mean(0) - points[list(TORSO[2:])].mean(0)
    thick = int(np.clip(round(THICKNESS * float(np.hypot(*spine))), 2, 40))
    points = np.rint(np.clip(points, -2000, 2000) * 2**FINE).astype(np.int32)
    planes = np.zeros((len(PARTS) + 1, HEIGHT, WIDTH), np.uint8)
    for plane, limbs in zip(planes, PARTS, strict=False):
        for one, other in limbs:
            cv2.line(plane, points[one].tolist(), points[other].tolist(), 255, thick, cv2.LINE_AA, FINE)
    cv2.fillConvexPoly(planes[-1], cv2.convexHull(points[list(TORSO)]), 255, cv2.LINE_AA, FINE)
    return planes


class Parser:
    """The trained network. Safe to call from several threads, one at a time.

    Args:
        path: Its ONNX file.
    """

    def __init__(self, path: Path = MODEL) -> None:
        self._network = OnnxNetwork(path, ("logits", "whole"))

    def look(self, photo: Picture, person: Person) -> Chances:
        """The network's answer for the person in a photo, averaged with that for the mirror image."""
        window = Window.around(person.mask, person.people)
        masks = [window.cut(np.rint(mask * 255.0).astype(np.uint8))[None] for mask in (person.mask, person.people)]
        limbs = drawn_limbs(person.landmarks, window.matrix)
        seen = np.concatenate([window.cut(photo, BEYOND).transpose(2, 0, 1), *masks, limbs])
        logits, _ = self._network.run(np.stack([seen, seen[..., ::-1]]).astype(np.float32))
        chances = softmax(logits, axis=1)
        return Chances(0.5 * (chances[0] + chances[1, ..., ::-1]), window)
