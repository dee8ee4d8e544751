"""A dim photo is parsed as the same photo in good light is."""

import numpy as np

from engines.base import PersonMap, Picture
from engines.person.exposure import in_usual_light
from tests.engines.person.conftest import Segment


def _dimmed(picture: Picture, factor: float) -> Picture:
    return np.rint(picture * factor).astype(np.uint8)


def test_dim_photo_has_the_labels_of_the_bright_one(
    segment: Segment, astronaut: Picture, astronaut_map: PersonMap
) -> None:
    dim = segment(_dimmed(astronaut, 0.3))
    person = astronaut_map.matte > 127
    # Her helmet and its cords change sides; of ten people in plain clothes at most 1.1 % of the labels move.
    assert (dim.labels == astronaut_map.labels)[person].mean() > 0.75


def test_bright_photo_is_left_alone(astronaut: Picture) -> None:
    assert in_usual_light(astronaut) is astronaut


def test_dim_photo_gets_its_light_back() -> None:
    picture = np.random.default_rng(0).integers(0, 240, (120, 90, 3)).astype(np.uint8)
    found = in_usual_light(_dimmed(picture, 0.4))
    assert np.abs(found.astype(int) - picture).max() < 12


def test_lamp_does_not_make_a_dim_photo_bright() -> None:
    picture = np.full((200, 200, 3), 40, np.uint8)
    picture[:30, :40] = 255
    assert in_usual_light(picture)[150, 100, 0] > 120


def test_black_photo_is_not_made_of_noise() -> None:
    assert in_usual_light(np.full((80, 80, 3), 3, np.uint8)).max() <= 15


def test_face_before_a_grey_wall_and_dark_clothes_is_not_burnt_out() -> None:
    picture = np.full((200, 100, 3), 138, np.uint8)
    picture[60:190, 20:80] = 25
    picture[20:40, 45:60] = (214, 160, 130)
    found = in_usual_light(picture)[30, 48]
    assert found[0] < 252
    assert found[2] / found[0] < 0.65
