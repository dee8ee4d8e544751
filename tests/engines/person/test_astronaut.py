"""The demonstration photo: what is where."""

import numpy as np
import pytest

from engines.base import Label, Landmark, PersonMap


def share(person_map: PersonMap, box: tuple[int, int, int, int], *labels: Label) -> float:
    """Of the box, given as left, top, right, bottom, the part that has one of the labels."""
    left, top, right, bottom = box
    return float(np.isin(person_map.labels[top:bottom, left:right], labels).mean())


def test_one_person_is_found_with_confidence(astronaut_map: PersonMap) -> None:
    assert astronaut_map.score > 0.9


def test_middle_of_the_face_is_face(astronaut_map: PersonMap) -> None:
    assert share(astronaut_map, (195, 95, 250, 170), Label.FACE) > 0.95


def test_most_of_the_face_label_is_on_the_face(astronaut_map: PersonMap) -> None:
    rows, columns = np.nonzero(astronaut_map.labels == Label.FACE)

    on_the_face = (columns >= 170) & (columns <= 275) & (rows >= 60) & (rows <= 200)

    assert on_the_face.mean() > 0.9


def test_hair_above_the_forehead_is_hair(astronaut_map: PersonMap) -> None:
    assert share(astronaut_map, (180, 30, 270, 75), Label.HAIR) > 0.95


def test_suit_is_clothing(astronaut_map: PersonMap) -> None:
    assert share(astronaut_map, (60, 300, 230, 480), Label.UPPER, Label.FULL) > 0.9


def test_black_lining_below_the_chin_is_clothing_and_not_hair(astronaut_map: PersonMap) -> None:
    assert share(astronaut_map, (195, 196, 245, 230), Label.UPPER, Label.FULL) > 0.95


def test_pale_straps_and_discs_of_the_suit_are_no_skin(astronaut_map: PersonMap) -> None:
    skin = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS)

    assert share(astronaut_map, (60, 200, 300, 512), *skin) < 0.03  # the glove's fingers are


@pytest.mark.parametrize(
    ("thing", "box"),
    [("flag", (0, 0, 55, 180)), ("shuttle", (370, 10, 470, 260)), ("wall", (100, 0, 150, 100))],
)
def test_surroundings_are_background(astronaut_map: PersonMap, thing: str, box: tuple[int, int, int, int]) -> None:
    assert share(astronaut_map, box, Label.BACKGROUND) > 0.97, thing


def test_matte_is_full_on_the_chest_and_empty_on_the_wall(astronaut_map: PersonMap) -> None:
    assert astronaut_map.matte[300:480, 60:230].min() > 240
    assert astronaut_map.matte[:100, 100:150].max() < 15


def test_nose_and_shoulders_are_where_they_are_seen(astronaut_map: PersonMap) -> None:
    expected = {Landmark.NOSE: (222, 122), Landmark.LEFT_SHOULDER: (330, 260), Landmark.RIGHT_SHOULDER: (105, 260)}

    for landmark, place in expected.items():
        assert np.hypot(*(astronaut_map.landmarks[landmark, :2] - place)) < 40, landmark
