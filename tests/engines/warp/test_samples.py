"""Real photos: garments lie where they belong and the old clothes are gone.

Needs the sample pictures beside the checkout and the person segmenter's model files.
"""

from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.base import Category, Label, PersonMap, Picture
from engines.models import models_present
from engines.person.segmenter import MediaPipeSegmenter
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.full import drape_full
from engines.warp.drape.lower import drape_lower
from engines.warp.plate.lay import old_garment
from tests.engines.hanging_drawings import cut
from tests.engines.warp.plating import lay_plate

MODELS = Path(__file__).parents[3] / ".models"
HEIGHT = 640

LOWER_PAIRS = [
    ("model_8.png", "jeans.jpg", "legs"),
    ("049713_0.jpg", "skirt.jpg", "skirt"),
    ("man-shorts.jpg", "051946_1.jpg", "legs"),
    ("model_4.png", "denim-shorts.jpg", "legs"),
]
FULL_PAIRS = [
    ("model_8.png", "052234_1.jpg", 2),
    ("model_8.png", "053790_1.jpg", 0),
    ("0223.jpg", "053290_1.jpg", 2),
    ("model_1.png", "strap-dress.jpg", 0),
]


def picture_of(path: Path) -> Picture:
    with Image.open(path) as image:
        picture = np.asarray(image.convert("RGB"))
    scale = HEIGHT / picture.shape[0]
    return np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


@cache
def person_of(path: Path) -> tuple[NDArray[np.float32], PersonMap, BodyModel]:
    photo = picture_of(path)
    segmenter = MediaPipeSegmenter(MODELS)
    segmenter.setup()
    person_map = segmenter.segment(photo, lambda _step: None, lambda: False)
    working = photo.astype(np.float32) / 255.0
    return working, person_map, measure_body(person_map)


@pytest.fixture(scope="module")
def pictures(samples: Path) -> Path:
    if not models_present(MODELS):
        pytest.skip("the model files of the person segmenter were not fetched")
    return samples


def left_of_old(
    photo: NDArray[np.float32], plate: NDArray[np.float32], old: NDArray[np.bool_], alpha: NDArray[np.float32]
) -> float:
    """Share of the old garment, as far as it is open to view, that the plate still shows."""
    in_view = old & (alpha < 0.05)
    # Of a sliver along an arm some pixels are wall that the labels call cloth, and rightly stay as they are.
    if in_view.sum() < 100:
        return 0.0
    return float((np.abs(plate - photo).max(axis=2)[in_view] < 0.02).mean())


@pytest.mark.parametrize(("person", "garment", "shape"), LOWER_PAIRS)
def test_lower_garment_on_a_photo(pictures: Path, person: str, garment: str, shape: str) -> None:
    photo, person_map, body = person_of(pictures / "person" / person)
    drape = drape_lower(cut(picture_of(pictures / "lower" / garment), Category.LOWER_BODY), body)
    plate = lay_plate(photo, person_map, body, drape, Category.LOWER_BODY).picture
    assert drape.checks["legs"] == (shape == "legs")
    hips = body.point(np.linspace(1.12, 1.18, 5)).round().astype(int)
    assert drape.alpha[hips[:, 1], hips[:, 0]].min() > 0.9
    face = person_map.labels == Label.FACE
    assert drape.alpha[face].max(initial=0.0) < 0.01
    old = old_garment(person_map.labels, body, Category.LOWER_BODY)
    assert left_of_old(photo, plate, old, drape.alpha) < 0.12


@pytest.mark.parametrize(("person", "garment", "sleeves"), FULL_PAIRS)
def test_dress_on_a_photo(pictures: Path, person: str, garment: str, sleeves: int) -> None:
    photo, person_map, body = person_of(pictures / "person" / person)
    drape = drape_full(cut(picture_of(pictures / "full" / garment), Category.FULL_BODY), body)
    plate = lay_plate(photo, person_map, body, drape, Category.FULL_BODY).picture
    assert sum(piece.name.endswith("sleeve") for piece in drape.pieces) == sleeves
    waist = body.point(np.linspace(0.8, 1.0, 5)).round().astype(int)
    hands = np.isin(person_map.labels, (Label.HANDS, Label.ARMS))
    assert (drape.alpha[waist[:, 1], waist[:, 0]][~hands[waist[:, 1], waist[:, 0]]] > 0.9).all()
    old = old_garment(person_map.labels, body, Category.FULL_BODY)
    assert left_of_old(photo, plate, old, drape.alpha) < 0.10
