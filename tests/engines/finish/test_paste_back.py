"""What is taken from a painting, and what stays the photo to the last bit."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from engines.base import Category, Garment, Label, PersonMap, RenderRequest
from engines.finish.paste_back import paste_back
from engines.regions import dilated
from tests.engines.drawings import draw_garment
from tests.engines.painted import NEW_TOP, OLD_TOP, painted, person_at_a_wall, shifted, tinted

PERSON = person_at_a_wall()
DRESSED = person_at_a_wall(NEW_TOP)
LABELS = PERSON.person_map.labels
TOP = Garment(draw_garment(colour=NEW_TOP).picture, Category.UPPER_BODY)
REQUEST = RenderRequest(PERSON.photo, PERSON.person_map, [TOP])


def test_the_garment_comes_from_the_painting() -> None:
    result = paste_back(REQUEST, painted(DRESSED.photo))
    inside = ~dilated(LABELS != Label.UPPER, 6)
    assert np.abs(result[inside].astype(int) - NEW_TOP).mean() < 6


def test_everything_away_from_it_is_the_photo_to_the_last_bit() -> None:
    result = paste_back(REQUEST, painted(DRESSED.photo))
    away = ~dilated(LABELS == Label.UPPER, 24)
    assert away.mean() > 0.5
    assert (result[away] == PERSON.photo[away]).all()


def test_face_hair_and_hands_are_the_photos_even_if_the_painting_smoothed_them() -> None:
    smooth = cv2.GaussianBlur(painted(DRESSED.photo), (0, 0), 2)
    result = paste_back(REQUEST, np.asarray(smooth, np.uint8))
    kept = ~dilated((LABELS != Label.FACE) & (LABELS != Label.HAIR), 3)
    assert kept.any()
    assert (result[kept] == PERSON.photo[kept]).all()


def test_hands_that_a_sleeve_covers_come_from_the_painting() -> None:
    covered = person_at_a_wall(NEW_TOP, sleeves="long").photo.copy()
    covered[dilated(LABELS == Label.HANDS, 8)] = NEW_TOP
    result = paste_back(REQUEST, painted(covered))
    deep = ~dilated(LABELS != Label.HANDS, 4)
    assert deep.any()
    assert np.abs(result[deep].astype(int) - NEW_TOP).mean() < 12


def test_shift_and_tint_of_the_painting_are_taken_out() -> None:
    straight = paste_back(REQUEST, painted(DRESSED.photo))
    crooked = paste_back(REQUEST, tinted(shifted(painted(DRESSED.photo), 4, -3), (8, 4, -6)))
    old = (np.abs(straight.astype(int) - OLD_TOP).max(axis=2) < 30) & (LABELS == Label.UPPER)
    assert not old.any()
    assert np.abs(straight.astype(int) - crooked)[LABELS == Label.UPPER].mean() < 4


def test_result_has_the_size_of_a_large_photo() -> None:
    factor = 4
    photo = cv2.resize(PERSON.photo, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
    large = PersonMap(
        labels=cv2.resize(LABELS, None, fx=factor, fy=factor, interpolation=cv2.INTER_NEAREST),
        matte=cv2.resize(PERSON.person_map.matte, None, fx=factor, fy=factor),
        landmarks=PERSON.person_map.landmarks * np.array([factor, factor, factor, 1], np.float32),
        score=1.0,
    )
    result = paste_back(RenderRequest(photo, large, [TOP]), painted(DRESSED.photo))
    assert result.shape == photo.shape
    away = ~dilated(large.labels == Label.UPPER, 100)
    assert (result[away] == photo[away]).all()
    inside = ~dilated(large.labels != Label.UPPER, 24)
    assert np.abs(result[inside].astype(int) - NEW_TOP).mean() < 6


@pytest.mark.parametrize("size", [(384, 512), (480, 640), (720, 960)])
def test_paintings_of_any_size_are_taken(size: tuple[int, int]) -> None:
    result = paste_back(REQUEST, painted(DRESSED.photo, size))
    inside = ~dilated(LABELS != Label.UPPER, 6)
    assert np.abs(result[inside].astype(int) - NEW_TOP).mean() < 6
