"""The person room's front door."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import EngineError, Label, Landmark, OnStep, PersonMap, Picture, RenderStopped, ShouldStop
from engines.beside import beside
from engines.labels import labelled_as
from engines.models import model_path
from engines.person.body import Body
from engines.person.detection import Detection, Detector, pose_detector
from engines.person.enlarge import enlarged_labels, enlarged_matte
from engines.person.exposure import in_usual_light
from engines.person.face import Face, find_face
from engines.person.matte import agreement, refined, silhouette
from engines.person.networks import Floats, Network
from engines.person.parser import Parser
from engines.person.parsing import parse, with_carried
from engines.person.pose import Pose, find_pose, region_of_body
from engines.settling import cells_of, lab_of

_WORKING_SIDE = 1024
"""Longer side, in pixels, of the copy that is looked at; the networks see less, the parsing needs no more."""

_LOWEST_DETECTION = 0.3
_LOWEST_POSE = 0.65

_LOWEST_AGREEMENT = 0.5
"""The pose network draws a person into anything; the selfie network, which knows no pose, must see it too."""

_FAINTEST_DETECTION, _LOWEST_HEADLESS, _LOWEST_HEADLESS_AGREEMENT = 0.1, 0.77, 0.92
"""The same three bounds for a body without a head, which no face confirms. Of nine such pictures the lowest had 0.24,
0.78 and 0.94; of 22 garments laid flat or on an unseen dummy none was above both 0.75 and 0.89 in the latter two."""

_LOWEST_VISIBILITY = 0.4
"""Of the shoulders, as the pose network gives it."""

_LEAST_TORSO = 0.4
"""How far down from the shoulders, at 0, to the hips, at 1, the photo must reach: below are no clothes to look at."""

HOW_TO_BE_FOUND = "Show yourself from the front, from head to hips, in good light and before a plain wall."

_COMPARABLE_SIZE = 0.55
"""A second body this large, relative to the first one, is not background."""

_SURELY_SOMEBODY = 0.75
"""The detector's score of people in a picture is above this, that of hoodies and shirts hung up below 0.6."""

_SKIN = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS)

_LEAST_SKIN = 0.02
"""Share of a headless body that is skin at least; a garment on an unseen dummy has its form and shows none."""


_Found: TypeAlias = tuple[Pose, Floats, Face]
"""The pose of a person, the silhouette of all people, and the person's face."""


@dataclass(frozen=True)
class _Networks:
    people: Detector
    pose: Network
    selfie: Network
    face: Network
    parser: Parser


class MediaPipeSegmenter:
    """Finds the one person in a photo and says what they wear.

    Args:
        models_dir: The folder that `engines.models.fetch_models` filled.
        threads: How many threads a network may use.
    """

    def __init__(self, models_dir: Path, threads: int = 2) -> None:
        self._folder = models_dir
        self._threads = threads
        self._networks: _Networks | None = None

    def setup(self) -> None:
        """Load the networks.

        Raises:
            ModelsMissing: A model file is not there.
        """
        self._networks = _Networks(
            people=pose_detector(self._load("pose_detection", lowest=-1.0)),
            pose=self._load("pose_landmark_full"),
            selfie=self._load("selfie_segmentation"),
            face=self._load("face_landmark"),
            parser=Parser(),
        )

    def landmarks_of(self, picture: Picture) -> Floats:
        """See `engines.base.PersonSegmenter.landmarks_of`."""
        small, scale = _working_copy(picture)
        networks, small = self._ready(), in_usual_light(small)
        pose, _, _ = _one_person(networks, small, networks.people.find(small, _LOWEST_DETECTION))
        return _at_full_size(pose.landmarks, scale)

    def segment(self, photo: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap:
        """See `engines.base.PersonSegmenter.segment`."""
        networks, step = self._ready(), _stopping(on_step, should_stop)
        step("pose")
        # The networks, the colours and the edges of the matte are looked for in one and the same light.
        photo = in_usual_light(photo)
        small, scale = _working_copy(photo)
        # The colours do not depend on what the networks find.
        with beside(lambda: _colours(small)) as colours:
            found = _one_person(networks, small, networks.people.find(small, _LOWEST_DETECTION))
            step("matte")
        return _mapped(networks.parser, photo, (small, scale), found, colours=colours.result(), step=step)

    def segment_wearer(self, picture: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap | None:
        """See `engines.base.PersonSegmenter.segment_wearer`."""
        networks, step = self._ready(), _stopping(on_step, should_stop)
        picture = in_usual_light(picture)
        small, scale = _working_copy(picture)
        people = networks.people.find(small, _FAINTEST_DETECTION)
        if not people:
            return None
        whole = people[0].score >= _SURELY_SOMEBODY
        found = _one_person(networks, small, people) if whole else _headless(networks, small, people)
        if found is None:
            return None
        step("matte")
        person_map = _mapped(networks.parser, picture, (small, scale), found, colours=_colours(small), step=step)
        return person_map if whole or shows_skin(person_map) else None

    def _ready(self) -> _Networks:
        if self._networks is None:
            self.setup()
        assert self._networks is not None  # noqa: S101  # for the type checker; setup() has just filled it
        return self._networks

    def _load(self, name: str, lowest: float = 0.0) -> Network:
        return Network(model_path(self._folder, name), self._threads, lowest=lowest)


def _stopping(on_step: OnStep, should_stop: ShouldStop) -> OnStep:
    """``on_step``, which raises `RenderStopped` when ``should_stop`` says so."""

    def step(name: str) -> None:
        if should_stop():
            raise RenderStopped
        on_step(name)

    return step


def _mapped(
    parser: Parser,
    photo: Picture,
    copy: tuple[Picture, float],
    found: _Found,
    *,
    colours: tuple[Floats, NDArray[np.intp]],
    step: OnStep,
) -> PersonMap:
    """The map of a photo from what was found in its working copy."""
    (small, scale), (pose, people, face), (lab, cells) = copy, found, colours
    body = Body(pose.landmarks, face, small.shape[:2])
    chances = parser.look(small, pose.mask, people, pose.landmarks)
    matte = with_carried(refined(pose, people, body, lab, cells), chances)
    step("parsing")
    labels = parse(chances, lab, cells, matte, body)
    step("enlarge")
    height, width = photo.shape[:2]
    return PersonMap(
        labels=enlarged_labels(labels, height, width),
        matte=enlarged_matte(matte, small, photo),
        landmarks=_at_full_size(pose.landmarks, scale),
        score=pose.score,
    )


def _colours(photo: Picture) -> tuple[Floats, NDArray[np.intp]]:
    """CIELAB of the working photo, and the histogram cells of its pixels."""
    lab = lab_of(photo)
    return lab, cells_of(lab)


def _one_person(networks: _Networks, photo: Picture, people: list[Detection]) -> _Found:
    """What is found of the one person in the working copy, in which the detector saw these people."""
    found = [person for person in people if person.score >= _LOWEST_DETECTION]
    if any(_size_of(other) >= _COMPARABLE_SIZE * _size_of(found[0]) for other in found[1:]):
        raise EngineError(
            "several_people", advice="Use a photo that shows only you, without others beside or behind you."
        )
    start = region_of_body(found[0].points[0], found[0].points[1]) if found else None
    pose = find_pose(networks.pose, photo, start)
    if pose.score < _LOWEST_POSE:
        raise EngineError("person_not_found", advice=HOW_TO_BE_FOUND)
    silhouettes = silhouette(networks.selfie, photo, pose)
    face = find_face(networks.face, photo, pose.landmarks)
    # Cups, cats and dresses without a wearer pass for a pose with a silhouette; the detector and the mesh know better.
    if agreement(pose, silhouettes) < _LOWEST_AGREEMENT or not (found or face.measured):
        raise EngineError("person_not_found", advice=HOW_TO_BE_FOUND)
    _check_torso(pose, photo)
    return pose, silhouettes, face


def _headless(networks: _Networks, photo: Picture, people: list[Detection]) -> _Found | None:
    """The same of a body whose head the photo cuts off; None where there is none, or not surely."""
    best = people[0]
    sure = best.score >= _LOWEST_DETECTION
    pose = find_pose(networks.pose, photo, region_of_body(best.points[0], best.points[1]) if sure else None)
    if pose.score < _LOWEST_HEADLESS:
        return None
    silhouettes = silhouette(networks.selfie, photo, pose)
    if agreement(pose, silhouettes) < _LOWEST_HEADLESS_AGREEMENT:
        return None
    return pose, silhouettes, find_face(networks.face, photo, pose.landmarks)


def shows_skin(person_map: PersonMap) -> bool:
    """Whether what has a body's form is somebody."""
    body = int(np.count_nonzero(person_map.labels))
    return bool(np.count_nonzero(labelled_as(person_map.labels, _SKIN)) > _LEAST_SKIN * body)


def _size_of(person: Detection) -> float:
    """Radius of the circle around the body, in pixels; the detector's boxes are all of one size."""
    return float(np.linalg.norm(person.points[1] - person.points[0]))


def _check_torso(pose: Pose, photo: Picture) -> None:
    height, width = photo.shape[:2]
    for joint in (Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER):
        x, y, _, visibility = pose.landmarks[joint]
        margin = 0.05 * max(height, width)
        outside = not (-margin <= x <= width + margin and -margin <= y <= height + margin)
        if visibility < _LOWEST_VISIBILITY or outside:
            raise EngineError("pose_not_usable", advice="Both shoulders must be seen: show yourself from head to hips.")
    shoulders, hips = (
        float(pose.landmarks[pair, 1].mean())
        for pair in ([Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], [Landmark.LEFT_HIP, Landmark.RIGHT_HIP])
    )
    if height - shoulders < _LEAST_TORSO * (hips - shoulders):
        raise EngineError("pose_not_usable", advice="Show yourself from head to hips.")


def _at_full_size(landmarks: Floats, scale: float) -> Floats:
    """Landmarks of a picture that was looked at ``scale`` times as large."""
    return np.asarray(landmarks / np.array([scale, scale, scale, 1.0], dtype=np.float32), dtype=np.float32)


def _working_copy(photo: Picture) -> tuple[Picture, float]:
    """The copy of a photo that is looked at, and how many times as large it is."""
    scale = min(1.0, _WORKING_SIDE / max(photo.shape[:2]))
    if scale == 1.0:
        return photo, scale
    small = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8), scale
