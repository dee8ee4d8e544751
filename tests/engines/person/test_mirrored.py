"""The mirror image of a photo gives the mirror image of its map."""

import numpy as np
import pytest

from engines.base import Label, Landmark, PersonMap, Picture
from tests.engines.person.conftest import Segment


@pytest.fixture(scope="module")
def turned(segment: Segment, astronaut: Picture) -> PersonMap:
    return segment(np.ascontiguousarray(astronaut[:, ::-1]))


def test_mirrored_labels_agree(astronaut_map: PersonMap, turned: PersonMap) -> None:
    assert (turned.labels[:, ::-1] == astronaut_map.labels).mean() > 0.94


def test_mirrored_face_covers_the_same_pixels(astronaut_map: PersonMap, turned: PersonMap) -> None:
    one, other = astronaut_map.labels[60:200] == Label.FACE, turned.labels[60:200, ::-1] == Label.FACE

    assert (one & other).sum() > 0.85 * (one | other).sum()


def test_left_and_right_landmarks_swap(astronaut_map: PersonMap, turned: PersonMap) -> None:
    width = astronaut_map.labels.shape[1]
    for name in ("EYE", "EAR", "SHOULDER"):
        left, right = Landmark[f"LEFT_{name}"], Landmark[f"RIGHT_{name}"]
        expected = astronaut_map.landmarks[left, :2] * (-1, 1) + (width - 1, 0)
        assert np.hypot(*(turned.landmarks[right, :2] - expected)) < 0.05 * width, name


def test_own_left_is_on_the_right_of_the_picture(astronaut_map: PersonMap, turned: PersonMap) -> None:
    for person_map in (astronaut_map, turned):
        columns = person_map.landmarks[:, 0]
        assert columns[Landmark.LEFT_SHOULDER] > columns[Landmark.RIGHT_SHOULDER] + 100
