"""The outline of a face, from MediaPipe's face mesh."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from engines.base import Landmark, Picture
from engines.person.networks import Floats, Network, Square, sigmoid

# The mesh's vertices along the edge of the face, from the top of the forehead clockwise as seen.
_OVAL = (
    10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377,
    152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
)  # fmt: skip
_CHIN, _RIGHT_CHEEK, _LEFT_CHEEK = 152, 234, 454

_REGION_MARGIN = 1.5
"""Side of the cut over the longer side of the face, as in training."""

_LOWEST_SCORE = 0.5


@dataclass(frozen=True)
class Face:
    """A face in pixels of the photo.

    Attributes:
        oval: ``(n, 2)`` outline from the hairline to the chin, without the ears.
        chin: ``(2,)`` lowest point of the chin.
        width: Distance between the cheeks.
        measured: False when the mesh found nothing and the outline is guessed from the pose.
    """

    oval: Floats
    chin: Floats
    width: float
    measured: bool

    def moved(self, right: float, down: float) -> Face:
        """The same face elsewhere."""
        step = np.array([right, down], np.float32)
        return Face(self.oval + step, self.chin + step, self.width, self.measured)

    def shrunk(self, factor: float) -> Face:
        """The same face in a photo that is ``factor`` times smaller."""
        return Face(self.oval / factor, self.chin / factor, self.width / factor, self.measured)

    def mask(self, height: int, width: int, scale: float = 1.0) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """The inside of the outline, shrunk or grown about its middle by ``scale``."""
        middle = self.oval.mean(axis=0)
        canvas = np.zeros((height, width), np.uint8)
        cv2.fillPoly(canvas, [np.round(middle + (self.oval - middle) * scale).astype(np.int32)], 1)
        return canvas.astype(bool)


def find_face(network: Network, photo: Picture, landmarks: Floats) -> Face:
    """Lay the mesh on the head that the pose points at; a guess from the pose when it does not fit."""
    region = _head_region(landmarks)
    for _ in range(2):
        vertices, logit = network.run(region.cut(photo, network.size))
        mesh = region.to_photo(vertices.reshape(-1, 3)[:, :2], network.size)
        eyes = mesh[263] - mesh[33]  # outer corners, left minus right
        extent = mesh.max(axis=0) - mesh.min(axis=0)
        middle = (mesh.max(axis=0) + mesh.min(axis=0)) / 2
        region = Square(
            float(middle[0]),
            float(middle[1]),
            float(extent.max()) * _REGION_MARGIN,
            float(np.arctan2(eyes[1], eyes[0])),
        )
    if sigmoid(logit.ravel())[0] < _LOWEST_SCORE:
        return _guessed(landmarks)
    width = float(np.linalg.norm(mesh[_LEFT_CHEEK] - mesh[_RIGHT_CHEEK]))
    return Face(mesh[list(_OVAL)], mesh[_CHIN], width, measured=True)


def _head_region(landmarks: Floats) -> Square:
    eyes = landmarks[Landmark.LEFT_EYE_OUTER, :2] - landmarks[Landmark.RIGHT_EYE_OUTER, :2]
    middle = landmarks[[Landmark.LEFT_EYE, Landmark.RIGHT_EYE, Landmark.MOUTH_LEFT, Landmark.MOUTH_RIGHT], :2].mean(
        axis=0
    )
    side = 2.0 * _REGION_MARGIN * _eye_to_mouth(landmarks) * 1.4
    return Square(float(middle[0]), float(middle[1]), side, float(np.arctan2(eyes[1], eyes[0])))


def _eye_to_mouth(landmarks: Floats) -> float:
    """Steady under turns of the head, unlike the distance of the eyes; about 0.4 of the face's height."""
    eyes = landmarks[[Landmark.LEFT_EYE, Landmark.RIGHT_EYE], :2].mean(axis=0)
    mouth = landmarks[[Landmark.MOUTH_LEFT, Landmark.MOUTH_RIGHT], :2].mean(axis=0)
    ears = landmarks[Landmark.LEFT_EAR, :2] - landmarks[Landmark.RIGHT_EAR, :2]
    return max(float(np.linalg.norm(mouth - eyes)), 0.35 * float(np.linalg.norm(ears)), 2.0)


def _guessed(landmarks: Floats) -> Face:
    unit = _eye_to_mouth(landmarks)
    eyes = landmarks[[Landmark.LEFT_EYE, Landmark.RIGHT_EYE], :2].mean(axis=0)
    mouth = landmarks[[Landmark.MOUTH_LEFT, Landmark.MOUTH_RIGHT], :2].mean(axis=0)
    down = (mouth - eyes) / max(float(np.linalg.norm(mouth - eyes)), 1e-3)
    aside = np.array([down[1], -down[0]], np.float32)
    centre = (eyes + mouth) / 2 - 0.05 * unit * down
    turn = np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False)[:, None]
    oval = centre - np.cos(turn) * 1.3 * unit * down + np.sin(turn) * 0.95 * unit * aside
    return Face(oval.astype(np.float32), (centre + 1.3 * unit * down).astype(np.float32), 1.9 * unit, measured=False)
