"""Photos from which nobody can be dressed."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from skimage import data

from engines.base import EngineError, PersonMap, Picture
from tests.engines.drawings import draw_garment
from tests.engines.person.conftest import Segment


def refusal(segment: Segment, photo: Picture) -> str:
    with pytest.raises(EngineError) as caught:
        segment(np.ascontiguousarray(photo))
    return caught.value.code


@pytest.mark.parametrize("grey", [0, 128, 255])
def test_blank_picture_has_no_person(segment: Segment, grey: int) -> None:
    assert refusal(segment, np.full((400, 300, 3), grey, np.uint8)) == "person_not_found"


def test_noise_has_no_person(segment: Segment) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (512, 512, 3), dtype=np.uint8)

    assert refusal(segment, noise) == "person_not_found"


@pytest.mark.parametrize("name", ["coffee", "chelsea", "rocket", "retina"])
def test_picture_of_something_else_has_no_person(segment: Segment, name: str) -> None:
    assert refusal(segment, getattr(data, name)()) == "person_not_found"


def test_garment_without_a_wearer_is_no_person(segment: Segment) -> None:
    assert refusal(segment, draw_garment().picture) == "person_not_found"


def test_two_people_are_several(segment: Segment, astronaut: Picture) -> None:
    assert refusal(segment, np.hstack([astronaut, astronaut])) == "several_people"


def test_small_figure_in_the_background_is_let_pass(segment: Segment, astronaut: Picture) -> None:
    beside = np.full((512, 400, 3), 200, np.uint8)
    beside[-160:, 100:260] = cv2.resize(astronaut, (160, 160), interpolation=cv2.INTER_AREA)

    found: PersonMap = segment(np.hstack([astronaut, beside]))

    assert found.landmarks[0, 0] < 512


def test_head_without_shoulders_is_no_usable_pose(segment: Segment, astronaut: Picture) -> None:
    assert refusal(segment, astronaut[60:200, 150:300]) == "pose_not_usable"


@pytest.mark.parametrize("name", ["full/052234_1.jpg", "upper/shirt-0012.jpg"])
def test_product_photo_has_no_person(segment: Segment, samples: Path, name: str) -> None:
    with Image.open(samples / name) as image:
        assert refusal(segment, np.asarray(image.convert("RGB"))) == "person_not_found"
