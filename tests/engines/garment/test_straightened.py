from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.base import Landmark
from engines.garment.straightened import Lean, lean_of, straightened
from engines.garment.symmetry import mirror_axis
from tests.engines.mannequin import Mannequin, draw_mannequin

JOINTS = [Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER, Landmark.LEFT_HIP, Landmark.RIGHT_HIP]


def with_joints(mannequin: Mannequin, column: int, values: list[float]) -> Mannequin:
    landmarks = mannequin.person_map.landmarks.copy()
    landmarks[JOINTS, column] = values
    return Mannequin(mannequin.photo, replace(mannequin.person_map, landmarks=landmarks))


def drawn(lean: Lean) -> NDArray[np.uint8]:
    """A top with a neck opening on somebody who leans, 0 and 1."""
    straight = np.zeros((400, 300), np.uint8)
    outline = [(110, 100), (135, 96), (150, 130), (165, 96), (190, 100), (240, 190), (215, 200), (195, 160), (195, 300)]
    both = [*outline, (105, 300), (105, 160), (85, 200), (60, 190)]
    cv2.fillPoly(straight, [np.array(both, np.int32)], 1)
    leaning = Lean(lean.pivot, lean.hip_row, -lean.shoulder_rise, -lean.hip_rise, -lean.drift)
    return leaning.undone(straight, cv2.INTER_NEAREST)


def symmetry_after(cloth: NDArray[np.uint8], lean: Lean | None) -> float:
    picture = np.repeat(cloth[..., None] * np.uint8(200), 3, axis=2)
    return mirror_axis(straightened(picture, cloth, cloth > 0, lean)[1] > 0)[1]


@pytest.mark.parametrize(("rise", "hips", "drift"), [(0.15, -0.1, 0.1), (-0.12, -0.12, -0.15), (0.0, 0.0, 0.2)])
def test_wearer_who_leans_is_stood_up(rise: float, hips: float, drift: float) -> None:
    lean = Lean((150.0, 110.0), 280.0, rise, hips, drift)
    cloth = drawn(lean)
    assert mirror_axis(cloth > 0)[1] < 0.85
    assert symmetry_after(cloth, lean) > 0.93


def test_joints_that_lie_are_not_believed() -> None:
    straight = drawn(Lean((150.0, 110.0), 280.0, 0.0, 0.0, 0.0))
    assert symmetry_after(straight, Lean((150.0, 110.0), 280.0, 0.2, 0.2, 0.2)) == mirror_axis(straight > 0)[1]


def test_joints_a_little_off_are_put_right_by_the_outline() -> None:
    cloth = drawn(Lean((150.0, 110.0), 280.0, 0.12, 0.12, 0.12))
    found = Lean((150.0, 110.0), 280.0, 0.03, 0.02, 0.0)
    by_joints_alone = found.part(1.0, found.drift).undone(cloth, cv2.INTER_NEAREST)
    assert symmetry_after(cloth, found) > mirror_axis(by_joints_alone > 0)[1] + 0.1


def test_lean_is_read_off_shoulders_and_hips() -> None:
    rows = draw_mannequin().person_map.landmarks[JOINTS, 1]
    width = np.ptp(draw_mannequin().person_map.landmarks[JOINTS[:2], 0])
    uneven = with_joints(draw_mannequin(), 1, [rows[0] + 0.1 * width, rows[1], rows[2], rows[3]])
    lean = lean_of(uneven.person_map)
    assert lean is not None
    assert abs(lean.shoulder_rise) == pytest.approx(0.1, abs=0.01)
    assert lean.hip_rise == pytest.approx(0.0, abs=0.01)


def test_nothing_is_said_of_who_stands_straight_or_is_not_all_seen() -> None:
    mannequin = draw_mannequin()
    assert lean_of(mannequin.person_map) is None
    rows = mannequin.person_map.landmarks[JOINTS, 1] + [30.0, 0.0, 0.0, 0.0]
    hidden = with_joints(with_joints(mannequin, 1, list(rows)), 3, [0.99, 0.99, 0.2, 0.99])
    assert lean_of(hidden.person_map) is None


def test_straight_picture_is_left_as_it_is() -> None:
    picture = np.zeros((40, 30, 3), np.uint8)
    labels = np.zeros((40, 30), np.uint8)
    same, labels_too = straightened(picture, labels, labels == 0, None)
    assert same is picture
    assert labels_too is labels
