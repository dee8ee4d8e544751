"""Somebody standing with the arms hanging, as joints and a face alone: what the steps after the pose start from."""

import numpy as np

from engines.base import Landmark
from engines.person.body import Body
from engines.person.face import Face

WIDTH, HEIGHT = 300, 480

STANDING: dict[Landmark, tuple[float, float]] = {
    Landmark.LEFT_SHOULDER: (190, 120),
    Landmark.RIGHT_SHOULDER: (110, 120),
    Landmark.LEFT_ELBOW: (195, 180),
    Landmark.RIGHT_ELBOW: (80, 180),
    Landmark.LEFT_WRIST: (190, 240),
    Landmark.RIGHT_WRIST: (60, 240),
    Landmark.LEFT_PINKY: (191, 258),
    Landmark.RIGHT_PINKY: (59, 258),
    Landmark.LEFT_INDEX: (187, 260),
    Landmark.RIGHT_INDEX: (63, 260),
    Landmark.LEFT_HIP: (170, 250),
    Landmark.RIGHT_HIP: (130, 250),
    Landmark.LEFT_KNEE: (172, 340),
    Landmark.RIGHT_KNEE: (128, 340),
    Landmark.LEFT_ANKLE: (174, 430),
    Landmark.RIGHT_ANKLE: (126, 430),
    Landmark.LEFT_FOOT_INDEX: (184, 462),
    Landmark.RIGHT_FOOT_INDEX: (116, 462),
}


def drawn_body() -> Body:
    """The left hand hangs before the thigh, the right one beside it."""
    landmarks = np.ones((len(Landmark), 4), np.float32)
    for landmark, place in STANDING.items():
        landmarks[landmark, :2] = place
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    oval = np.column_stack([150 + 22 * np.cos(turn), 65 + 30 * np.sin(turn)]).astype(np.float32)
    return Body(landmarks, Face(oval, np.array([150, 95], np.float32), 44.0, measured=True), (HEIGHT, WIDTH))
