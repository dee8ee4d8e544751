"""The trained parser names what anybody would name, and a mirrored photo is the same person."""

from __future__ import annotations

import numpy as np
import pytest

from engines.base import Mask, PersonMap, Picture
from engines.person.finding import Face, Person
from engines.person.networks import Floats
from engines.person.parser import HEIGHT, WIDTH, Chances, Parser, Thing, Window, drawn_limbs

UPPER = (Thing.TOP, Thing.OUTERWEAR, Thing.DRESS)


def laid(parser: Parser, photo: Picture, matte: Mask, landmarks: Floats) -> Floats:
    """``(len(Thing), height, width)`` of a whole photo, the matte in place of both rough masks."""
    mask, face = matte / np.float32(255), Face(landmarks[:11, :2], landmarks[0, :2], 1.0, measured=False)
    chances = parser.look(photo, Person(landmarks, 1.0, mask, mask, face))
    return np.stack([chances.of(thing, 0, 0, photo.shape[1], photo.shape[0]) for thing in Thing])


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


@pytest.fixture(scope="module")
def chances(parser: Parser, astronaut: Picture, astronaut_map: PersonMap) -> Floats:
    return laid(parser, astronaut, astronaut_map.matte, astronaut_map.landmarks)


def test_the_window_holds_the_person_and_lays_its_answer_back_where_it_was() -> None:
    mask = np.zeros((400, 300), np.float32)
    mask[50:350, 100:200] = 1.0
    window = Window.around(mask, mask)
    cut = window.cut((mask * 255).astype(np.uint8))
    assert cut.shape == (HEIGHT, WIDTH)
    rows = np.nonzero(cut > 127)[0]
    assert rows.min() > 4
    assert rows.max() < HEIGHT - 5
    share = cut[::2, ::2] / np.float32(255)
    chances = Chances(np.stack([1 - share, share]), window)
    ground, hair = (chances.of(thing, 0, 0, 300, 400) for thing in (Thing.GROUND, Thing.HAIR))
    assert np.abs(ground + hair - 1).max() < 1e-5
    assert ((hair > 0.5) == (mask > 0.5)).mean() > 0.985
    assert ground[0, 0] == 1.0, "beyond the window is ground"
    assert np.abs(chances.of(Thing.HAIR, 80, 40, 150, 200) - hair[40:240, 80:230]).max() < 1e-4


def test_limbs_are_drawn_alike_for_a_mirrored_body(astronaut_map: PersonMap) -> None:
    landmarks = astronaut_map.landmarks.copy()
    matrix = Window.around(*[np.ones((511, 511), np.float32)] * 2).matrix
    mirrored = landmarks.copy()
    mirrored[:, 0] = 510 - mirrored[:, 0]
    one, other = drawn_limbs(landmarks, matrix), drawn_limbs(mirrored, matrix)
    assert (np.abs(one.astype(int) - other[..., ::-1]) > 127).mean() < 0.01


def test_probabilities_are_those_of_every_pixel(chances: Floats, astronaut: Picture) -> None:
    assert chances.shape == (len(Thing), *astronaut.shape[:2])
    assert np.abs(chances.sum(axis=0) - 1).max() < 1e-3
    assert chances.min() >= 0


def test_face_hair_and_suit_are_told_apart(chances: Floats) -> None:
    upper = chances[list(UPPER)].sum(axis=0)
    assert chances[Thing.SKIN, 130:170, 200:240].mean() > 0.8
    assert chances[Thing.HAIR, 40:70, 190:250].mean() > 0.6
    assert upper[230:350, 150:300].mean() > 0.8


def test_a_mirrored_photo_has_the_mirrored_probabilities(
    parser: Parser, chances: Floats, astronaut: Picture, astronaut_map: PersonMap
) -> None:
    landmarks = astronaut_map.landmarks.copy()
    landmarks[:, 0] = astronaut.shape[1] - 1 - landmarks[:, 0]
    turned, matte = (np.ascontiguousarray(each[:, ::-1]) for each in (astronaut, astronaut_map.matte))
    mirrored = laid(parser, turned, matte, landmarks)[..., ::-1]
    same = mirrored.argmax(axis=0) == chances.argmax(axis=0)
    assert same[astronaut_map.matte > 127].mean() > 0.95
