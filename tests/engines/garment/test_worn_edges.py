"""What of a wearer tells how a garment is worn."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Landmark
from engines.garment.armpits import Frame
from engines.garment.bare_arms import arms_are_bare
from engines.garment.straightened import neck_aside
from engines.garment.worn_waist import lean_of_waist, legs_hang
from tests.engines.mannequin import draw_mannequin


@pytest.mark.parametrize(("sleeves", "bare"), [("none", True), ("short", False), ("long", False)])
def test_bare_arms_are_seen(sleeves: str, bare: bool) -> None:
    assert arms_are_bare(draw_mannequin(sleeves=sleeves).person_map) is bare


def test_arms_out_of_the_picture_are_not_bare() -> None:
    person_map = draw_mannequin(sleeves="none").person_map
    landmarks = person_map.landmarks.copy()
    landmarks[Landmark.LEFT_ELBOW, 0] = 10_000
    assert not arms_are_bare(replace(person_map, landmarks=landmarks))


@pytest.mark.parametrize("rise", [-0.15, 0.0, 0.1])
def test_slant_of_a_waist_is_read_off_its_edge(rise: float) -> None:
    rows, columns = np.indices((300, 300))
    skirt = (columns > 90) & (columns < 210) & (rows > 80 + rise * (columns - 150)) & (rows < 260)
    lean = lean_of_waist(skirt)
    assert lean.shoulder_rise == pytest.approx(rise, abs=0.02)
    level = lean.undone(skirt.astype(np.uint8), cv2.INTER_NEAREST) > 0
    assert np.ptp(level[:, 105:195].argmax(axis=0)) <= 3


def test_raised_thigh_does_not_hang() -> None:
    person_map = draw_mannequin().person_map
    assert legs_hang(person_map)
    landmarks = person_map.landmarks.copy()
    landmarks[Landmark.LEFT_KNEE, :2] = landmarks[Landmark.LEFT_HIP, :2] + (90, 30)
    assert not legs_hang(replace(person_map, landmarks=landmarks))


@pytest.mark.parametrize("aside", [0, 30])
def test_neck_beside_the_axis_is_measured(aside: int) -> None:
    mask = np.zeros((300, 300), np.uint8)
    mask[50:250, 50:250] = 1
    cv2.circle(mask, (150 + aside, 50), 40, 0, -1)
    assert neck_aside(mask > 0, 150.0, Frame(50, 200, 200.0)) == pytest.approx(aside / 200, abs=0.01)


def test_without_an_opening_no_neck_is_aside() -> None:
    mask = np.zeros((300, 300), dtype=bool)
    mask[50:250, 50:250] = True
    assert neck_aside(mask, 120.0, Frame(50, 200, 200.0)) == 0.0
