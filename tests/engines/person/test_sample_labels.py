"""Real photos: labels at points picked by looking at the pictures."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engines.base import Label
from tests.engines.person.conftest import Segment

POINTS: dict[str, list[tuple[Label, float, float]]] = {
    "00055_00.jpg": [
        (Label.HAIR, 0.68, 0.21),
        (Label.FACE, 0.54, 0.11),
        (Label.UPPER, 0.476, 0.467),
        (Label.UPPER, 0.227, 0.385),  # a dark sleeve on a light top
        (Label.LOWER, 0.51, 0.77),
        (Label.ARMS, 0.256, 0.63),
        (Label.HANDS, 0.275, 0.934),
    ],
    "long-sleeves-pink-wall.jpg": [
        (Label.HAIR, 0.64, 0.175),
        (Label.FACE, 0.64, 0.19),
        (Label.FACE, 0.617, 0.288),
        (Label.NECK, 0.568, 0.38),
        (Label.NECK, 0.636, 0.36),  # in the shadow of the jaw
        (Label.UPPER, 0.50, 0.65),
        (Label.UPPER, 0.27, 0.797),
        (Label.LOWER, 0.51, 0.956),
    ],
    "model_4.png": [
        (Label.HAIR, 0.48, 0.06),
        (Label.FACE, 0.48, 0.18),
        (Label.UPPER, 0.49, 0.42),
        (Label.TORSO_SKIN, 0.49, 0.565),
        (Label.LOWER, 0.47, 0.75),
        (Label.ARMS, 0.29, 0.39),
        (Label.ARMS, 0.73, 0.52),
    ],
    "model_8.png": [
        (Label.HAIR, 0.579, 0.137),
        (Label.FACE, 0.52, 0.118),
        (Label.UPPER, 0.50, 0.288),
        (Label.LOWER, 0.49, 0.52),
        (Label.LOWER, 0.527, 0.742),
        (Label.FEET, 0.52, 0.948),
        (Label.ARMS, 0.337, 0.357),
    ],
    "seated-outdoors.webp": [
        (Label.FACE, 0.61, 0.168),
        (Label.UPPER, 0.68, 0.40),
        (Label.LOWER, 0.535, 0.635),
        (Label.ARMS, 0.89, 0.43),
        (Label.ARMS, 0.36, 0.494),  # a tattoo
        (Label.ARMS, 0.347, 0.511),  # its darkest part
        (Label.FEET, 0.247, 0.868),
    ],
    "model_7.png": [
        (Label.NECK, 0.507, 0.218),  # dark skin in the shadow of the jaw
        (Label.HAIR, 0.51, 0.04),
        (Label.UPPER, 0.50, 0.45),
    ],
    "model_3.png": [
        (Label.HAIR, 0.50, 0.045),
        (Label.NECK, 0.50, 0.29),
    ],
    "man-shorts.jpg": [
        (Label.HAIR, 0.47, 0.06),
        (Label.FACE, 0.473, 0.118),
        (Label.UPPER, 0.51, 0.29),
        (Label.LOWER, 0.42, 0.55),
        (Label.LEGS, 0.46, 0.73),
        (Label.FEET, 0.46, 0.90),
        (Label.HANDS, 0.565, 0.469),
        (Label.LOWER, 0.591, 0.479),  # khaki in the shadow of the hand
        (Label.LOWER, 0.568, 0.415),  # and in that of the forearm
    ],
    "0223.jpg": [
        (Label.HANDS, 0.533, 0.395),
        (Label.LOWER, 0.417, 0.902),  # dark trousers below the ankle
        (Label.FEET, 0.35, 0.962),
        (Label.FEET, 0.54, 0.938),
    ],
}
"""Label, column and row as shares of the picture's width and height."""


MISTAKEN = {
    "seated-outdoors.webp": "a thigh in the light is taken for a bag",
    "man-shorts.jpg": "khaki in the shadow of a hand is taken for the hand",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(reason=MISTAKEN[name])) if name in MISTAKEN else name
        for name in POINTS
    ],
)
def test_labels_at_points(segment: Segment, samples: Path, name: str) -> None:
    with Image.open(samples / "person" / name) as image:
        labels = segment(np.asarray(image.convert("RGB"))).labels
    height, width = labels.shape

    wrong = {
        f"{expected.name} at {column}, {row}": Label(labels[int(row * height), int(column * width)]).name
        for expected, column, row in POINTS[name]
        if labels[int(row * height), int(column * width)] != expected
    }

    assert wrong == {}


@pytest.mark.parametrize("name", POINTS)
def test_corner_above_the_person_is_background(segment: Segment, samples: Path, name: str) -> None:
    with Image.open(samples / "person" / name) as image:
        found = segment(np.asarray(image.convert("RGB").resize((384, 512))))

    assert (found.labels[:30, :60] == Label.BACKGROUND).all()
    assert found.matte[:30, :60].max() < 10
