"""What a generative network would make of a drawn person: a whole new picture, with the faults of such pictures."""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import EngineError, Mask, OnStep, PersonMap, Picture, ShouldStop
from tests.engines.mannequin import Mannequin, draw_mannequin

OLD_TOP, NEW_TOP = (150, 60, 60), (40, 130, 70)


def person_at_a_wall(top: tuple[int, int, int] = OLD_TOP, **how: str) -> Mannequin:
    """A drawn person before a wall with a pattern, with eyes and a mouth; the same wall and face for every top."""
    drawn = draw_mannequin(640, 480, top=top, **how)
    rows, columns = np.mgrid[0:640, 0:480]
    pattern = 18 * np.sin(columns / 17.0 + 2 * np.sin(rows / 41.0)) + 14 * np.sin(rows / 23.0)
    share = 1 - drawn.person_map.matte[..., None] / 255.0
    photo = np.clip(drawn.photo + pattern[..., None] * share, 0, 255).astype(np.uint8)
    for x, y, radius in ((228, 70, 4), (252, 70, 4), (240, 92, 6)):
        cv2.circle(photo, (x, y), radius, (40, 25, 25), -1, cv2.LINE_AA)
    return Mannequin(photo, drawn.person_map)


def painted(photo: Picture, size: tuple[int, int] = (384, 512)) -> Picture:
    """The photo as a network gives it back: smaller and smoother."""
    return np.asarray(cv2.GaussianBlur(cv2.resize(photo, size, interpolation=cv2.INTER_AREA), (0, 0), 0.8), np.uint8)


def shifted(picture: Picture, right: int, down: int = 0) -> Picture:
    """Moved, with its border repeated."""
    matrix = np.array([[1, 0, right], [0, 1, down]], dtype=np.float64)
    size = (picture.shape[1], picture.shape[0])
    return np.asarray(cv2.warpAffine(picture, matrix, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def tinted(picture: Picture, by: tuple[int, int, int]) -> Picture:
    """With so much added to each channel."""
    return np.asarray(np.clip(picture.astype(int) + by, 0, 255), np.uint8)


class DrawnSegmenter:
    """Knows drawn people by their pictures' content: whatever was not told is nobody.

    Args:
        people: Maps of the pictures that show somebody.
    """

    def __init__(self, *people: Mannequin) -> None:
        self._people = people

    def setup(self) -> None:
        pass

    def segment_wearer(self, picture: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap | None:
        return next((person.person_map for person in self._people if picture is person.photo), None)

    def landmarks_of(self, picture: Picture) -> Mask:
        """Of the first person, at the size of any picture that is not flat."""
        if picture.std() < 5:
            raise EngineError("person_not_found")
        person = self._people[0]
        scale = picture.shape[1] / person.photo.shape[1]
        return person.person_map.landmarks * np.array([scale, scale, scale, 1], np.float32)

    def segment(self, photo: Picture, on_step: OnStep, should_stop: ShouldStop) -> PersonMap:
        for person in self._people:
            if photo is person.photo:
                return person.person_map
        return self._people[0].person_map
