"""What would make a better picture, measured on one that is good and on ones that are spoilt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from api.dashboard.samples import PORTRAIT, pixels_of
from engines.advice import SENTENCES, advice_on_garment, advice_on_photo
from engines.base import PersonMap
from tests.engines.mannequin import draw_mannequin
from workflows.contracts import Finding

PHOTO = np.asarray(pixels_of(PORTRAIT), dtype=np.uint8)


def test_a_good_photo_gets_none() -> None:
    assert advice_on_photo(PHOTO, None) == []
    assert advice_on_photo(PHOTO, draw_mannequin().person_map) == []


def test_a_blurred_photo_is_told_at_every_size() -> None:
    blurred = np.asarray(cv2.GaussianBlur(PHOTO, (0, 0), 3.0), np.uint8)
    enlarged = np.asarray(cv2.resize(blurred, None, fx=4, fy=4), np.uint8)
    assert advice_on_photo(blurred, None) == advice_on_photo(enlarged, None) == ["photo_blurred"]


def test_a_dark_photo_is_told() -> None:
    assert "photo_dark" in advice_on_photo(np.asarray(PHOTO * 0.3, np.uint8), None)


def test_somebody_far_away_is_told() -> None:
    near = draw_mannequin().person_map
    far: PersonMap = replace(near, landmarks=near.landmarks * np.array([0.3, 0.3, 0.3, 1], np.float32))
    assert advice_on_photo(PHOTO, far) == ["person_small"]


def test_a_small_picture_of_a_garment_is_told() -> None:
    assert advice_on_garment(np.zeros((511, 300, 3), np.uint8)) == ["garment_small"]
    assert advice_on_garment(np.zeros((512, 300, 3), np.uint8)) == []


def test_every_piece_of_advice_fits_into_a_finding() -> None:
    for code, sentence in SENTENCES.items():
        assert Finding(code=code, severity="advice", advice=sentence).advice == sentence


def test_the_page_names_every_piece_of_advice() -> None:
    page = (Path(__file__).parents[2] / "docs" / "photos.md").read_text()
    assert all(f"`{code}`" in page for code in SENTENCES)
