"""Finding the one person in a photo, with MediaPipe's networks: their joints, silhouette and face."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from engines.base import EngineError, Landmark, Picture
from engines.models import model_path
from engines.person.networks import Floats, Network, Square
from engines.settling import sigmoid

_LOWEST_DETECTION = 0.3
_LOWEST_POSE = 0.65

_LOWEST_AGREEMENT = 0.5
"""The pose network finds a person in any picture, so the selfie network, which knows no pose, must see the person
too."""

_FAINTEST_DETECTION, _LOWEST_HEADLESS, _LOWEST_HEADLESS_AGREEMENT = 0.1, 0.77, 0.92
"""The same three bounds for a body without a head, which no face confirms. Of nine such pictures the lowest had 0.24,
0.78 and 0.94; of 22 garments laid flat or on an unseen dummy none was above both 0.75 and 0.89 in the latter two."""

_SURELY_SOMEBODY = 0.75
"""The detector's score is above this for people, and below 0.6 for hoodies and shirts on hangers."""

_COMPARABLE_SIZE = 0.55
"""A second body this large, relative to the first one, is not background."""

_LOWEST_VISIBILITY = 0.4
"""Of the shoulders, as the pose network gives it."""

_LEAST_TORSO = 0.4
"""How far down the photo must reach, from 0 at the shoulders to 1 at the hips; otherwise it shows too little of the
clothes."""

HOW_TO_BE_FOUND = "Show yourself from the front, from head to hips, in good light and before a plain wall."

_GRIDS = ((28, 2), (14, 2), (7, 6))
"""Cells per side of the detector's three grids, and anchors per cell, in the order of its rows."""

_SAME_PERSON = 0.3
"""Two of the detector's boxes with a larger intersection over union are the same person's."""

_BODY_MARGIN, _FACE_MARGIN = 1.25, 1.5
"""Side of what the networks of pose and face look at, over the size of body and face, as in their training."""

_PADDING = 0.12
"""Added around the pose's mask, in its own width and height, before the selfie network looks."""

_LOWEST_FACE = 0.5
"""Score below which the face is guessed from the pose."""

# The mesh's vertices along the edge of the face, from the top of the forehead clockwise as seen.
_OVAL = (
    10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377,
    152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
)  # fmt: skip
_CHIN, _RIGHT_CHEEK, _LEFT_CHEEK, _RIGHT_EYE, _LEFT_EYE = 152, 234, 454, 33, 263


@dataclass(frozen=True)
class Detection:
    """Somebody whom the detector sees.

    Attributes:
        region: The square around the body, in pixels of the photo.
        score: 0 to 1.
    """

    region: Square
    score: float


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


@dataclass(frozen=True)
class Person:
    """What the networks say of one person.

    Attributes:
        landmarks: ``(33, 4)``: x, y in pixels of the photo, z in the same scale, visibility 0 to 1.
        score: How sure the pose network is of the person, 0 to 1.
        mask: ``(height, width)``, 0 to 1, how much the pose network believes in the person there.
        people: The same of the selfie network, which sees everybody near.
        face: The face.
    """

    landmarks: Floats
    score: float
    mask: Floats
    people: Floats
    face: Face

    def agreement(self) -> float:
        """Intersection over union of the two masks, 0 to 1."""
        one, other = self.mask > 0.5, self.people > 0.5
        return float((one & other).sum()) / max(float((one | other).sum()), 1.0)


class PersonFinder:
    """MediaPipe's networks for people, loaded.

    Args:
        models_dir: The folder that `engines.models.fetch_models` filled.
        threads: How many threads a network may use.

    Raises:
        ModelsMissing: A model file is not there.
    """

    def __init__(self, models_dir: Path, threads: int) -> None:
        self._detector = Network(model_path(models_dir, "pose_detection"), threads, lowest=-1.0)
        self._pose, self._selfie, self._face = (
            Network(model_path(models_dir, name), threads)
            for name in ("pose_landmark_full", "selfie_segmentation", "face_landmark")
        )
        size = self._detector.size
        self._anchors = np.concatenate([_anchor_centres(cells, each) for cells, each in _GRIDS]) * size

    def person(self, photo: Picture) -> Person:
        """The one person in a photo.

        Raises:
            EngineError: ``several_people``, ``person_not_found`` or ``pose_not_usable``.
        """
        return self._whole(photo, self.detect(photo, _LOWEST_DETECTION))

    def wearer(self, picture: Picture) -> tuple[Person, bool] | None:
        """A possible person in a picture of a garment, and whether it surely is one; None if it surely shows nobody.

        The head may be cut off.

        Raises:
            EngineError: As `person`, where somebody surely is.
        """
        people = self.detect(picture, _FAINTEST_DETECTION)
        if not people:
            return None
        if people[0].score >= _SURELY_SOMEBODY:
            return self._whole(picture, [each for each in people if each.score >= _LOWEST_DETECTION]), True
        person = self.look(picture, people[0] if people[0].score >= _LOWEST_DETECTION else None)
        if person.score < _LOWEST_HEADLESS or person.agreement() < _LOWEST_HEADLESS_AGREEMENT:
            return None
        return person, False

    def detect(self, photo: Picture, lowest_score: float) -> list[Detection]:
        """Everybody in the photo, the surest first."""
        size, square = self._detector.size, _whole_frame(photo)
        offsets, logits = self._detector.run(square.cut(photo, size))
        scores, extents = sigmoid(logits[:, 0]), offsets[:, 2:4]
        boxes = np.hstack([offsets[:, :2] + self._anchors - extents / 2, extents])
        found = []
        for row in cv2.dnn.NMSBoxes(boxes.tolist(), scores.tolist(), lowest_score, _SAME_PERSON):
            # Four points: the middle of the hips, one on the circle around the body, and the same of its upper half.
            points = square.to_photo(offsets[row, 4:8].reshape(2, 2) + self._anchors[row], size)
            found.append(Detection(_around_body(points[0], points[1]), float(scores[row])))
        return found

    def look(self, photo: Picture, seen: Detection | None) -> Person:
        """What the networks say of somebody whom the detector saw, or, if it saw nobody, of the whole frame."""
        height, width = photo.shape[:2]
        region, size = seen.region if seen else _whole_frame(photo), self._pose.size
        # Each round cuts the region that the last one proposed; after a detection the second round is already stable.
        for last in range(2 if seen else 4, 0, -1):
            rows, score, logits = self._pose.run(region.cut(photo, size))[:3]
            table = rows.reshape(-1, 5)
            points = region.to_photo(table[:, :2], size)
            if last > 1:  # after the landmarks come the middle of the hips and a point on the circle around the body
                region = _around_body(points[len(Landmark)], points[len(Landmark) + 1])
        landmarks = np.column_stack([points, table[:, 2] * (region.side / size), sigmoid(table[:, 3])])
        landmarks = landmarks[: len(Landmark)].astype(np.float32)
        mask = region.paste(sigmoid(logits[..., 0]), width, height)
        return Person(
            landmarks, float(score.ravel()[0]), mask, self._silhouette(photo, mask), self._find_face(photo, landmarks)
        )

    def _whole(self, photo: Picture, people: list[Detection]) -> Person:
        """The one person in a photo in which the detector saw these people."""
        if any(other.region.side >= _COMPARABLE_SIZE * people[0].region.side for other in people[1:]):
            raise EngineError(
                "several_people", advice="Use a photo that shows only you, without others beside or behind you."
            )
        person = self.look(photo, people[0] if people else None)
        # The pose and selfie networks also accept cups, cats and dresses without a wearer; the detector and the mesh do
        # not.
        confirmed = people or person.face.measured
        if person.score < _LOWEST_POSE or person.agreement() < _LOWEST_AGREEMENT or not confirmed:
            raise EngineError("person_not_found", advice=HOW_TO_BE_FOUND)
        _check_torso(person.landmarks, photo)
        return person

    def _silhouette(self, photo: Picture, mask: Floats) -> Floats:
        """What the selfie network takes for people around the pose's mask, ``(height, width)``, 0 to 1."""
        height, width = mask.shape
        left, top, across, down = cv2.boundingRect((mask > 0.3).astype(np.uint8))
        if across < 8 or down < 8:
            left, top, across, down = 0, 0, width, height
        aside, above = int(_PADDING * across), int(_PADDING * down)
        right, bottom = min(left + across + aside, width), min(top + down + above, height)
        left, top = max(left - aside, 0), max(top - above, 0)
        size = (self._selfie.size, self._selfie.size)
        cut = np.asarray(cv2.resize(photo[top:bottom, left:right], size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        people = np.zeros((height, width), np.float32)
        people[top:bottom, left:right] = cv2.resize(self._selfie.run(cut)[0][..., 0], (right - left, bottom - top))
        return people

    def _find_face(self, photo: Picture, landmarks: Floats) -> Face:
        """The mesh laid on the head that the pose points at; a guess from the pose when it does not fit."""
        eyes = landmarks[[Landmark.LEFT_EYE, Landmark.RIGHT_EYE], :2].mean(axis=0)
        mouth = landmarks[[Landmark.MOUTH_LEFT, Landmark.MOUTH_RIGHT], :2].mean(axis=0)
        ears = landmarks[Landmark.LEFT_EAR, :2] - landmarks[Landmark.RIGHT_EAR, :2]
        # Unlike the distance of the eyes, it does not change when the head turns; about 0.4 of the face's height.
        unit = max(float(np.linalg.norm(mouth - eyes)), 0.35 * float(np.linalg.norm(ears)), 2.0)
        middle = (eyes + mouth) / 2
        slant = landmarks[Landmark.LEFT_EYE_OUTER, :2] - landmarks[Landmark.RIGHT_EYE_OUTER, :2]
        extent, size = 2.8 * unit, self._face.size
        for _ in range(2):
            angle = float(np.arctan2(slant[1], slant[0]))
            region = Square(float(middle[0]), float(middle[1]), extent * _FACE_MARGIN, angle)
            vertices, logit = self._face.run(region.cut(photo, size))
            mesh = region.to_photo(vertices.reshape(-1, 3)[:, :2], size)
            slant = mesh[_LEFT_EYE] - mesh[_RIGHT_EYE]  # outer corners
            highest, lowest = mesh.max(axis=0), mesh.min(axis=0)
            middle, extent = (highest + lowest) / 2, max(float((highest - lowest).max()), 2.0)
        if sigmoid(logit.ravel())[0] >= _LOWEST_FACE:
            width = float(np.linalg.norm(mesh[_LEFT_CHEEK] - mesh[_RIGHT_CHEEK]))
            return Face(mesh[list(_OVAL)], mesh[_CHIN], width, measured=True)
        down = (mouth - eyes) / max(float(np.linalg.norm(mouth - eyes)), 1e-3)
        aside = np.array([down[1], -down[0]], np.float32)
        centre = (eyes + mouth) / 2 - 0.05 * unit * down
        turn = np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False)[:, None]
        oval = centre - np.cos(turn) * 1.3 * unit * down + np.sin(turn) * 0.95 * unit * aside
        chin = np.asarray(centre + 1.3 * unit * down, np.float32)
        return Face(oval.astype(np.float32), chin, 1.9 * unit, measured=False)


def _anchor_centres(cells: int, each: int) -> Floats:
    """``(cells * cells * each, 2)`` centres as x and y, 0 to 1, row by row."""
    rows, columns = (np.indices((cells, cells), np.float32) + 0.5) / cells
    return np.repeat(np.column_stack([columns.ravel(), rows.ravel()]), each, axis=0)


def _whole_frame(photo: Picture) -> Square:
    height, width = photo.shape[:2]
    return Square((width - 1) / 2, (height - 1) / 2, float(max(width, height)))


def _around_body(centre: Floats, circle: Floats) -> Square:
    """The square around a body whose middle is ``centre`` and whose circle passes through ``circle``."""
    right, down = circle - centre
    side = max(2.0 * float(np.hypot(right, down)) * _BODY_MARGIN, 8.0)
    return Square(float(centre[0]), float(centre[1]), side, float(np.arctan2(right, -down)))


def _check_torso(landmarks: Floats, photo: Picture) -> None:
    height, width = photo.shape[:2]
    margin = 0.05 * max(height, width)
    shoulders = landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER]]
    hips = float(landmarks[[Landmark.LEFT_HIP, Landmark.RIGHT_HIP], 1].mean())
    for x, y, _, visibility in shoulders:
        inside = -margin <= x <= width + margin and -margin <= y <= height + margin
        if visibility < _LOWEST_VISIBILITY or not inside:
            raise EngineError("pose_not_usable", advice="Both shoulders must be seen: show yourself from head to hips.")
    top = float(shoulders[:, 1].mean())
    if height - top < _LEAST_TORSO * (hips - top):
        raise EngineError("pose_not_usable", advice="Show yourself from head to hips.")
