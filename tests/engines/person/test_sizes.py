"""Maps have the size and the types that the protocol promises, whatever the size of the photo."""

import cv2
import numpy as np
import pytest

from engines.base import Label, Landmark, PersonMap, Picture
from tests.engines.person.conftest import Segment


def resized(picture: Picture, width: int, height: int) -> Picture:
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.uint8)


def check_types(found: PersonMap, width: int, height: int) -> None:
    assert found.labels.shape == found.matte.shape == (height, width)
    assert found.labels.dtype == found.matte.dtype == np.uint8
    assert found.landmarks.shape == (len(Landmark), 4)
    assert found.landmarks.dtype == np.float32
    assert set(np.unique(found.labels)) <= {int(label) for label in Label}
    assert ((found.landmarks[:, 3] >= 0) & (found.landmarks[:, 3] <= 1)).all()


@pytest.mark.parametrize(("width", "height"), [(512, 512), (517, 389), (333, 901)])
def test_odd_sizes(segment: Segment, astronaut: Picture, width: int, height: int) -> None:
    check_types(segment(resized(astronaut, width, height)), width, height)


def test_twelve_megapixels(segment: Segment, astronaut: Picture, astronaut_map: PersonMap) -> None:
    side, zoom = 3464, 3464 / 512

    found = segment(resized(astronaut, side, side))

    check_types(found, side, side)
    assert np.hypot(*(found.landmarks[Landmark.NOSE, :2] / zoom - astronaut_map.landmarks[Landmark.NOSE, :2])) < 15
    assert (
        found.labels[int(zoom * 95) : int(zoom * 170), int(zoom * 195) : int(zoom * 250)] == Label.FACE
    ).mean() > 0.9
    assert (found.matte[: int(zoom * 100), int(zoom * 100) : int(zoom * 150)] < 15).all()


def test_photo_is_left_alone(segment: Segment, astronaut: Picture) -> None:
    photo = astronaut.copy()

    segment(photo)

    assert (photo == astronaut).all()


def test_same_photo_gives_the_same_map(segment: Segment, astronaut: Picture, astronaut_map: PersonMap) -> None:
    again = segment(astronaut)

    assert (again.labels == astronaut_map.labels).all()
    assert (again.matte == astronaut_map.matte).all()
    assert (again.landmarks == astronaut_map.landmarks).all()
